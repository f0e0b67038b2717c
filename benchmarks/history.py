"""The first and the second report over the logs of all agents.

The logs are those of a folder (`FABRICD_BENCH_LOGS`), whatever agents wrote them, else Claude Code
logs made here. For the gain of a second process they are copied until a start costs nothing
beside reading them.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from fixtures.make_histories import make

from benchmarks.measuring import (
    Figure,
    clean_env,
    least,
    median,
    peak,
    process_cpu,
    process_wall,
)

_ENOUGH = 800 * 1024 * 1024
_SUFFIXES = (".json", ".jsonl")


def _given() -> list[Path]:
    folder = os.environ.get("FABRICD_BENCH_LOGS")
    if not folder:
        return []
    return sorted(path for path in Path(folder).rglob("*") if path.suffix in _SUFFIXES)


def _claude_log(rng: random.Random, session: int, rows: int) -> str:
    told = {"sessionId": f"s{session}", "cwd": "/w", "version": "2.1.81", "isSidechain": False}
    told["timestamp"] = f"2026-05-{1 + session % 28:02}T00:00:00Z"
    lines: list[str] = []
    for number in range(rows):
        call_id = f"toolu_{session}_{number}"
        given = {"file_path": f"/w/{rng.random()}", "limit": rng.randrange(900)}
        tool = rng.choice(["Read", "Grep"])
        call = {"type": "tool_use", "id": call_id, "name": tool, "input": given}
        text = "x" * rng.randrange(6000)
        result = {"type": "tool_result", "tool_use_id": call_id, "content": text}
        for role, item in (("assistant", call), ("user", result)):
            message = {"role": role, "model": "m", "content": [item]}
            lines.append(json.dumps({"type": role, **told, "message": message}))
    return "\n".join(lines) + "\n"


def _make(folder: Path, enough: int = 1) -> int:
    """Fill a folder with logs, time and again until there is enough; gives their size."""
    folder.mkdir(parents=True)
    given = _given()
    size, copy = 0, 0
    rng = random.Random(7)
    while size < enough:
        target = folder / f"copy{copy}"
        target.mkdir()
        if given:
            for index, path in enumerate(given):
                shutil.copy(path, target / f"{index}{path.suffix}")
                size += path.stat().st_size
        else:
            for index in range(20):
                data = _claude_log(rng, copy * 20 + index, 600)
                (target / f"{index}.jsonl").write_text(data)
                size += len(data)
        copy += 1
    return size


def _report(*more: str) -> list[str]:
    return [sys.executable, "-m", "fabricd", "report", "--all", "--json", *more]


def _plain(path: Path) -> float:
    started = time.process_time()
    with path.open("rb") as file:
        for line in file:
            value: Any = json.loads(line)
            assert value is not None
    return path.stat().st_size / (time.process_time() - started) / 1e6


def history(folder: Path) -> list[Figure]:
    """Speed of the first report, what a second process gains, memory, and the second report."""
    logs, many, few = folder / "logs", folder / "many", folder / "few"
    size = _make(logs)
    _make(many, _ENOUGH)
    # A handful of logs of every agent: what a report costs that has all its imports behind it.
    make(few)
    size -= sum(path.stat().st_size for path in few.rglob("*.json*"))
    env = clean_env(FABRICD_HOME=str(folder / "home"))
    bare = least(lambda: process_cpu(_report("--path", str(few)), env), 7)
    one = _report("--processes", "1", "--path")
    seconds = least(lambda: process_cpu([*one, str(logs)], env)) - bare
    plain = _plain(next(logs.rglob("*.jsonl")))
    two = _report("--processes", "2", "--path", str(many))
    # In turns: a slow stretch of the machine slows both.
    pairs = [(process_wall(two, env), process_wall([*one, str(many)], env)) for _ in range(5)]
    shared = statistics.median(together / alone for together, alone in pairs)
    alone = min(alone for _, alone in pairs)
    memory = peak([*one, str(many)], env)
    homes = clean_env(FABRICD_HOME=str(folder / "home"), CLAUDE_CONFIG_DIR=str(folder / "claude"))
    (folder / "claude").mkdir()
    logs.rename(folder / "claude" / "projects")
    first = process_wall(_report(), homes)
    again = median(lambda: process_wall(_report(), homes), 7)
    rate = size / seconds / 1e6
    baseline = f"json.loads a line: {plain:.0f} MB/s"
    gain = f"{_ENOUGH >> 20} MiB of copies: {alone:.2f} s alone"
    return [
        Figure("first report of a history", rate, "MB/s of CPU", 250, True, baseline),
        Figure("its wall time with 2 processes", shared, "of one", 0.6, False, gain),
        Figure("its peak memory", memory, "MiB", 250),
        Figure("second report", again, "s", 0.5, False, f"the first: {first:.2f} s"),
    ]
