"""The part of a report that tells of all agents' histories: read, kept, and put together."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fabricd.core.history.judging import Judge, Snapshot
from fabricd.core.history.summary import Wanted
from fabricd.daemon.cli.inputs import progress, without_collections
from fabricd.daemon.cli.talk import Complaint, env, say
from fabricd.daemon.offline.history import MAX_PROCESSES, Read, agents_value, kept_at, pending, read
from fabricd.store import history
from fabricd.store.durable import shown
from fabricd.store.homes import Homes, find
from fabricd.store.locks import AlreadyHeld, hold
from fabricd.store.logs import Kept
from fabricd.store.sources import Stores, list_stores, named, places


def history_value(wanted: Wanted, paths: Sequence[Path], processes: int | None) -> dict[str, Any]:
    """The members `agents`, `skipped` and `losses` of a report.

    Raises:
        Complaint: a folder that was named cannot be read.
    """
    homes = find(env())
    snapshots = _snapshots(homes)
    judge = Judge(snapshots)
    for path in paths:
        if not os.path.exists(path):
            raise Complaint(f"{shown(path)} does not exist")
    stores = list_stores(named(paths) if paths else places(env()))
    count = processes or min(MAX_PROCESSES, os.cpu_count() or 1)
    with without_collections():
        if paths:
            # Folders that were named once are not worth keeping.
            found = _read(stores, {}, snapshots, judge, count)
        else:
            found = _read_and_keep(homes, stores, snapshots, judge, count)
        return agents_value(found, wanted, count)


def _snapshots(homes: Homes) -> list[Snapshot]:
    """The schemas that agents publish, and those that were added."""
    from msgspec import MsgspecError

    from fabricd.store.shipped import shipped
    from fabricd.store.snapshots import snapshots

    added, damaged = snapshots(homes)
    for damage in damaged:
        say(f"{shown(damage.path)} is damaged and left out: {damage.reason}")
    try:
        return [*shipped(), *added]
    except (OSError, MsgspecError) as error:
        say(f"the schemas that ship with fabricd cannot be read ({error}): install it again")
        return added


def _read_and_keep(
    homes: Homes, stores: Stores, snapshots: Sequence[Snapshot], judge: Judge, processes: int
) -> Read:
    path = homes.history
    with _writing(homes) as may_write:
        kept, damage = kept_at(path, judge)
        if damage is not None:
            say(f"{shown(path)} is damaged ({damage}): all logs are read again")
        found = _read(stores, kept, snapshots, judge, processes)
        if may_write and (found.is_new or damage is not None):
            _save(path, judge, found.logs)
    return found


@contextmanager
def _writing(homes: Homes) -> Generator[bool, None, None]:
    """Whether this process may write the checkpoint: one at a time does."""
    try:
        held = hold(homes.history_lock, seconds=0.5)
    except AlreadyHeld:
        say("another report reads the logs just now: what is read here is not kept")
        yield False
        return
    except OSError as error:
        say(f"{shown(homes.state)} cannot be written ({error.strerror}): nothing is kept")
        yield False
        return
    try:
        yield True
    finally:
        held.close()


def _save(path: Path, judge: Judge, logs: Mapping[bytes, Kept]) -> None:
    try:
        if not history.save(path, judge.digest, logs):
            say(f"too much history to be kept in {shown(path)}: it is read anew each time")
    except OSError as error:
        say(f"{shown(path)} cannot be written ({error.strerror or error}): nothing is kept")


def _read(
    stores: Stores,
    kept: Mapping[bytes, Kept],
    snapshots: Sequence[Snapshot],
    judge: Judge,
    processes: int,
) -> Read:
    with progress(pending(stores, kept)) as advance:
        return read(stores, kept, snapshots, judge, processes, advance)
