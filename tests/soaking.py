"""A long day of a daemon in a few minutes: load, mishaps, and what must be true in the end.

`python -m tests.soak --minutes 10`. A thousand session logs grow by some fifty pieces a second
while twenty clients ask. For ten minutes the daemon is killed every twenty seconds; for another
five one process lives on, and its memory and descriptors are watched. All the while the disk is
full time and again, and somebody holds the locks, removes the socket, and stops the process.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from itertools import cycle
from pathlib import Path
from typing import Any

from fabricd.ipc.client import CallFailed, NoAnswer, NoDaemon
from fabricd.store import checkpoints, pools, repairs
from fabricd.store.durable import Damaged
from fabricd.store.homes import Homes
from tests.daemon.pooling import Counts, counted
from tests.harness import Daemon, daemon, prose_line, trace_line
from tests.soak import difference, settle

SESSIONS = 1000
PROJECTS = 20
APPENDS_A_SECOND = 50
ACTIVE = 6
CLIENTS = 20
LIFE_SECONDS = 20.0
DISK_MIB = 48
# Of one life under load, after its first minute.
MAX_MIB_A_MINUTE = 6.0
MAX_MORE_DESCRIPTORS = 4


class Logs(threading.Thread):
    """Session logs that grow, a few at a time, in pieces which need not end with a line."""

    def __init__(self, root: Path, rng: random.Random) -> None:
        super().__init__(daemon=True)
        self._rng = rng
        self._paths = [
            root / f"--project{number % PROJECTS}--" / f"s{number:04}.jsonl"
            for number in range(SESSIONS)
        ]
        self._active = rng.sample(self._paths, ACTIVE)
        self._owed: dict[Path, bytes] = {}
        self._ended = threading.Event()
        self.touched: set[Path] = set()
        self.records = self.pieces = 0
        for number, path in enumerate(self._paths):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self._header(number) + self._record(trace_line(rng)))
            os.utime(path, (10**9 + number, 10**9 + number))
        self.touched |= set(self._paths[-8:])

    @staticmethod
    def _header(number: int) -> bytes:
        value = {"type": "session", "version": 3, "id": f"session-{number:04}", "cwd": "/repo"}
        return json.dumps(value).encode() + b"\n"

    def _record(self, line: bytes) -> bytes:
        self.records += 1
        return b'{"id":"%08x",' % self.records + line[1:] + b"\n"

    def run(self) -> None:
        """Append until told to end, then end every record that was begun."""
        due = time.monotonic()
        while not self._ended.is_set():
            self._step()
            due += 1 / APPENDS_A_SECOND
            time.sleep(max(0.0, due - time.monotonic()))
        for path, data in self._owed.items():
            self._append(path, data)

    def _step(self) -> None:
        if self._rng.random() < 0.01:
            self._active[self._rng.randrange(ACTIVE)] = self._rng.choice(self._paths)
        path = self._rng.choice(self._active)
        data = self._owed.get(path, b"")
        if not data:
            make = trace_line if self._rng.random() < 0.6 else prose_line
            data = self._record(make(self._rng))
        part = self._rng.random() < 0.3
        cut = self._rng.randrange(1, len(data) + 1) if part else len(data)
        self._append(path, data[:cut])
        self._owed[path] = data[cut:]

    def _append(self, path: Path, data: bytes) -> None:
        with path.open("ab") as file:
            file.write(data)
        self.touched.add(path)
        self.pieces += 1

    def any(self) -> Path:
        """A log that grows now."""
        return self._rng.choice(self._active)

    def end(self) -> None:
        """No more is appended."""
        self._ended.set()
        self.join()


class Clients:
    """Twenty of them, each asking for something again and again, whatever it gets."""

    def __init__(self, subject: Daemon, logs: Logs, seed: int) -> None:
        self._subject = subject
        self._logs = logs
        self._ended = threading.Event()
        self.answers: Counter[str] = Counter()
        self.slowest = 0.0
        self._threads = [
            threading.Thread(target=self._ask, args=(random.Random(seed + number),), daemon=True)
            for number in range(CLIENTS - 2)
        ]
        self._threads += [threading.Thread(target=self._listen, daemon=True) for _ in range(2)]
        for thread in self._threads:
            thread.start()

    def _ask(self, rng: random.Random) -> None:
        while not self._ended.is_set():
            method = rng.choice(["status", "report", "turn_end", "turn_end"])
            params: dict[str, object] | None = None
            if method == "turn_end":
                params = {"agent": "pi", "transcript_path": os.fspath(self._logs.any())}
            started = time.monotonic()
            try:
                self._subject.call(method, params)
                self.answers[method] += 1
                self.slowest = max(self.slowest, time.monotonic() - started)
            except (NoDaemon, NoAnswer, CallFailed) as error:
                self.answers[type(error).__name__] += 1
            time.sleep(rng.random())

    def _listen(self) -> None:
        import socket

        while not self._ended.is_set():
            with suppress(OSError), socket.socket(socket.AF_UNIX) as client:
                client.settimeout(1.0)
                client.connect(self._subject.socket)
                client.sendall(b'{"jsonrpc":"2.0","id":1,"method":"subscribe"}\n')
                while not self._ended.is_set():
                    with suppress(TimeoutError):
                        if not (data := client.recv(1 << 16)):
                            break
                        self.answers["events"] += data.count(b"\n")
            time.sleep(0.2)

    def end(self) -> None:
        """They hang up."""
        self._ended.set()
        for thread in self._threads:
            thread.join()


class Gauge(threading.Thread):
    """Memory and descriptors of one process, each second."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self._ended = threading.Event()
        self.samples: list[tuple[float, float, int]] = []

    def run(self) -> None:
        """Look until told to end."""
        started = time.monotonic()
        while not self._ended.wait(1.0):
            with suppress(OSError, IndexError):
                pages = int(Path(f"/proc/{self._pid}/statm").read_text().split()[1])
                size = pages * resource.getpagesize() / 2**20
                self.samples.append((time.monotonic() - started, size, self.descriptors()))

    def descriptors(self) -> int:
        """How many are open now."""
        return len(os.listdir(f"/proc/{self._pid}/fd"))

    def end(self) -> None:
        """Look no more."""
        self._ended.set()
        self.join()

    def slopes(self) -> tuple[float, float]:
        """MiB and descriptors a minute, after the time in which everything is seen for the first
        time: a minute, or the first third of a short life."""
        last = self.samples[-1][0] if self.samples else 0.0
        late = [sample for sample in self.samples if sample[0] > min(60.0, last / 3)]
        return _slope([(at, size) for at, size, _ in late]), _slope([(a, n) for a, _, n in late])


