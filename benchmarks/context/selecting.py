"""Selection held against brute force, and its time: `python -m benchmarks.context.selecting`.

Small containment trees are chosen from twice, exactly and with no table at all, and each choice is
compared with every other that fits. Wide ones are as large as a query's: 300 units in 60 files.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import chain
from os import cpu_count

from tests.core.context.selecting.trees import check, tree
from tests.core.context.selecting.wide import wide

from benchmarks.measuring import Figure
from fabricd.core.context.selecting.choosing import CELLS, choose
from fabricd.core.context.selecting.offering import Offer

TREES = 50_000
_CHUNK = 500
_WIDE = 40


def _wrong(first: int) -> list[str]:
    """What is wrong with the choices from some trees."""
    found: list[str] = []
    for seed in range(first, first + _CHUNK):
        try:
            exact, _ = check(tree(seed), (CELLS, 0))
        except AssertionError as error:
            found.append(f"{seed}: {error}")
        else:
            if not exact:
                found.append(f"{seed}: not exact")
    return found


def trees(count: int = TREES) -> Figure:
    """How many of so many trees were chosen from wrongly."""
    with ProcessPoolExecutor(cpu_count()) as workers:
        wrong = list(chain.from_iterable(workers.map(_wrong, range(0, count, _CHUNK))))
    for line in wrong[:10]:
        print(line, file=sys.stderr)
    return Figure(f"choices other than by brute force, of {count:,} trees", len(wrong), "", 0)


def _times(asked: Sequence[tuple[list[Offer], list[int]]], budget: int, cells: int) -> list[float]:
    times: list[float] = []
    for offers, headers in asked:
        started = time.process_time()
        choose(offers, headers, budget, best=range(0, len(offers), 5), cells=cells)
        times.append(1000 * (time.process_time() - started))
    return sorted(times)


def speed() -> list[Figure]:
    """The usual CPU time of a choice by budget, beside the largest, and how often it was exact."""
    asked = [wide(seed) for seed in range(_WIDE)]
    figures: list[Figure] = []
    for budget, most in ((2000, 25.0), (8000, 25.0), (32_000, 60.0)):
        _times(asked[:2], budget, CELLS)
        times = _times(asked, budget, CELLS)
        found = [choose(*one, budget).certificate for one in asked]
        regret = max(one.regret / one.bound for one in found)
        exact = sum(one.exact for one in found)
        figures.append(
            Figure(
                f"choice from 300 units, {budget:,} tokens, p50 CPU",
                statistics.median(times),
                "ms",
                most,
                baseline=f"largest {times[-1]:.0f} ms; {exact} of {_WIDE} exact, regret of the "
                f"others at most {100 * regret:.3f} %",
            )
        )
    return figures


def selecting(count: int = TREES) -> list[Figure]:
    """All figures of selection."""
    return [*speed(), trees(count)]


def main() -> int:
    """Print the figures; 1 if one of them is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trees", type=int, default=TREES)
    figures = selecting(parser.parse_args().trees)
    print("| what | measured | budget | | |\n| --- | --- | --- | --- | --- |")
    for figure in figures:
        print(figure.row())
    return 0 if all(figure.met for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
