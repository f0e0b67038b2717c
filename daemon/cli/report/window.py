"""The section of a report that tells of the newest Pi sessions, from the daemon or the logs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from fabricd.daemon.cli.talk import Complaint, env, say
from fabricd.ipc.client import CallFailed, NoAnswer, NoDaemon, patient_call
from fabricd.store.addresses import SocketPathTooLong, socket_path

if TYPE_CHECKING:
    from fabricd.core.entropy.observations import Observed
    from fabricd.core.model import RepairRow, Surface
    from fabricd.store.homes import Homes

_SECONDS = 30.0


def window_value(project: str | None, window: int | None) -> dict[str, Any] | None:
    """The metric-3 report of the newest Pi sessions: the daemon's, else measured here.

    None where there are no Pi sessions at all.

    Raises:
        Complaint: the socket path is too long, or the sessions cannot be read.
    """
    value: dict[str, Any] | str = "for this choice of sessions no daemon is asked"
    if project is None and window is None:
        value = _from_daemon()
    return _from_files(value, project, window) if isinstance(value, str) else value


def _from_daemon() -> dict[str, Any] | str:
    """The daemon's report, or why there is none."""
    from fabricd.core.overview import is_overview

    try:
        reply = patient_call(socket_path(env()), "report", seconds=_SECONDS)
        result: dict[str, Any] = reply.result
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


def _from_files(because: str, project: str | None, window: int | None) -> dict[str, Any] | None:
    from fabricd.core.overview import Scope
    from fabricd.core.window import WINDOW, project_folder
    from fabricd.daemon.cli.inputs import measured
    from fabricd.daemon.offline.overview import overview
    from fabricd.store.durable import shown
    from fabricd.store.homes import find

    homes = find(env())
    folder = project_folder(os.path.abspath(project or "."))
    if not homes.sessions.is_dir():
        return None
    if project is not None and not (homes.sessions / folder).is_dir():
        return None
    surface = _surface(homes)
    say(f"{because}; measuring {shown(homes.sessions)} here")
    found = measured(
        homes.sessions,
        window or WINDOW,
        include_root=False,
        project=folder,
        alone=project is not None,
    )
    scope = Scope(len(found.sessions), folder if project is not None else None)
    # The pool knows every project's values: for some of the sessions only theirs are looked at.
    observed = _observed(homes) if project is None and window is None else None
    return overview(found, surface, _rows(homes, surface), observed, scope)


def _surface(homes: Homes) -> Surface | None:
    from fabricd.store import surfaces
    from fabricd.store.durable import Damaged, Loaded, Missing

    match surfaces.load(homes.surface):
        case Loaded(value=surface):
            return surface
        case Missing():
            return None
        case Damaged() as damage:
            say(f"the surface is damaged and left out: {damage.reason}")
            return None


def _rows(homes: Homes, surface: Surface | None) -> tuple[RepairRow, ...]:
    from fabricd.daemon.offline.measuring import repair_rows
    from fabricd.store.durable import Damaged, Loaded, Missing

    match repair_rows(homes, surface):
        case Loaded(value=rows):
            return rows
        case Missing():
            return ()
        case Damaged() as damage:
            say(f"the catalog repairs are damaged and left out: {damage.reason}")
            return ()


def _observed(homes: Homes) -> Iterable[Observed] | None:
    from fabricd.core.pool.file import observed
    from fabricd.store import pools
    from fabricd.store.durable import Damaged, Loaded, Missing

    match pools.load(homes.pool):
        case Loaded(value=pool):
            return observed(pool)
        case Missing():
            return None
        case Damaged() as damage:
            say(f"the observation pool is damaged and left out: {damage.reason}")
            return None
