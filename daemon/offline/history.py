"""The history of all agents, read and kept: what changed is read, the rest is in the checkpoint."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from fabricd.core.history.calls import CallTable, Losses
from fabricd.core.history.judging import Judge, Snapshot
from fabricd.core.history.summary import Wanted, by_agent, told
from fabricd.daemon.offline.summing import may_fork, sums_of
from fabricd.store import history
from fabricd.store.compressed import read_compressed
from fabricd.store.durable import Damaged, Loaded, Missing, shown
from fabricd.store.logs import NO_FILE, Form, Kept, NotALog, is_as_kept, read_log
from fabricd.store.sessions import Skipped
from fabricd.store.sources import LogFile, Stores

Progress = Callable[[int], None]

# Less is read sooner than a second process has started.
_WORTH_SHARING = 96 * 1024 * 1024
_BATCH = 8 * 1024 * 1024
_LEAST_BATCH = 1024 * 1024
MAX_PROCESSES = 4
_A_LOOK_SECONDS = 0.5
# The greatest that an allocator learns from.
_LEARNED = 31 * 1024 * 1024


@dataclass(frozen=True)
class Read:
    """Every log at hand, as far as it could be read. `is_new` says that the checkpoint is older."""

    logs: Mapping[bytes, Kept]
    skipped: tuple[Skipped, ...]
    is_new: bool


@dataclass(frozen=True)
class _Job:
    """A file to read, with what was kept of it."""

    path: bytes
    size: int
    known: Kept | None


def kept_at(path: Path, judge: Judge) -> tuple[Mapping[bytes, Kept], str | None]:
    """What the checkpoint keeps, and why it is of no use where it is damaged."""
    match history.load(path, judge.digest):
        case Loaded(value=logs):
            return logs, None
        case Missing():
            return {}, None
        case Damaged(reason=reason):
            return {}, reason


def pending(stores: Stores, kept: Mapping[bytes, Kept]) -> int:
    """How many bytes have to be read."""
    jobs = _jobs(stores.files, kept)
    return sum(job.size for job in jobs) + sum(file.stat.st_size for file in stores.databases)


def read(
    stores: Stores,
    kept: Mapping[bytes, Kept],
    snapshots: Sequence[Snapshot],
    judge: Judge,
    processes: int,
    progress: Progress | None = None,
) -> Read:
    """Read what changed since it was kept.

    Args:
        snapshots: those that `judge` judges by: another process builds a judge of its own.
        processes: how many may read, where there is enough to read.
    """
    _keep_freed()
    jobs = _jobs(stores.files, kept)
    waiting = {job.path for job in jobs}
    logs = {f.path: kept[f.path] for f in stores.files if f.path not in waiting}
    skipped = list(stores.skipped)
    if processes > 1 and sum(job.size for job in jobs) >= _WORTH_SHARING:
        found = _read_shared(jobs, snapshots, judge, processes, progress)
    else:
        found = ((job, _read_one(job, judge, progress)) for job in jobs)
    is_new = not kept.keys() <= _present(stores)
    for job, outcome in found:
        if isinstance(outcome, Kept):
            logs[job.path] = outcome
            is_new = is_new or outcome is not job.known
        else:
            skipped.append(Skipped(shown(job.path), outcome))
    is_new = _read_stores(stores, kept, judge, logs, skipped) or is_new
    return Read(logs, tuple(sorted(skipped, key=lambda skip: skip.path)), is_new)


def _keep_freed() -> None:
    """Have the allocator keep what is freed, instead of giving it back and asking for it anew.

    The C library learns from the greatest block that was freed, also if nobody had touched it. Else
    the pages of every piece that is read are faulted in again.
    """
    bytes(_LEARNED)


def _present(stores: Stores) -> set[bytes]:
    """The paths of everything that is there now."""
    present = {file.path for file in (*stores.files, *stores.databases)}
    return present | {os.fsencode(tree) for tree in stores.trees}


def _jobs(files: Iterable[LogFile], kept: Mapping[bytes, Kept]) -> list[_Job]:
    jobs: list[_Job] = []
    for file in files:
        known = kept.get(file.path)
        if known is None or not is_as_kept(known, file.stat):
            grown = file.stat.st_size - (0 if known is None else known.seen.size)
            jobs.append(_Job(file.path, grown if grown > 0 else file.stat.st_size, known))
    return jobs


def _read_one(job: _Job, judge: Judge, progress: Progress | None) -> Kept | str:
    """What a file says, or why it says nothing."""
    read_it = read_compressed if job.path.endswith(b".zst") else read_log
    try:
        return read_it(job.path, job.known, judge, progress)
    except NotALog as error:
        return str(error)
    except OSError as error:
        return error.strerror or str(error)
    except Exception as error:
        return _broken(error)


def _broken(error: Exception) -> str:
    # One log that this version cannot cope with must not hide all others.
    return f"fabricd failed on it ({type(error).__name__}): please report this"


def _read_stores(
    stores: Stores,
    kept: Mapping[bytes, Kept],
    judge: Judge,
    logs: dict[bytes, Kept],
    skipped: list[Skipped],
) -> bool:
    """Read OpenCode's own stores; gives whether anything in them is new."""
    is_new = False
    places = [(file.path, "database") for file in stores.databases]
    places += [(os.fsencode(tree), "tree") for tree in stores.trees]
    for path, form in places:
        known = kept.get(path)
        outcome = _read_store(path, form, known, judge)
        if isinstance(outcome, str):
            skipped.append(Skipped(shown(path), outcome))
            outcome = known
        if outcome is not None:
            logs[path] = outcome
        is_new = is_new or outcome is not known
    return is_new


