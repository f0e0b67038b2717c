"""`fabricd run`."""

from __future__ import annotations

from typing import Any

import click

from fabricd.core.plain import printable
from fabricd.daemon.cli.talk import Complaint, ReaderGone, env, out, say


@click.command("run")
@click.option("--report", is_flag=True, help="Print the first report once the window is read.")
@click.option("--foreground", is_flag=True, hidden=True, help="The default; kept for unit files.")
def command(report: bool, foreground: bool) -> int:
    """Run the daemon in the foreground until it is stopped.

    Exits 0 when stopped, and at once where a healthy daemon of this version already runs; 4 where
    a stale or silent one holds the home; 78 for a bad configuration or home; 1 otherwise.
    """
    from fabricd import __version__
    from fabricd.daemon import config as configuration
    from fabricd.daemon.start import BAD_CONFIG, FAILED, CannotStart, claim

    try:
        config = configuration.load(configuration.config_path(env()))
    except configuration.BadConfig as error:
        raise Complaint(str(error), BAD_CONFIG) from None
    try:
        claimed = claim(env(), __version__)
    except CannotStart as error:
        raise Complaint(str(error), error.code) from None
    from fabricd.daemon.logging import open_log
    from fabricd.daemon.supervisor import Running, serve

    try:
        log = open_log(config.log.level, configuration.log_file(config, env()))
    except BaseException as error:
        claimed.bound.unlink()
        claimed.held.close()
        if isinstance(error, OSError):
            raise Complaint(f"the log file cannot be opened: {error}", FAILED) from None
        raise

    async def ready(running: Running) -> None:
        files = running.tailer.files
        say(
            f"watching {printable(str(claimed.homes.sessions))}: {files.known} session files, "
            f"{files.window} in the window; socket {claimed.bound.path}"
        )
        if report:
            await _try_first_report(running)

    try:
        serve(claimed.homes, config, claimed.bound, __version__, log, ready, claimed.held)
    except Exception as error:
        # The log gets the whole story, the terminal one sentence.
        log.error("daemon_failed", error=repr(error), exc_info=True)
        raise Complaint(f"stopped by an internal error: {_innermost(error)}", FAILED) from None
    return 0


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
