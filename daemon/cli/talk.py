"""How commands talk: data to stdout, talk to stderr, one clear sentence for bad input."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Mapping

from fabricd.core.plain import printable

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
        sys.stderr.write(f"fabricd: {printable(message)}\n")
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
        _abandon_stdout()
        raise ReaderGone from None
    except (OSError, ValueError) as error:
        _abandon_stdout()
        reason = getattr(error, "strerror", None) or str(error)
        raise Complaint(f"standard output cannot be written: {reason}", FAILED) from None


def _abandon_stdout() -> None:
    """What is left is flushed at exit, which would fail once more, with a code of its own."""
    if sys.stdout is sys.__stdout__:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def ended(command: Callable[[], int]) -> int:
    """Run a command and turn the ways in which it may end early into an exit code."""
    try:
        return command()
    except Complaint as complaint:
        say(str(complaint))
        return complaint.code
    except ReaderGone:
        return 0
    except KeyboardInterrupt:
        return 130


def env() -> Mapping[str, str]:
    """The environment commands see."""
    return os.environ