def _read_store(path: bytes, form: str, known: Kept | None, judge: Judge) -> Kept | str | None:
    """What a store says, or why it says nothing new; what is kept of it stays as it is."""
    # Imported here: most people have no such store.
    from fabricd.core.sessions.opencode_parts import Same, Stored, Unread
    from fabricd.store.opencode_db import read_database
    from fabricd.store.opencode_tree import read_tree

    table, memory = (None, b"") if known is None else (known.table, known.memory)
    try:
        if form == "database":
            found = read_database(path, table, memory, judge)
        else:
            found = read_tree(path, table, memory, judge)
    except OSError as error:
        return error.strerror or str(error)
    except Exception as error:
        return _broken(error)
    match found:
        case Stored(table=new, memory=remembered):
            form_kept: Form = "database" if form == "database" else "tree"
            return Kept(form_kept, new, NO_FILE, memory=remembered)
        case Same():
            return known
        case Unread(reason=reason):
            return reason


_worker_judge: Judge | None = None
_KEPT = msgspec.msgpack.Decoder(Kept)


def _start_worker(snapshots: Sequence[Snapshot], parent: int) -> None:
    global _worker_judge
    # Ctrl-C reaches the whole group: the parent alone decides what becomes of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _keep_freed()
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    _worker_judge = Judge(snapshots)


def _end_with(parent: int) -> None:
    """End this worker once nobody waits for it any more."""
    while os.getppid() == parent:
        time.sleep(_A_LOOK_SECONDS)
    os._exit(1)


def _read_batch(jobs: Sequence[_Job]) -> list[bytes | str]:
    assert _worker_judge is not None
    found: list[bytes | str] = []
    for job in jobs:
        outcome = _read_one(job, _worker_judge, None)
        found.append(_encoded(outcome) if isinstance(outcome, Kept) else outcome)
    return found


def _encoded(kept: Kept) -> bytes | str:
    try:
        return msgspec.msgpack.encode(kept)
    except UnicodeEncodeError:
        return "its names have no UTF-8 form"


def _read_shared(
    jobs: Sequence[_Job],
    snapshots: Sequence[Snapshot],
    judge: Judge,
    processes: int,
    progress: Progress | None,
) -> Iterable[tuple[_Job, Kept | str]]:
    """Share the files among processes, in batches, the largest first.

    What a process was reading when it was killed is read here.
    """
    batches = _batches(sorted(jobs, key=lambda job: (-job.size, job.path)), processes)
    # A copy of this process starts at once.
    is_safe = may_fork()
    executor = ProcessPoolExecutor(
        min(processes, len(batches)),
        multiprocessing.get_context("fork" if is_safe else "spawn"),
        _start_worker,
        (snapshots, os.getpid()),
    )
    try:
        futures = [executor.submit(_read_batch, batch) for batch in batches]
        for batch, future in zip(batches, futures, strict=True):
            yield from zip(batch, _outcomes(batch, future, judge), strict=True)
            if progress is not None:
                progress(sum(job.size for job in batch))
    except BaseException:
        # In the middle of a long read nobody wants to wait for it.
        for worker in multiprocessing.active_children():
            worker.kill()
        raise
    finally:
        executor.shutdown(cancel_futures=True)


def _outcomes(
    batch: Sequence[_Job], future: Future[list[bytes | str]], judge: Judge
) -> Iterable[Kept | str]:
    try:
        found = future.result()
    except BrokenProcessPool:
        return [_read_one(job, judge, None) for job in batch]
    return [each if isinstance(each, str) else _KEPT.decode(each) for each in found]


def _batches(jobs: Sequence[_Job], processes: int) -> list[list[_Job]]:
    """The files in the order given; towards the end in less and less, so that all end at once."""
    batches: list[list[_Job]] = [[]]
    size, left = 0, sum(job.size for job in jobs)
    for job in jobs:
        enough = min(_BATCH, max(_LEAST_BATCH, left // (4 * processes)))
        if size and size + job.size > enough:
            batches.append([])
            size = 0
        batches[-1].append(job)
        size += job.size
        left -= job.size
    return batches


def losses_value(losses: Losses) -> dict[str, int]:
    """What was lost, for people's programs."""
    return {
        "badLines": losses.bad_lines,
        "gluedLines": losses.glued_lines,
        "cutTails": losses.cut_tails,
        "overlongLines": losses.overlong_lines,
    }


def tables_of(found: Read) -> list[CallTable]:
    """The tables of all logs, in path order."""
    return [found.logs[path].shown for path in sorted(found.logs)]


def agents_value(found: Read, wanted: Wanted, processes: int = 1) -> dict[str, Any]:
    """The members `agents`, `skipped` and `losses` of a report.

    Args:
        processes: how many may add up, where there is much.
    """
    tables, losses = by_agent(tables_of(found), wanted)
    sums = sums_of(tables, wanted, processes)
    return {
        "agents": told((sums[agent] for agent in tables), wanted),
        "skipped": [{"path": skip.path, "reason": skip.reason} for skip in found.skipped],
        "losses": losses_value(losses),
    }
