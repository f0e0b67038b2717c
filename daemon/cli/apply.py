"""`fabricd apply`: JSON lines in, JSON lines out."""

from __future__ import annotations

import json
import os
import select
import stat
import sys
from collections.abc import Iterator
from typing import IO

import click

from fabricd.core.plain import printable
from fabricd.daemon.cli.completing import files
from fabricd.daemon.cli.talk import Complaint, out

_PIPE_SECONDS = 3.0
_MAX_LINE = 32 * 1024 * 1024


@click.command("apply")
@click.argument("file", default="-", shell_complete=files)
@click.option(
    "--conventions",
    type=click.Choice(["classic", "extended"]),
    default="classic",
    show_default=True,
    help="Which conventions to derive by, where a line brings no plan.",
)
def command(file: str, conventions: str) -> int:
    """Repair calls given as JSON lines, from FILE or standard input.

    Reads lines `{"ref", "schema", "args", "plan"?}`, or `tool` for `ref`, and prints `{"args",
    "witness"}` for each. The witness is null where nothing was changed; whatever is not repaired
    keeps its characters. A bad line gives `{"error"}` in its place, and the exit code is then 1. A
    plan given decides by its version.
    """
    from fabricd.daemon.cli.calls import Calls

    calls = Calls(is_extended=conventions == "extended")
    failed = False
    with _opened(file) as lines:
        for number, line in _lines(lines):
            try:
                result = calls.repaired(line)
            except ValueError as error:
                failed = True
                message = {"error": f"line {number}: {printable(str(error))[:500]}"}
                result = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
            out(result + b"\n")
    return 1 if failed else 0


def _opened(name: str) -> IO[bytes]:
    try:
        if name == "-":
            return sys.stdin.buffer
        # Opened without waiting: a pipe that nobody writes to must not hold us up for ever.
        descriptor = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        is_pipe = stat.S_ISFIFO(os.fstat(descriptor).st_mode)
        if is_pipe and not select.select([descriptor], [], [], _PIPE_SECONDS)[0]:
            os.close(descriptor)
            raise Complaint(f"{name}: nothing was written to this pipe for {_PIPE_SECONDS:g} s")
        os.set_blocking(descriptor, True)
        return os.fdopen(descriptor, "rb")
    except AttributeError:
        raise Complaint("standard input is closed") from None
    except OSError as error:
        raise Complaint(f"{name} cannot be read: {error.strerror}") from None


def _lines(file: IO[bytes]) -> Iterator[tuple[int, bytes | None]]:
    """Lines with their numbers, without the blank ones; None for one that is too long."""
    number = 0
    try:
        while line := file.readline(_MAX_LINE + 1):
            number += 1
            if len(line) > _MAX_LINE and not line.endswith(b"\n"):
                while (rest := file.readline(_MAX_LINE)) and not rest.endswith(b"\n"):
                    pass
                yield number, None
            elif line.strip():
                yield number, line
    except OSError as error:
        raise Complaint(f"the input cannot be read: {error.strerror}") from None
