"""`fabricd run`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from fabricd.core.plain import counted, printable
from fabricd.daemon.cli.settings import (
    Flags,
    configured_log,
    flags_of,
    setting_options,
    settled,
)
from fabricd.daemon.cli.talk import Complaint, ReaderGone, env, out, say

if TYPE_CHECKING:
    from fabricd.daemon.tailing.tailer import Files


# launchd knows no codes after which a start is useless: it would start it every 10 s for ever.
_USELESS = (4, 78)


@click.command("run")
@click.option("--report", is_flag=True, help="Print the first report once the window is read.")
@click.option("--foreground", is_flag=True, hidden=True, help="The default; kept for unit files.")
@setting_options
def command(report: bool, foreground: bool, **options: Any) -> int:
    """Run the daemon in the foreground until it is stopped.

    Exits 0 when stopped, and at once where a healthy daemon of this version already runs; 4 where
    a stale or silent one holds the home; 75 where a service manager should start the package that
    replaced this one; 78 for a bad configuration or home; 1 otherwise. Where launchd runs it, 0
    also instead of 4 and 78.
    """
    from fabricd.daemon.liveness.notify import manager

    try:
        return _run(report, flags_of(options))
    except Complaint as error:
        if error.code not in _USELESS or manager(env()) != "launchd":
            raise
        say(str(error))
        return 0


def _run(report: bool, flags: Flags) -> int:
    from fabricd import __version__
    from fabricd.daemon.exits import FAILED, CannotStart
    from fabricd.daemon.service.start import claim

    config = settled(flags).config
    path = configured_log(config)
    try:
        claimed = claim(env(), __version__)
    except CannotStart as error:
        raise Complaint(str(error), error.code) from None
    from fabricd.daemon.liveness.notify import manager
    from fabricd.daemon.supervisor import Running, serve
    from fabricd.daemon.telemetry.logging import open_log
    from fabricd.daemon.telemetry.rotating import not_opened

    if path is None and manager(env()) == "launchd":
        # It keeps standard error in a file that nobody ever cuts.
        path = claimed.homes.log
    try:
        log = open_log(config.log.level, path)
    except BaseException as error:
        claimed.bound.unlink()
        claimed.bound.raw.close()
        claimed.held.close()
        if isinstance(error, OSError) and path is not None:
            refusal = not_opened(path, error)
            raise Complaint(str(refusal), refusal.code) from None
        raise

    async def ready(running: Running) -> None:
        files = running.tailer.files
        # In the background, standard error is the log file, which knows this already.
        if path is None or (sys.stderr is not None and sys.stderr.isatty()):
            where = printable(str(claimed.homes.sessions))
            say(f"watching {where}: {files_words(files)}; socket {claimed.bound.path}")
        if report:
            await _try_first_report(running)

    try:
        return serve(
            claimed.homes, config, claimed.bound, __version__, log.events, ready, claimed.held
        )
    except Exception as error:
        # The log gets the whole story, the terminal one sentence.
        log.events.error("daemon_failed", error=repr(error), exc_info=True)
        raise Complaint(f"stopped by an internal error: {_innermost(error)}", FAILED) from None
    finally:
        log.close()


def files_words(files: Files) -> str:
    """How many session files there are."""
    known = counted(files.known, "session file", "session files")
    return f"{known}, {files.window:,} in the window"


def _innermost(error: BaseException) -> str:
    inner: object = error
    while nested := getattr(inner, "exceptions", ()):
        inner = nested[0]
    return f"{type(inner).__name__}: {inner}"


async def _try_first_report(running: Any) -> None:
    try:
        await _first_report(running)
    except (Complaint, ReaderGone) as error:
        # Whoever wanted to read it has gone; the daemon has other work.
        say(f"the first report could not be printed: {error}")


async def _first_report(running: Any) -> None:
    import json

    from fabricd.daemon.cli.render import render_report
    from fabricd.ipc.protocol import NoParams

    value = json.loads(await running.answers.report(NoParams()))
    out(render_report(value, to_terminal=False))
