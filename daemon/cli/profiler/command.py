"""`agent-trajectory-profiler`: the command line of the opsle protocols, word for word.

The first argument is the command. Three flags are taken anywhere behind it, every other word is a
file. There is one line of canonical JSON on stdout and one line for a person on stderr.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from fabricd.core.identity import canonical_line
from fabricd.core.javascript import join_surrogates
from fabricd.core.plain import printable
from fabricd.daemon.cli.trajectory.work import (
    MAX_BYTES,
    compared,
    file_at,
    folder_report,
    profiled,
    validated,
)

QUIET, CUMULATIVE = "--quiet", "--cumulative"
_FLAGS = frozenset({QUIET, CUMULATIVE, "--summary"})
_HALF = re.compile("[\ud800-\udfff]")
_FAILURES = (ValueError, OSError, RecursionError, MemoryError)

Read = Callable[[str], bytes]


class Answer(NamedTuple):
    """What a command line comes to."""

    code: int
    out: Iterable[bytes]
    err: bytes


class _Given(NamedTuple):
    """The words behind the command."""

    files: list[str]
    flags: set[str]
    read: Read


class BadInvocation(ValueError):
    """Raised by commands: the words cannot be a command line."""


def as_told(line: str) -> bytes:
    """A line for a person as it is written, half characters replaced."""
    return _HALF.sub("\ufffd", join_surrogates(line)).encode()


def _told(code: int, out: bytes, line: str) -> Answer:
    # A document can be answered and refused at once.
    err = _refusal("a document that is null has no run") if code == 2 else as_told(line)
    return Answer(code, (out,), err)


def _refusal(message: str) -> bytes:
    return canonical_line({"code": "INVALID_INVOCATION", "message": printable(message)})


def _one(given: _Given) -> bytes:
    if len(given.files) != 1:
        raise BadInvocation("exactly one file is needed")
    return given.read(given.files[0])


def _profile(given: _Given) -> Answer:
    done = profiled(_one(given))
    return Answer(done.code, done.pieces(), as_told(done.line))


def _validate(given: _Given) -> Answer:
    done = validated(_one(given))
    return Answer(done.code, (canonical_line(done.value()),), as_told(done.line))


def _compare(given: _Given) -> Answer:
    if len(given.files) < 2:
        raise BadInvocation("at least two files are needed")
    done = compared(map(given.read, given.files))
    return Answer(done.code, done.pieces(), as_told(done.line))


def _conformance(given: _Given) -> Answer:
    if len(given.files) > 1:
        raise BadInvocation("at most one directory is checked")
    report, line = folder_report(given.files[0] if given.files else None)
    return Answer(int(report["conformance"] != "PASS"), (canonical_line(report),), as_told(line))


def _validate_record(given: _Given) -> Answer:
    from fabricd.daemon.cli.profiler.value import validate_record

    return _told(*validate_record(_one(given), QUIET in given.flags))


def _value_summary(given: _Given) -> Answer:
    from fabricd.daemon.cli.profiler.value import value_summary

    if not given.files:
        raise BadInvocation("at least one file is needed")
    documents = [given.read(name) for name in given.files]
    return _told(*value_summary(documents, CUMULATIVE in given.flags))


_COMMANDS: Mapping[str, Callable[[_Given], Answer]] = {
    "profile": _profile,
    "validate": _validate,
    "compare": _compare,
    "validate-record": _validate_record,
    "value-summary": _value_summary,
    "conformance": _conformance,
}


def answer(arguments: Sequence[str], read: Read) -> Answer:
    """What the program says to a command line.

    Args:
        read: gives the bytes of a named file, or raises Unreadable.
    """
    command = _COMMANDS.get(arguments[0]) if arguments else None
    words = arguments[1:]
    flags = _FLAGS.intersection(words)
    try:
        if command is None:
            raise BadInvocation(f"a command is needed: {', '.join(_COMMANDS)}")
        files = [word for word in words if word not in _FLAGS]
        found = command(_Given(files, set(flags), read))
    except _FAILURES as error:
        return Answer(2, (), _refusal(str(error)))
    return found._replace(err=b"") if QUIET in flags else found


def read_file(name: str) -> bytes:
    """The bytes of a named file.

    Raises:
        Unreadable: it is missing, no file, or larger than 256 MiB.
    """
    return file_at(Path(name), MAX_BYTES)


def _written(pieces: Iterable[bytes]) -> bytes:
    """Write pieces to stdout as they are made; gives a refusal if one of them cannot be."""
    from fabricd.daemon.cli.talk import out

    left = iter(pieces)
    while True:
        try:
            piece = next(left, None)
        except _FAILURES as error:
            return _refusal(str(error))
        if piece is None:
            return b""
        out(piece)


def main() -> int:
    """Run the command line of this process; gives the exit code."""
    from fabricd.daemon.cli.inputs import without_collections
    from fabricd.daemon.cli.talk import ended

    def command() -> int:
        with without_collections():
            found = answer(sys.argv[1:], read_file)
            refusal = _written(found.out)
        if refusal:
            found = Answer(2, (), refusal)
        if found.err and sys.stderr is not None:
            sys.stderr.flush()
            sys.stderr.buffer.write(found.err)
            sys.stderr.buffer.flush()
        return found.code

    return ended(command)


if __name__ == "__main__":
    raise SystemExit(main())
