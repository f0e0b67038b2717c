"""The context engine on a tree of 5,000 files: index, queries, one edit, memory, and no overrun.

Asked in a process of its own, as the daemon's worker runs it; times are those of whole answers,
with receipt and chain row on the disk.
"""

from __future__ import annotations

import json
import random
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.context.big import make
from benchmarks.measuring import Figure
from fabricd.core.context.asking import Refused
from fabricd.core.context.counting import counter
from fabricd.core.steps import finish
from fabricd.daemon.clock import SystemClock
from fabricd.daemon.context.engine import Engine

_QUERIES = 60
_EDITS = 15
_WORDS = (
    "request response session user token cache index buffer stream parser config value result "
    "error handler client server message event state worker queue path file name size time"
).split()
_MIB = 1024 if sys.platform != "darwin" else 1024 * 1024


class Asked:
    """An engine over one tree, asked with keywords."""

    def __init__(self, state: Path, root: Path) -> None:
        self._engine = Engine.open(state, SystemClock(), {})
        self._root = str(root)

    def __call__(self, method: str, **params: Any) -> dict[str, Any]:
        data = json.dumps({"root": self._root, **params}).encode()
        found: dict[str, Any] = json.loads(finish(self._engine.ask(method, data)))
        return found

    def close(self) -> None:
        """Let the engine go."""
        self._engine.close()


def _timed(measured: Callable[[], object]) -> float:
    started = time.perf_counter()
    measured()
    return 1000 * (time.perf_counter() - started)


def _query(rng: random.Random) -> str:
    return " ".join(rng.sample(_WORDS, rng.randrange(1, 6)))


def _edit(rng: random.Random, root: Path) -> None:
    path = rng.choice(sorted((root).rglob("*.py")))
    text = path.read_text()
    path.write_text(text + f"\n\ndef edited_{rng.randrange(10**6)}():\n    return 1\n")


def _quantile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def measured(root: Path, state: Path, size: int, overruns: int) -> dict[str, float]:
    """Every figure; run in a process of its own."""
    rng = random.Random(3)
    asked = Asked(state, root)
    before = time.process_time()
    found = asked("index")
    seconds = time.process_time() - before
    figures: dict[str, float] = {"units": found["units"], "index": size / seconds / 1e6}
    queries = [_query(rng) for _ in range(_QUERIES)]
    for query in queries[:5]:
        asked("select", query=query)
    for name, budget in (("8k", 8000), ("32k", 32000)):
        times = [_timed(lambda q=q, b=budget: asked("select", query=q, budget=b)) for q in queries]
        figures[f"{name} p50"] = statistics.median(times)
        figures[f"{name} p95"] = _quantile(times, 0.95)
    extra: list[float] = []
    for query in queries[:_EDITS]:
        unchanged = min(_timed(lambda q=query: asked("select", query=q)) for _ in range(3))
        _edit(rng, root)
        extra.append(_timed(lambda q=query: asked("select", query=q)) - unchanged)
    figures["edit"] = statistics.median(extra)
    # Before other vocabularies are read, which nobody needs beside one.
    figures["rss"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _MIB
    figures["over"] = over(asked, rng, overruns)
    asked.close()
    return figures


def over(asked: Asked, rng: random.Random, times: int) -> int:
    """How many of so many random answers have more tokens than they may."""
    found = 0
    for _ in range(times):
        tokenizer = rng.choice(("o200k", "o200k", "cl100k", "claude"))
        budget = round(100 * 320 ** rng.random())
        try:
            answer = asked("select", query=_query(rng), budget=budget, tokenizer=tokenizer)
        except Refused:
            continue
        too_many = counter(tokenizer)(answer["text"]) > budget
        found += too_many
    return found


def speed(folder: Path, overruns: int = 500) -> list[Figure]:
    """The budgets of the context engine."""
    root, state = folder / "tree", folder / "state"
    size = make(root)
    command = [sys.executable, "-m", "benchmarks.context.speed"]
    command += [str(root), str(state), str(size), str(overruns)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    tree = f"5,000 files, {size / 1e6:.0f} MB, {found['units']:,} units"
    return [
        Figure("context: first index of a tree", found["index"], "MB/s", 1.5, True, tree),
        Figure("context: warm query, 8,000 tokens, p50", found["8k p50"], "ms", 80),
        Figure("context: the same, p95", found["8k p95"], "ms", 150),
        Figure("context: warm query, 32,000 tokens, p95", found["32k p95"], "ms", 300),
        Figure("context: one changed file, beside the same query", found["edit"], "ms", 50),
        Figure("context: worker, peak memory", found["rss"], "MiB", 189),
        Figure(f"context: over budget, of {overruns:,} answers", found["over"], "answers", 0),
    ]


if __name__ == "__main__":
    tree, kept, of_bytes, answers = sys.argv[1:]
    print(json.dumps(measured(Path(tree), Path(kept), int(of_bytes), int(answers))))
