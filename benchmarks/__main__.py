"""Run every benchmark and print the table of docs/performance.md; exit 1 if a budget is missed."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from benchmarks import gateway, history, live, offline, trajectory, value
from benchmarks.context import relaying, selecting, speed, tampering
from benchmarks.measuring import Figure


def _benches(folder: Path, gigabytes: float) -> dict[str, Callable[[], Iterable[Figure]]]:
    return {
        "scan": lambda: [offline.prose_scan(folder / "prose")],
        "report": lambda: [offline.corpus_report(folder / "corpus")],
        "trial": lambda: [offline.corpus_trial(folder / "trial")],
        "history": lambda: history.history(folder / "history"),
        "trajectory": lambda: trajectory.trajectories(folder / "trajectory"),
        "value": lambda: value.value(folder / "value"),
        "append": lambda: [offline.appended_line(folder / "append")],
        "apply": offline.application,
        "stall": lambda: [live.longest_stall(folder / "stall", gigabytes)],
        "giant": lambda: [live.longest_stall(folder / "giant", 0.05, 30 << 20)],
        "idle": lambda: live.idle(folder / "idle"),
        "clients": lambda: live.clients(folder / "clients"),
        "gateway": lambda: gateway.gateway(folder / "gateway"),
        "relay": lambda: relaying.relaying(folder / "relay"),
        "context": lambda: speed.speed(folder / "context"),
        "selecting": selecting.selecting,
        "tampering": lambda: tampering.tampering(folder / "tampering"),
    }


def main() -> int:
    """Run what was asked for, or everything."""
    # Users have their bytecode; where none is written, every start compiles what was edited last.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "only",
        nargs="*",
        help="scan report trial history trajectory value append apply stall giant idle clients "
        "gateway relay context selecting tampering",
    )
    parser.add_argument("--gigabytes", type=float, default=1.0, help="the window of the stall run")
    asked = parser.parse_args()
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="fabricd-bench-") as temporary:
        for name, bench in _benches(Path(temporary), asked.gigabytes).items():
            if asked.only and name not in asked.only:
                continue
            print(f"{name} …", file=sys.stderr, flush=True)
            figures += bench()
    print(f"\nPython {platform.python_version()}, {platform.system()} {platform.machine()}\n")
    print(
        "| what | measured | budget | | baseline in the same run |\n| --- | --- | --- | --- | --- |"
    )
    for figure in figures:
        print(figure.row())
    return 0 if all(figure.met for figure in figures) else 1


if __name__ == "__main__":
    raise SystemExit(main())