def _slope(points: list[tuple[float, float]]) -> float:
    if len(points) < 3:
        return 0.0
    middle_x = sum(x for x, _ in points) / len(points)
    middle_y = sum(y for _, y in points) / len(points)
    spread = sum((x - middle_x) ** 2 for x, _ in points)
    return 60 * sum((x - middle_x) * (y - middle_y) for x, y in points) / spread


@contextmanager
def small_disk(folder: Path) -> Generator[bool, None, None]:
    """A small file system at a folder; gives whether one could be mounted."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m", "tmpfs", os.fspath(folder)]
    try:
        mounted = subprocess.run(mount, capture_output=True).returncode == 0
    except FileNotFoundError:
        mounted = False
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "-l", os.fspath(folder)], capture_output=True)


class Mishaps:
    """What goes wrong, and how long it took until it was right again."""

    def __init__(self, subject: Daemon, logs: Logs, mounted: bool) -> None:
        self._subject = subject
        self._logs = logs
        self._mounted = mounted
        self.kills = 0
        self.slowest: dict[str, list[float]] = {}

    def told(self) -> Iterator[str]:
        """A line for each kind of mishap."""
        yield f"{self.kills} kills"
        for what, times in self.slowest.items():
            yield f"{len(times)} times {what}, well again after at most {max(times):.1f} s"

    def kill(self) -> None:
        """SIGKILL, and a new process."""
        self._subject.kill()
        torn(self._subject)
        self._subject.start()
        self.kills += 1

    def full_disk(self) -> None:
        """No room for any file of the daemon, for eight seconds."""
        with self._filled() if self._mounted else self._no_large_files():
            self._until(lambda: bool(self._subject.status().get("degraded")), 30.0)
            time.sleep(8.0)
            torn(self._subject)
        self._recovered("full disk" if self._mounted else "no file may grow (RLIMIT_FSIZE)")

    @contextmanager
    def _filled(self) -> Generator[None, None, None]:
        filler = self._subject.home / "filler"
        with suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(b"x" * 4096)
        try:
            yield
        finally:
            filler.unlink()

    @contextmanager
    def _no_large_files(self) -> Generator[None, None, None]:
        assert self._subject.process is not None
        pid = self._subject.process.pid
        before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, before[1]))
        try:
            yield
        finally:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, before)

    def held_locks(self) -> None:
        """A living program holds every lock that a running Pi would hold, for eight seconds."""
        entropy = self._subject.home / "entropy"
        locks = [entropy / "compiled.lock", entropy / "observation-pool.lock"]
        for lock in locks:
            self._until(lambda lock=lock: _taken(lock), 20.0)
        self._until(self._is_locked_out, 10.0)
        time.sleep(8.0)
        for lock in locks:
            shutil.rmtree(lock)
        self._recovered("held locks")

    def removed_socket(self) -> None:
        """Somebody cleans up."""
        os.unlink(self._subject.socket)
        self._recovered("removed socket")

    def stopped(self) -> None:
        """SIGSTOP for eight seconds: longer than a client waits, and than a tick."""
        assert self._subject.process is not None
        self._subject.process.send_signal(signal.SIGSTOP)
        time.sleep(8.0)
        self._subject.process.send_signal(signal.SIGCONT)
        self._recovered("stopped process")

    def _recovered(self, what: str) -> None:
        started = time.monotonic()
        self._until(lambda: self._is_well(), 60.0)
        self.slowest.setdefault(what, []).append(time.monotonic() - started)

    def _is_locked_out(self) -> bool:
        last = self._subject.status().get("lastCompile") or {}
        return "locked" in (last.get("outcome"), last.get("pool"))

    def _is_well(self) -> bool:
        status = self._subject.status()
        last = status.get("lastCompile") or {}
        kept = last.get("outcome") in ("written", "already_written") and "pool" not in last
        return status["state"] == "ready" and not status["degraded"] and kept

    def _until(self, condition: Callable[[], bool], seconds: float) -> None:
        self._subject.until(condition, seconds)


def _taken(lock: Path) -> bool:
    try:
        lock.mkdir()
    except FileExistsError:
        return False
    (lock / "owner").write_text(f"soaking\n{os.getpid()}\n{time.time_ns() // 1_000_000}\n")
    return True


def torn(subject: Daemon) -> None:
    """No durable file is torn, whatever has just happened.

    Raises:
        AssertionError: one is.
    """
    homes = homes_of(subject)
    for path in (homes.compiled, homes.pool, homes.repairs, homes.repairs_learned):
        with suppress(FileNotFoundError):
            json.loads(path.read_bytes())
    loads: list[object] = [
        checkpoints.load(homes.checkpoints),
        pools.load(homes.pool),
        pools.load_ledger(homes.pool_ledger),
        repairs.load(homes.repairs),
    ]
    assert not [load for load in loads if isinstance(load, Damaged)], loads


def homes_of(subject: Daemon) -> Homes:
    """The places of a daemon of the harness."""
    return Homes(subject.home, subject.home / "state", subject.agent, False)


def said_by(paths: set[Path]) -> Counts:
    """What logs say of arguments, each record once, counted the plain way."""
    found: Counts = Counter()
    for path in paths:
        for text in path.read_bytes().split(b"\n")[:-1]:
            details = json.loads(text).get("message", {}).get("details", {})
            for audit in details.get("audits", ()):
                for key, value in audit["args"].items():
                    # Null is no value that could be declared.
                    if value is not None:
                        found[audit["ref"], key, json.dumps(value)] += 1
    return found


def read_into_pool(subject: Daemon, paths: set[Path]) -> None:
    """Let every log that ever grew be in the window once more, to its end."""
    ordered = sorted(paths)
    for first in range(0, len(ordered), 8):
        for path in ordered[first : first + 8]:
            os.utime(path)
        answer: dict[str, Any] = subject.call("compile_now").result
        assert "pool" not in answer, answer


def killed(mishaps: Mishaps, seconds: float) -> None:
    """A kill every twenty seconds, and something else between every two of them."""
    started = time.monotonic()
    others = cycle([mishaps.full_disk, mishaps.held_locks, mishaps.removed_socket, mishaps.stopped])
    for kill in range(1, int(seconds / LIFE_SECONDS) + 1):
        next(others)()
        time.sleep(max(0.0, started + kill * LIFE_SECONDS - time.monotonic()))
        mishaps.kill()


def lived_on(mishaps: Mishaps, seconds: float) -> None:
    """One life, with one of everything, well spread."""
    each = [mishaps.stopped, mishaps.removed_socket, mishaps.full_disk, mishaps.held_locks]
    ends = time.monotonic() + seconds
    for left in range(len(each), 0, -1):
        time.sleep(max(0.0, (ends - time.monotonic()) / (left + 1) - 8.0))
        each[len(each) - left]()
    time.sleep(max(0.0, ends - time.monotonic()))


def soak_for(folder: Path, minutes: float, seed: int, say: Callable[[str], None]) -> None:
    """Soak for some minutes and say how it went.

    Raises:
        AssertionError: something is not as it must be.
    """
    with small_disk(folder / "disk") as mounted, daemon(folder) as subject:
        subject.home = folder / "disk"
        subject.env["FABRICD_HOME"] = os.fspath(subject.home)
        subject.env["FABRICD_SOCKET"] = subject.socket = os.fspath(folder / "run" / "s")
        (subject.home / "entropy").mkdir()
        subject.declare()
        logs = Logs(subject.sessions.parent, random.Random(seed))
        say(f"{SESSIONS} logs; " + ("a disk of its own" if mounted else "no disk of its own"))
        subject.start()
        logs.start()
        clients = Clients(subject, logs, seed)
        mishaps = Mishaps(subject, logs, mounted)
        killed(mishaps, minutes * 60)
        assert subject.process is not None
        gauge = Gauge(subject.process.pid)
        gauge.start()
        lived_on(mishaps, minutes * 30)
        gauge.end()
        logs.end()
        clients.end()
        for line in told(logs, clients, mishaps, gauge):
            say(line)
        check(subject, logs, gauge)


def told(logs: Logs, clients: Clients, mishaps: Mishaps, gauge: Gauge) -> Iterator[str]:
    """The figures."""
    yield f"{logs.pieces} pieces of {logs.records} records appended, {len(logs.touched)} logs grew"
    answers = ", ".join(f"{count} {name}" for name, count in sorted(clients.answers.items()))
    yield f"{CLIENTS} clients: {answers}; the slowest answer took {clients.slowest:.2f} s"
    yield from mishaps.told()
    memory, descriptors = gauge.slopes()
    sizes = [size for _, size, _ in gauge.samples]
    open_files = [number for _, _, number in gauge.samples]
    yield (
        f"one process for {gauge.samples[-1][0]:.0f} s: {sizes[0]:.1f} to {sizes[-1]:.1f} MiB "
        f"({memory:+.2f} MiB a minute), {open_files[0]} to {open_files[-1]} descriptors "
        f"({descriptors:+.2f} a minute, at most {max(open_files)})"
    )


def check(subject: Daemon, logs: Logs, gauge: Gauge) -> None:
    """What must be true in the end."""
    read_into_pool(subject, logs.touched)
    ours, clean = settle(subject)
    assert ours == clean, difference(ours, clean)
    pool, said = counted(subject.home / "entropy" / "observation-pool.json"), said_by(logs.touched)
    assert pool == said, f"the pool: {(pool - said)} too many, {(said - pool)} too few"
    torn(subject)
    memory, _ = gauge.slopes()
    assert memory < MAX_MIB_A_MINUTE, f"memory grows by {memory:.1f} MiB a minute"
    # Nobody is connected but us, once: what else is open belongs to the daemon.
    idle = _settled_descriptors(gauge)
    fresh = _fresh_descriptors(subject)
    assert idle <= fresh + MAX_MORE_DESCRIPTORS, f"{idle} descriptors, a new process has {fresh}"
    leftovers = [p for p in subject.home.rglob("*") if p.name.startswith(".") or p.suffix == ".tmp"]
    assert not leftovers, f"left behind: {leftovers}"
    assert subject.stop() == 0
    torn(subject)


def _settled_descriptors(gauge: Gauge) -> int:
    found: list[int] = []
    for _ in range(20):
        time.sleep(0.1)
        found.append(gauge.descriptors())
    return min(found)


def _fresh_descriptors(subject: Daemon) -> int:
    subject.stop()
    subject.start()
    subject.call("compile_now")
    assert subject.process is not None
    return _settled_descriptors(Gauge(subject.process.pid))


if __name__ == "__main__":
    sys.exit("python -m tests.soak --minutes MINUTES")
