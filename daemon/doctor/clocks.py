"""The wall clock against the stamps of files."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from fabricd.core.plain import is_object
from fabricd.daemon.doctor.checks import Check, command, doubtful, fine
from fabricd.daemon.doctor.subject import Subject
from fabricd.store.durable import shown
from fabricd.store.sessions import discover

_TOLERANCE = 60.0
_JUMPS = {"ahead": "slept or set ahead", "back": "set back", "stopped": "kept from running"}


class Stamp(Struct, frozen=True):
    """When a file was last changed, in seconds since the epoch."""

    path: str
    changed: float


def look(subject: Subject) -> Iterator[Check]:
    """Durable files and session logs; and what the daemon has noticed of the clock."""
    now = time.time()
    homes = subject.homes
    kept = (homes.compiled, homes.normal_forms, homes.surface, homes.pool, homes.checkpoints)
    logs = (Stamp(shown(file.path), file.mtime_ns / 1e9) for file in discover(homes.sessions).files)
    yield judge([*stamps(kept), *logs], now)
    jumps = subject.counters.get("clockJumps")
    if is_object(jumps):
        yield judge_jumps(jumps)


def stamps(paths: Iterable[Path]) -> Iterator[Stamp]:
    """Of those that are there."""
    for path in paths:
        try:
            yield Stamp(shown(path), os.stat(path).st_mtime)
        except OSError:
            continue


def judge(found: Iterable[Stamp], now: float) -> Check:
    """Whether anything was changed in the future: the newest sessions are told by their stamps."""
    ahead = sorted(
        (stamp for stamp in found if stamp.changed > now + _TOLERANCE),
        key=lambda stamp: (-stamp.changed, stamp.path),
    )
    if not ahead:
        return fine("clock", "no file is from the future")
    first = ahead[0]
    more = f" and {len(ahead) - 1} more" if len(ahead) > 1 else ""
    text = f"{first.path}{more} is {first.changed - now:.0f} s ahead of the clock"
    cure = f"set the clock (timedatectl set-ntp true), or: {command('touch', first.path)}"
    return doubtful("clock", text, cure)


def judge_jumps(jumps: Mapping[str, object]) -> Check:
    """Whether somebody set the clock back under the daemon; that a machine sleeps is no fault."""
    told = ", ".join(f"{_JUMPS.get(kind, kind)} {count}" for kind, count in sorted(jumps.items()))
    if not told:
        return fine("clock-jumps", "the daemon has noticed none")
    text = f"times since the daemon started: {told}"
    if "back" in jumps:
        return doubtful("clock-jumps", text, "timedatectl set-ntp true")
    return fine("clock-jumps", text)
