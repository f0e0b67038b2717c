"""How the figures are taken: CPU of processes, least values, medians, and a table."""

from __future__ import annotations

import json
import os
import re
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Figure:
    """One measured figure beside its budget and its baseline."""

    name: str
    value: float
    unit: str
    budget: float
    higher_is_better: bool = False
    baseline: str = ""

    @property
    def met(self) -> bool:
        """Whether the budget holds."""
        return self.value >= self.budget if self.higher_is_better else self.value <= self.budget

    def row(self) -> str:
        """The figure as a table row."""
        sign = "≥" if self.higher_is_better else "≤"
        mark = "met" if self.met else "MISSED"
        return (
            f"| {self.name} | {self.value:.4g} {self.unit} | {sign} {self.budget:g} {self.unit} "
            f"| {mark} | {self.baseline} |"
        )


def process_cpu(command: list[str], env: dict[str, str] | None = None) -> float:
    """User and system seconds of a process that must exit 0."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def process_wall(command: list[str], env: dict[str, str] | None = None, data: bytes = b"") -> float:
    """Wall seconds of a process, whatever it exits with."""
    started = time.perf_counter()
    subprocess.run(command, env=env, input=data, capture_output=True, check=False)
    return time.perf_counter() - started


def peak(command: list[str], env: Mapping[str, str]) -> float:
    """The peak memory of a process in MiB."""
    told = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, "
        "check=True); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    done = subprocess.run(
        [sys.executable, "-c", told, *command], env=dict(env), capture_output=True, check=True
    )
    unit = 1 if sys.platform == "darwin" else 1024
    return int(done.stdout) * unit / 2**20


def json_rate() -> float:
    """What json.loads reads here and now, in MB a second of CPU: how fast the machine is."""
    document = json.dumps([{"name": ["word" * 5] * 50, "at": at} for at in range(3000)])
    seconds: list[float] = []
    for _ in range(9):
        begun = time.process_time()
        json.loads(document)
        seconds.append(time.process_time() - begun)
    return len(document) / statistics.median(seconds) / 1e6


def cpu_of(pid: int) -> float:
    """User and system seconds of a process that runs, threads that have ended included."""
    # Its own clock, as clock_getcpuclockid(3) makes it: ticks are too coarse for an idle process.
    return time.clock_gettime(~pid << 3 | 2)


def peak_of(pid: int) -> float:
    """The most resident memory that a running process has had, in MiB."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else float("nan")


def bare_cpu() -> float:
    """CPU of `python -c pass`."""
    return least(lambda: process_cpu([sys.executable, "-c", "pass"]))


def median(measure: Callable[[], float], times: int) -> float:
    """The median of several measurements."""
    return statistics.median(measure() for _ in range(times))


def least(measure: Callable[[], float], times: int = 11) -> float:
    """The least of several measurements of CPU time: a neighbour on the machine only adds to it."""
    return min(measure() for _ in range(times))


def per_call(function: Callable[[], object], calls: int = 20_000, rounds: int = 7) -> float:
    """Seconds a call, the best of several rounds."""
    best = float("inf")
    for _ in range(rounds):
        started = time.perf_counter()
        for _ in range(calls):
            function()
        best = min(best, (time.perf_counter() - started) / calls)
    return best


def clean_env(**more: str) -> dict[str, str]:
    """The environment without anything of ours, plus what is given.

    Modules are kept compiled, as an installed package has them.
    """
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("FABRICD_", "XDG_", "PI_"))}
    kept.pop("PYTHONDONTWRITEBYTECODE", None)
    return {**kept, **more}
