"""How commands talk: data to stdout, talk to stderr, one clear sentence for bad input."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

USAGE = 2


class Complaint(Exception):
    """Ends a command with a sentence on stderr and an exit code."""

    def __init__(self, message: str, code: int = USAGE) -> None:
        super().__init__(message)
        self.code = code


def say(message: str) -> None:
    """Talk, on stderr."""
    sys.stderr.write(f"fabricd: {message}\n")
    sys.stderr.flush()


def out(text: str) -> None:
    """Data, on stdout. The text has a UTF-8 form, whatever the locale."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
    sys.stdout.buffer.flush()


def visible(text: str) -> str:
    """Untrusted text for a terminal: control characters and lone surrogates are spelled out."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape", "replace").decode()
        for char in text
    )


def no_such(path: Path, error: OSError) -> NoReturn:
    """Complain about a path that cannot be read."""
    from fabricd.store.durable import shown

    raise Complaint(f"{visible(shown(path))} cannot be read: {error.strerror or error}")


def env() -> Mapping[str, str]:
    """The environment commands see."""
    return os.environ
