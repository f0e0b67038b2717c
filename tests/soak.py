"""Kill and restart a daemon while sessions grow; in the end its report must equal a clean measure.

`python -m tests.soak KILLS`, or `--minutes MINUTES` for a long one (tests/soaking.py). What is
counted are appended records, never hooks: a killed daemon owes nobody a hook, but every byte.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import tempfile
import time
from pathlib import Path

from tests.harness import Daemon, daemon, prose_line, trace_line

SESSIONS = 10
_METRIC = 3


class Writer:
    """Sessions that grow in pieces which need not end with a line."""

    def __init__(self, folder: Path, rng: random.Random) -> None:
        self._rng = rng
        self._paths = [folder / f"s{number}.jsonl" for number in range(SESSIONS)]
        self._owed = {path: b"" for path in self._paths}
        self.records = 0

    def step(self) -> Path:
        """Append something to some session; sometimes only part of a record."""
        path = self._rng.choice(self._paths)
        data = self._owed[path]
        if not data:
            make = trace_line if self._rng.random() < 0.6 else prose_line
            data = make(self._rng) + b"\n"
            self.records += 1
        cut = self._rng.randrange(1, len(data) + 1) if self._rng.random() < 0.3 else len(data)
        with path.open("ab") as file:
            file.write(data[:cut])
        self._owed[path] = data[cut:]
        return path

    def finish(self) -> None:
        """Complete every record that was begun."""
        for path, data in self._owed.items():
            if data:
                with path.open("ab") as file:
                    file.write(data)
            self._owed[path] = b""


def _clean(subject: Daemon) -> dict[str, object]:
    done = subject.run(
        "measure", "--sessions", str(subject.agent / "sessions"), "--window", "8",
        "--surface", str(subject.home / "entropy" / "surface.json"), "--json",
    )  # fmt: skip
    found: dict[str, object] = json.loads(done.stdout)
    return found


def settle(subject: Daemon) -> tuple[dict[str, object], dict[str, object]]:
    """The daemon's report after a full look, and the clean one; the same members of both."""
    subject.call("compile_now")
    report = subject.call("report").result
    clean = _clean(subject)
    return {name: report[name] for name in clean}, clean


def soak(folder: Path, kills: int, seed: int) -> tuple[int, int]:
    """Kill a daemon `kills` times under load; gives records written and torn files found.

    Raises:
        AssertionError: the reports differ, or a durable file was torn.
    """
    rng = random.Random(seed)
    with daemon(folder) as subject:
        subject.declare()
        writer = Writer(subject.sessions, rng)
        torn = 0
        for _ in range(kills):
            process = subject.spawn()
            ends = time.monotonic() + 0.1 + rng.random() * 1.7
            while time.monotonic() < ends:
                path = writer.step()
                _hook(subject, path)
                time.sleep(rng.random() * 0.02)
            process.kill()
            process.wait()
            torn += _torn(subject.compiled)
        writer.finish()
        subject.start()
        ours, clean = settle(subject)
        assert ours == clean, difference(ours, clean)
        assert not torn, f"{torn} torn artifacts"
        leftovers = list((subject.home / "entropy").glob(".*"))
        assert not leftovers, f"left behind: {leftovers}"
        return writer.records, torn


def _hook(subject: Daemon, path: Path) -> None:
    from fabricd.ipc.client import CallFailed, NoAnswer, NoDaemon

    try:
        subject.call("turn_end", {"agent": "pi", "transcript_path": os.fspath(path)})
    except (NoDaemon, NoAnswer, CallFailed):
        return


def _torn(path: Path) -> int:
    try:
        value = json.loads(path.read_bytes())
    except FileNotFoundError:
        return 0
    except ValueError:
        return 1
    return int(value["metricVersion"] != _METRIC)


def difference(ours: dict[str, object], clean: dict[str, object]) -> str:
    """The members of two reports that differ."""
    names = [name for name in clean if ours[name] != clean[name]]
    return "; ".join(f"{name}: {ours[name]!r} != {clean[name]!r}"[:600] for name in names)


def main() -> int:
    """Soak on a temporary home and say how it went."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak")
    parser.add_argument("kills", nargs="?", type=int, default=200)
    parser.add_argument("seed", nargs="?", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--minutes", type=float)
    given = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fabricd-soak-") as folder:
        try:
            if given.minutes is None:
                how = _kill(Path(folder), given.kills, given.seed)
            else:
                how = _last(Path(folder), given.minutes, given.seed)
        except (AssertionError, subprocess.SubprocessError) as error:
            print(f"failed: {error}")
            return 1
    print(f"ok: {how}; {time.monotonic() - started:.0f} s")
    return 0


def _kill(folder: Path, kills: int, seed: int) -> str:
    print(f"{kills} kills, seed {seed}", flush=True)
    records, torn = soak(folder, kills, seed)
    return f"{records} records, {torn} torn files, report equals a clean measure"


def _last(folder: Path, minutes: float, seed: int) -> str:
    from tests.soaking import soak_for

    print(f"{minutes:g} minutes, seed {seed}", flush=True)
    soak_for(folder, minutes, seed, lambda line: print(line, flush=True))
    return "no torn file, report equals a clean measure, pool a clean count"


if __name__ == "__main__":
    raise SystemExit(main())
