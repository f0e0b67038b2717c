"""The context engine on a tree of 5,000 files: index, queries, one edit, memory, and no overrun.

The worker is asked over its wire, as the daemon asks it; times are those of whole answers, with
receipt and chain row on the disk.
"""

from __future__ import annotations

import random
import statistics
import time
from functools import cache
from pathlib import Path

from benchmarks.context.big import make
from benchmarks.context.working import Working
from benchmarks.measuring import Figure, json_rate
from fabricd.core.context.asking import Refused
from fabricd.core.context.counting import counter

_QUERIES = 60
_EDITS = 15
_WORDS = (
    "request response session user token cache index buffer stream parser config value result "
    "error handler client server message event state worker queue path file name size time"
).split()


def _timed(working: Working, query: str, budget: int = 8000) -> float:
    """Milliseconds of an answer."""
    started = time.perf_counter()
    working("select", query=query, budget=budget)
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
    """Every figure."""
    rng = random.Random(3)
    working = Working(state, root)
    before = working.cpu_seconds
    found = working("index")
    seconds = working.cpu_seconds - before
    figures: dict[str, float] = {"units": found["units"], "index": size / seconds / 1e6}
    queries = [_query(rng) for _ in range(_QUERIES)]
    for query in queries[:5]:
        working("select", query=query)
    for name, budget in (("8k", 8000), ("32k", 32000)):
        times = [_timed(working, query, budget) for query in queries]
        figures[f"{name} p50"] = statistics.median(times)
        figures[f"{name} p95"] = _quantile(times, 0.95)
    extra: list[float] = []
    for query in queries[:_EDITS]:
        unchanged = min(_timed(working, query) for _ in range(3))
        _edit(rng, root)
        extra.append(_timed(working, query) - unchanged)
    figures["edit"] = statistics.median(extra)
    # Before other vocabularies are read, which nobody needs beside one.
    figures["rss"] = working.peak_mib
    figures["over"] = over(working, rng, overruns)
    working.close()
    return figures


def over(working: Working, rng: random.Random, times: int) -> int:
    """How many of so many random answers have more tokens than they may."""
    found = 0
    for _ in range(times):
        tokenizer = rng.choice(("o200k", "o200k", "cl100k", "claude"))
        budget = round(100 * 320 ** rng.random())
        try:
            answer = working("select", query=_query(rng), budget=budget, tokenizer=tokenizer)
        except Refused:
            continue
        too_many = _counter(tokenizer)(answer["text"]) > budget
        found += too_many
    return found


# What words cost is remembered by the counter.
_counter = cache(counter)


def speed(folder: Path, overruns: int = 500) -> list[Figure]:
    """The budgets of the context engine."""
    root, state = folder / "tree", folder / "state"
    folder.mkdir()
    size = make(root)
    before = json_rate()
    found = measured(root, state, size, overruns)
    pace = f"json.loads: {before:.0f} MB/s before, {json_rate():.0f} behind"
    tree = f"5,000 files, {size / 1e6:.0f} MB, {found['units']:,} units"
    return [
        Figure("context: first index of a tree", found["index"], "MB/s", 1.5, True, tree),
        Figure("context: warm query, 8,000 tokens, p50", found["8k p50"], "ms", 80, False, pace),
        Figure("context: the same, p95", found["8k p95"], "ms", 150),
        Figure("context: warm query, 32,000 tokens, p95", found["32k p95"], "ms", 300),
        Figure("context: one changed file, beside the same query", found["edit"], "ms", 50),
        Figure("context: worker, peak memory", found["rss"], "MiB", 186),
        Figure(f"context: over budget, of {overruns:,} answers", found["over"], "answers", 0),
    ]
