"""How commands talk: data to stdout, talk to stderr, one clear sentence for bad input."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

FAILED = 1
USAGE = 2


class Complaint(Exception):
    """Ends a command with a sentence on stderr and an exit code."""

    def __init__(self, message: str, code: int = USAGE) -> None:
        super().__init__(message)
        self.code = code


class ReaderGone(Exception):
    """Ends a command in silence: whoever read its output has closed the pipe."""


def say(message: str) -> None:
    """Talk, on stderr: one line, whatever untrusted text it quotes."""
    with contextlib.suppress(OSError, AttributeError):
        sys.stderr.write(f"fabricd: {visible(message)}\n")
        sys.stderr.flush()


def out(data: str | bytes) -> None:
    """Data, on stdout, as UTF-8 whatever the locale.

    Raises:
        ReaderGone, Complaint: it could not be written.
    """
    raw = data.encode("utf-8", "backslashreplace") if isinstance(data, str) else data
    try:
        if sys.stdout is None:
            raise Complaint("standard output is closed", FAILED)
        sys.stdout.flush()
        sys.stdout.buffer.write(raw)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise ReaderGone from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise Complaint(f"standard output cannot be written: {reason}", FAILED) from None


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
