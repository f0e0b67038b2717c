"""Random questions within random budgets, by every tokenizer: how many answers are too large."""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.context.big import make
from benchmarks.context.speed import over
from benchmarks.context.working import Working

_FILES = 300


def main(arguments: Sequence[str]) -> int:
    """`[ANSWERS]`: ask so often, 10,000 times where it is not said; 1 where one is over."""
    times = int(arguments[0]) if arguments else 10_000
    seed = random.SystemRandom().randrange(2**32)
    print(f"{times} answers, seed {seed}", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(prefix="fabricd-bench-") as folder:
        root = Path(folder) / "tree"
        make(root, _FILES)
        working = Working(Path(folder) / "state", root)
        found = over(working, random.Random(seed), times)
        working.close()
    print(f"{found} of {times} over budget")
    return 1 if found else 0
