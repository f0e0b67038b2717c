"""Kill a writer of pool, books, cursors and artifact in the middle of its saves, again and again.

`python -m tests.kill_saves KILLS`. After each kill every file is whole; in the end the pool holds
what one plain look at the sessions gives, and no temporary file is left.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import NoReturn

import anyio

from fabricd.daemon.tailing.checkpointer import Checkpointer
from fabricd.store import artifacts, checkpoints, pools
from fabricd.store.atomic import remove_leftovers
from fabricd.store.durable import Damaged, Loaded
from fabricd.store.homes import Homes
from tests.core.making import line, operation, record, trace
from tests.daemon.bench import Bench
from tests.daemon.pooling import clean, counted, header
from tests.harness import SURFACE

SESSIONS = 6
_LONGEST = 200
_OFTEN = 0.3


class Grower:
    """Sessions that grow by whole records, fork, and are sometimes begun anew."""

    def __init__(self, folder: Path, rng: random.Random) -> None:
        self._folder = folder
        self._rng = rng
        for number in range(SESSIONS):
            # Whoever was killed in the middle of a record has not written it.
            path = self._path(number)
            if path.exists():
                data = path.read_bytes()
                os.truncate(path, data.rfind(b"\n") + 1)

    def _path(self, number: int) -> Path:
        return self._folder / f"2026_s-{number}.jsonl"

    def step(self) -> None:
        """One more record somewhere, or a session begun anew with some of what it said."""
        number = self._rng.randrange(SESSIONS)
        path = self._path(number)
        if not path.exists():
            self._begin(number)
        elif self._rng.random() < 0.03 or path.stat().st_size > _LONGEST * 600:
            lines = path.read_bytes().splitlines(keepends=True)
            self._replace(path, lines[: self._rng.randrange(1, len(lines) + 1)][: _LONGEST // 4])
        else:
            with path.open("ab", buffering=0) as file:
                file.write(self._record())

    def _begin(self, number: int) -> None:
        origin = self._path(number - 1)
        if number % 2 and origin.exists():
            lines = origin.read_bytes().splitlines(keepends=True)
            self._replace(self._path(number), [header(f"s-{number}", str(origin)), *lines[1:]])
        else:
            self._replace(self._path(number), [header(f"s-{number}")])

    def _replace(self, path: Path, lines: list[bytes]) -> None:
        other = path.with_suffix(".new")
        other.write_bytes(b"".join(lines))
        os.replace(other, path)

    def _record(self) -> bytes:
        outcome = self._rng.choice(["succeeded", "failed"])
        more = {"failureStage": "validate"} if outcome == "failed" else {}
        call = operation(0, "mcp.demo.search", outcome=outcome, **more)
        args = {"query": f"v{self._rng.randrange(13)}", "maxResults": self._rng.randrange(1, 8)}
        audits = [{"ref": "mcp.demo.search", "args": args}] * self._rng.randrange(1, 3)
        return line(record(trace(call), audits, id=f"{self._rng.getrandbits(32):08x}")) + b"\n"


def _homes(folder: Path) -> Homes:
    return Homes(folder / "home", folder / "state", folder / "agent", is_pi_home=False)


def write(folder: Path, seed: int) -> NoReturn:
    """Save without end. Starts as a daemon does."""

    async def main() -> None:
        homes = _homes(folder)
        for directory in (homes.entropy, homes.state):
            remove_leftovers(directory)
        bench = Bench(folder)
        grower = Grower(bench.project, random.Random(seed))
        checkpointer = Checkpointer(homes.checkpoints, bench.books, bench.health, bench.telemetry)
        await bench.start()
        await checkpointer.restore()
        while True:
            await bench.compile()
            await checkpointer.flush()
            bench.telemetry.told.clear()
            grower.step()

    anyio.run(main)
    raise AssertionError("unreachable")


def settled(folder: Path, seconds: float = 40.0) -> Bench:
    """A last clean start: everything that is owed is written. Gives what stands then."""

    async def main() -> Bench:
        homes = _homes(folder)
        for directory in (homes.entropy, homes.state):
            remove_leftovers(directory)
        bench = Bench(folder)
        Grower(bench.project, random.Random())
        await bench.start()
        ends = time.monotonic() + seconds
        while True:
            await bench.compile()
            last = bench.compiler.last
            assert last is not None
            if last.reason is None and last.pool is None:
                return bench
            assert last.is_retried and time.monotonic() < ends, last

    return anyio.run(main)


def check_whole(homes: Homes) -> bool:
    """Every file is as some writer meant it; whether the books were ahead of the pool's file."""
    pool = pools.load(homes.pool)
    books = pools.load_ledger(homes.pool_ledger)
    rest = (artifacts.load(homes.compiled), checkpoints.load(homes.checkpoints))
    damaged = [found for found in (pool, books, *rest) if isinstance(found, Damaged)]
    assert not damaged, damaged
    if not isinstance(books, Loaded) or not isinstance(pool, Loaded):
        return isinstance(books, Loaded)
    return books.value[1] != sha256(pool.raw).hexdigest()


def _age(homes: Homes) -> int:
    """Locks of a writer that was killed before it could sign them: only age tells those."""
    aged = 0
    for lock in (homes.pool_lock, homes.compiled_lock):
        if lock.is_dir() and not (lock / "owner").exists():
            os.utime(lock, (1, 1))
            aged += 1
    return aged


def kill_saves(folder: Path, kills: int, seed: int) -> Counter[str]:
    """Kill a writer `kills` times; gives what was seen on the way.

    Raises:
        AssertionError: a file was torn, left behind, or says what no plain look at the logs does.
    """
    rng = random.Random(seed)
    homes = _homes(folder)
    Bench(folder).declare(SURFACE)
    seen: Counter[str] = Counter()
    for _ in range(kills):
        pid = os.fork()
        if pid == 0:
            with contextlib.suppress(BaseException):
                write(folder, rng.getrandbits(32))
            os._exit(1)
        time.sleep(rng.random() * _OFTEN)
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        assert os.WIFSIGNALED(status), "the writer ended by itself"
        # Drawn here as well, so that the next writer does something else.
        rng.getrandbits(32)
        seen["kills"] += 1
        seen["books ahead of the pool"] += check_whole(homes)
        for directory in (homes.entropy, homes.state):
            seen["temporary files left"] += len(list(directory.glob(".*")))
        seen["locks left"] += sum(lock.is_dir() for lock in (homes.pool_lock, homes.compiled_lock))
        seen["unsigned locks"] += _age(homes)
    bench = settled(folder)
    logs = sorted(bench.project.glob("*.jsonl"))
    stored = counted(homes.pool)
    assert stored == clean(logs), f"{stored - clean(logs)} too many, {clean(logs) - stored} missing"
    left = [path for d in (homes.entropy, homes.state) for path in d.glob(".*")]
    assert not left, f"left behind: {left}"
    check_whole(homes)
    seen["values"] = stored.total()
    return seen


def main() -> int:
    """Kill on a temporary home and say how it went."""
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 32)
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fabricd-kills-") as folder:
        print(f"{kills} kills in the middle of saves, seed {seed}", flush=True)
        try:
            seen = kill_saves(Path(folder), kills, seed)
        except AssertionError as error:
            print(f"failed: {error}")
            return 1
    told = ", ".join(f"{count} {what}" for what, count in seen.items())
    print(f"ok: {told}; counts equal one clean pass; {time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
