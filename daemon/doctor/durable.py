"""The durable files, read as the daemon reads them."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from fabricd.core.compiling.artifact import Artifact
from fabricd.core.model import Surface
from fabricd.core.repairs import Table
from fabricd.daemon.doctor.checks import Check, aside, doubtful, fine, wrong
from fabricd.daemon.doctor.subject import Subject
from fabricd.store import artifacts, checkpoints, normal_forms, pools, repairs, surfaces
from fabricd.store.durable import Damaged, Load, Loaded, Missing, shown


def look(subject: Subject) -> Iterator[Check]:
    """One check a file. Reads all of each, and writes nothing.

    None below a place that is no directory: that is told of the place.
    """
    homes = subject.homes
    if _may_hold_files(homes.home):
        yield judge("compiled", homes.compiled, artifacts.load(homes.compiled))
        yield judge("normal-forms", homes.normal_forms, normal_forms.load(homes.normal_forms))
        yield judge("surface", homes.surface, surfaces.load(homes.surface))
        yield judge("pool", homes.pool, pools.load(homes.pool))
        yield judge("repairs", homes.repairs, repairs.load(homes.repairs))
        yield judge("learned", homes.repairs_learned, repairs.load_learned(homes.repairs_learned))
    if _may_hold_files(homes.state):
        yield judge_cache("pool-ledger", homes.pool_ledger, pools.load_ledger(homes.pool_ledger))
        yield judge_cache("checkpoints", homes.checkpoints, checkpoints.load(homes.checkpoints))


def _may_hold_files(place: Path) -> bool:
    """Whether it is a directory, or nothing that would have to be one is something else."""
    try:
        return stat.S_ISDIR(os.stat(place).st_mode)
    except NotADirectoryError:
        return False
    except OSError:
        return True


def judge(name: str, path: Path, load: Load[Any]) -> Check:
    """A file that counts: damaged, it is never overwritten, so somebody has to move it away."""
    return _judged(name, path, load, wrong)


def judge_cache(name: str, path: Path, load: Load[Any]) -> Check:
    """A file that the daemon makes anew by itself."""
    return _judged(name, path, load, doubtful)


def _judged(
    name: str, path: Path, load: Load[Any], damaged: Callable[[str, str, str], Check]
) -> Check:
    id = f"file-{name}"
    match load:
        case Loaded(value=value):
            return fine(id, f"{shown(path)} is sound{_contents(value)}")
        case Missing():
            return fine(id, f"{shown(path)} does not exist")
        case Damaged(reason=reason):
            return damaged(id, f"{shown(path)} is damaged: {reason}", aside(path))


def _contents(value: object) -> str:
    match value:
        case Artifact():
            return f": {len(value.plans)} plans"
        case Surface():
            return f": {len(value.actions)} actions"
        case Table():
            return f": {len(value.rows)} rows"
        case _:
            return ""
