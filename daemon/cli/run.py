"""`fabricd run`."""

from __future__ import annotations

import sys
from typing import Any

import click

from fabricd.core.plain import printable
from fabricd.daemon.cli.settings import flags_of, setting_options, settled
from fabricd.daemon.cli.talk import Complaint, ReaderGone, env, out, say


@click.command("run")
@click.option("--report", is_flag=True, help="Print the first report once the window is read.")
@click.option("--foreground", is_flag=True, hidden=True, help="The default; kept for unit files.")
@setting_options
def command(report: bool, foreground: bool, **options: Any) -> int:
    """Run the daemon in the foreground until it is stopped.

    Exits 0 when stopped, and at once where a healthy daemon of this version already runs; 4 where
    a stale or silent one holds the home; 75 where a service manager should start the package that
    replaced this one; 78 for a bad configuration or home; 1 otherwise.
    """
    from fabricd import __version__
    from fabricd.daemon import config as configuration
    from fabricd.daemon.start import FAILED, CannotStart, claim

    config = settled(flags_of(options)).config
    try:
        claimed = claim(env(), __version__)
    except CannotStart as error:
        raise Complaint(str(error), error.code) from None
    from fabricd.daemon.logging import open_log
    from fabricd.daemon.notify import manager
    from fabricd.daemon.supervisor import Running, serve

    path = configuration.log_file(config, env())
    if path is None and manager(env()) == "launchd":
        # It keeps standard error in a file that nobody ever cuts.
        path = claimed.homes.log
    try:
        log = open_log(config.log.level, path)
    except BaseException as error:
        claimed.bound.unlink()
        claimed.held.close()
        if isinstance(error, OSError):
            raise Complaint(f"the log file cannot be opened: {error}", FAILED) from None
        raise

    async def ready(running: Running) -> None:
        files = running.tailer.files
        # In the background, standard error is the log file, which knows this already.
        if path is None or (sys.stderr is not None and sys.stderr.isatty()):
            say(
                f"watching {printable(str(claimed.homes.sessions))}: {files.known} session files, "
                f"{files.window} in the window; socket {claimed.bound.path}"
            )
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
