"""`fabricd report`."""

from __future__ import annotations

from typing import Any

import click

from fabricd.core.model import Surface
from fabricd.daemon.cli.talk import Complaint, env, out, say
from fabricd.daemon.offline import Measured
from fabricd.ipc.client import CallFailed, NoAnswer, NoDaemon, call
from fabricd.store.addresses import SocketPathTooLong, socket_path

_SECONDS = 30.0


@click.command("report")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(as_json: bool) -> int:
    """Show what the window's sessions say: rejections, worst actions, models, trend, coverage.

    Asks the daemon; without one the window is measured here, and said so.
    """
    value = _from_daemon()
    if isinstance(value, str):
        value = _from_files(value)
    if as_json:
        from fabricd.core.canonical import as_given, text

        out(text(value, as_given) + "\n")
        return 0
    from fabricd.daemon.cli.render import render_report

    out(render_report(value))
    return 0


def _from_daemon() -> dict[str, Any] | str:
    """The daemon's report, or why there is none."""
    from fabricd.core.overview import is_overview

    try:
        result: dict[str, Any] = call(socket_path(env()), "report", seconds=_SECONDS).result
    except NoDaemon:
        return "no daemon runs"
    except NoAnswer as error:
        return f"the daemon does not answer ({error})"
    except CallFailed as error:
        return f"the daemon could not report ({error})"
    except SocketPathTooLong as error:
        raise Complaint(str(error), 78) from None
    if not is_overview(result):
        return "the daemon's answer is not what this version expects"
    return result


def _from_files(because: str) -> dict[str, Any]:
    from fabricd.core.window import WINDOW
    from fabricd.daemon.cli.inputs import measured
    from fabricd.store import surfaces
    from fabricd.store.durable import Damaged, Loaded, Missing, shown
    from fabricd.store.homes import find

    homes = find(env())
    surface: Surface | None = None
    match surfaces.load(homes.surface):
        case Loaded(value=found):
            surface = found
        case Missing():
            surface = None
        case Damaged() as damage:
            say(f"the surface is damaged and left out: {damage.reason}")
    say(f"{because}; measuring {shown(homes.sessions)} here")
    if not homes.sessions.is_dir():
        raise Complaint(f"there are no session logs: {shown(homes.sessions)} does not exist", 1)
    return overview(measured(homes.sessions, WINDOW, include_root=False), surface)


def overview(found: Measured, surface: Surface | None) -> dict[str, Any]:
    """What `report --json` prints, from a measured directory."""
    from fabricd.core.compiling.compile import plans_steps
    from fabricd.core.entropy import meter
    from fabricd.core.overview import aside_of, corpus_steps, coverage_of, overview_value
    from fabricd.core.steps import finish
    from fabricd.daemon import offline

    catalog = offline.catalog_of(surface)
    report = meter.report(found.evidence, catalog)
    aside = aside_of(found.evidence)
    corpus = finish(corpus_steps(offline.newest_first(found), catalog))
    coverage = None
    if surface is not None:
        coverage = coverage_of(finish(plans_steps(surface)), report, aside)
    return overview_value(report, aside, corpus, coverage)
