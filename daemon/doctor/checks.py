"""What a check can say."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

from fabricd.store.durable import shown

# `unknown`: the check could not be made.
State: TypeAlias = Literal["ok", "warning", "wrong", "unknown"]


class Check(Struct, frozen=True):
    """One thing that was looked at. `cure` is a command or a step, None where none is needed."""

    id: str
    state: State
    found: str
    cure: str | None = None


def fine(id: str, found: str) -> Check:
    """As it should be."""
    return Check(id, "ok", found)


def doubtful(id: str, found: str, cure: str) -> Check:
    """It works, or may; something is better changed."""
    return Check(id, "warning", found, cure)


def wrong(id: str, found: str, cure: str) -> Check:
    """It does not work."""
    return Check(id, "wrong", found, cure)


def unknown(id: str, why: str) -> Check:
    """It could not be looked at."""
    return Check(id, "unknown", f"could not be checked: {why}")


def command(*words: str | Path) -> str:
    """A command line that can be pasted into a shell."""
    return shlex.join(shown(word) for word in words)


def aside(path: Path) -> str:
    """The command that moves a file out of the way."""
    return command("mv", path, path.with_name(f"{path.name}.damaged"))


def nearest(path: Path) -> Path:
    """The path itself, or the nearest folder above it that exists."""
    for found in (path, *path.parents):
        if os.path.lexists(found):
            return found
    return Path("/")


def size(count: float) -> str:
    """A number of bytes for people."""
    for unit, step in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= step:
            return f"{count / step:.1f} {unit}"
    return f"{count:.0f} bytes"
