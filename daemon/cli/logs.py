"""`fabricd logs`."""

from __future__ import annotations

import json
import os
import select
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from fabricd.core.plain import is_object, printable
from fabricd.daemon.cli.talk import FAILED, Complaint, ReaderGone, env, out, say
from fabricd.store.durable import shown

_POLL = 0.2

Show = Callable[[bytes], str]


@click.command("logs")
@click.option("-f", "--follow", is_flag=True, help="Go on with what is logged from now on.")
@click.option(
    "-n",
    "--lines",
    type=click.IntRange(min=0),
    default=50,
    show_default=True,
    metavar="N",
    help="How many of the last lines.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the lines as JSON.")
def command(follow: bool, lines: int, as_json: bool) -> int:
    """Show what the daemon has logged, in its file or, where systemd runs it, in the journal.

    A line that is no event (words of the interpreter, say) becomes {"text": …} with --json. Exits
    1 where there is no log.
    """
    show = _as_json if as_json else _for_people()
    try:
        place = _place()
        if place is None:
            return _journal(follow, lines, show)
        return _file(place, follow, lines, show)
    except KeyboardInterrupt:
        # Whoever follows a log has no other way to end it.
        if follow:
            return 0
        raise


def _place() -> Path | None:
    """The log file; None where the log is in the journal."""
    from fabricd.daemon.service.installing import installed
    from fabricd.store.homes import find

    path = _configured()
    if path is not None:
        return path
    default = find(env()).log
    service = installed(env())
    if service is None or service.system.name != "systemd":
        return default
    # A file may be left from a daemon that was started by hand, before or instead.
    active = service.system.condition().active in ("active", "activating")
    return None if active or not default.exists() else default


def _configured() -> Path | None:
    from fabricd.daemon.cli.settings import configured_log, settled

    try:
        return configured_log(settled({}).config)
    except Complaint as error:
        # Whoever has a bad configuration has all the more reason to look.
        say(str(error))
        return None


def _file(path: Path, follow: bool, count: int, show: Show) -> int:
    from fabricd.daemon.telemetry.logfile import LogReader, NoLog

    try:
        reader = LogReader(path)
    except NoLog as error:
        raise Complaint(
            f"there is no log at {shown(path)}: {error}; fabricd start writes one, a daemon in "
            "the foreground logs to its terminal",
            FAILED,
        ) from None
    try:
        _print(reader.last(count), show)
        if not follow and count and reader.begun():
            _print([reader.begun()], show)
        while follow:
            _print(reader.more(), show)
            _require_reader()
            time.sleep(_POLL)
    finally:
        reader.close()
    return 0


def _journal(follow: bool, count: int, show: Show) -> int:
    import subprocess

    from fabricd.systemd import UNIT

    words = ["journalctl", "--user", "-u", UNIT, "-o", "cat", "--no-pager", "-n", str(count)]
    try:
        journal = subprocess.Popen(
            [*words, "-f"] if follow else words,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
        )
    except OSError as error:
        raise Complaint(f"the journal cannot be read: {error.strerror}", FAILED) from None
    printed = False
    with journal:
        assert journal.stdout is not None and journal.stderr is not None
        try:
            for line in _lines(journal.stdout.fileno()):
                printed = True
                _print([line], show)
            said = journal.stderr.read().decode("utf-8", "backslashreplace").strip()
        finally:
            journal.terminate()
    if journal.returncode or (said and not printed):
        reason = said.splitlines()[-1] if said else f"code {journal.returncode}"
        raise Complaint(f"the journal cannot be read: {reason}", FAILED)
    return 0


def _lines(pipe: int) -> Iterator[bytes]:
    """The lines that come out of a pipe; looks in between whether anybody wants them."""
    begun = b""
    while True:
        if not select.select([pipe], [], [], _POLL)[0]:
            _require_reader()
            continue
        data = os.read(pipe, 1 << 16)
        if not data:
            break
        *whole, begun = (begun + data).split(b"\n")
        yield from whole
    if begun:
        yield begun


def _print(lines: list[bytes], show: Show) -> None:
    if lines:
        out("".join(show(line) + "\n" for line in lines))


def _require_reader() -> None:
    """Nobody may log for hours: look whether somebody still reads what would be printed."""
    try:
        poll = select.poll()
        poll.register(sys.stdout.fileno(), 0)
        if any(found & (select.POLLERR | select.POLLHUP) for _, found in poll.poll(0)):
            raise ReaderGone
    except (OSError, ValueError, AttributeError):
        # Standard output that is no descriptor tells when it is written to.
        return


def _event(line: bytes) -> dict[str, object] | None:
    from fabricd.core.documents import BadDocument, strict_json

    try:
        value = strict_json(line)
    except BadDocument:
        return None
    return value if is_object(value) else None


def _as_json(line: bytes) -> str:
    text = line.decode("utf-8", "backslashreplace")
    return json.dumps({"text": text}) if _event(line) is None else text


def _for_people() -> Show:
    from fabricd.daemon.telemetry.logging import for_people, line_for_people

    render = for_people(colours=sys.stdout is not None and sys.stdout.isatty())

    def show(line: bytes) -> str:
        event = _event(line)
        if event is None:
            return printable(line.decode("utf-8", "backslashreplace"))
        return line_for_people(event, render)

    return show
