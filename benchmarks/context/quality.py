"""How much of what a change needed an answer to its subject line holds.

Trees and questions are made outside of the project: of each question its tree, checked out at the
commit before the change, in a folder named by the question's id.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from benchmarks.context import golds
from benchmarks.context.baselines import BASELINES, Ranker, read
from benchmarks.context.golds import Question
from benchmarks.context.intervals import Interval, difference, mean
from benchmarks.context.product import Product, without_history
from benchmarks.context.scoring import NOTHING, Count, Part, Score, score
from fabricd.core.context.counting import counter

BUDGETS = (2000, 8000, 32_000)
OURS = "engine"
WITHOUT = "engine-without-history"
BASELINE = "bm25-definitions"
MEASURES = ("file", "shown", "line", "function", "named", "first")


class Result(NamedTuple):
    """One answer to one question.

    Attributes:
        used: tokens of the whole answer, counted anew.
        is_over: whether that is more than was allowed.
    """

    system: str
    question: str
    repo: str
    budget: int
    score: Score
    used: int
    is_over: bool
    seconds: float
    index_seconds: float


Results: TypeAlias = list[Result]
_Ask: TypeAlias = Callable[[str, int], tuple[Sequence[Part], int]]


def measured(
    rows: Iterable[Question],
    trees: Path,
    systems: Sequence[str],
    budgets: Sequence[int] = BUDGETS,
    tell: Callable[[str], None] = lambda _: None,
) -> Results:
    """Ask every system every question at every budget. What fails scores nothing."""
    count = counter("o200k").plain
    found: Results = []
    # One state for all trees: files that several have in common are read once.
    with tempfile.TemporaryDirectory(prefix="fabricd-quality-") as state:
        for number, row in enumerate(rows, 1):
            tell(f"{number}: {row.id} {row.query}")
            for system in systems:
                found += _asked(row, trees / row.id, system, budgets, count, Path(state))
    return found


def _asked(
    row: Question, tree: Path, system: str, budgets: Sequence[int], count: Count, state: Path
) -> Results:
    wanted = golds.wanted(row, tree)
    begun = time.perf_counter()
    ask, close = _opened(system, tree, count, state)
    index_seconds = time.perf_counter() - begun
    found: Results = []
    for budget in budgets:
        begun = time.perf_counter()
        parts, used = ask(row.query, budget)
        seconds = time.perf_counter() - begun
        scored = score(wanted, parts, budget, count) if parts else NOTHING
        found.append(
            Result(
                system,
                row.id,
                row.repo,
                budget,
                scored,
                used,
                used > budget,
                seconds,
                index_seconds,
            )
        )
    close()
    return found


def _opened(system: str, tree: Path, count: Count, state: Path) -> tuple[_Ask, Callable[[], None]]:
    if system not in (OURS, WITHOUT):
        return _baseline(BASELINES[system](read(tree), count), count), lambda: None
    copy = tempfile.TemporaryDirectory(prefix="fabricd-tree-")
    if system == WITHOUT:
        tree = without_history(tree, Path(copy.name) / "tree")
    product = Product(state)
    product.index(tree)

    def ask(query: str, budget: int) -> tuple[Sequence[Part], int]:
        answer = product.answer(tree, query, budget)
        return ((), 0) if answer is None else (answer.parts, count(answer.text))

    def close() -> None:
        product.close()
        copy.cleanup()

    return ask, close


def _baseline(ranker: Ranker, count: Count) -> _Ask:
    def ask(query: str, budget: int) -> tuple[Sequence[Part], int]:
        # Its last file is cut by whoever scores, so it is never over.
        parts = ranker(query, budget)
        return parts, min(budget, sum(count(f"\n## {one.path}\n{one.text}") for one in parts))

    return ask


def summary(results: Results, systems: Sequence[str], budgets: Sequence[int]) -> dict[str, Any]:
    """Means of every measure with their intervals, and differences to the strongest baseline."""
    told: dict[str, Any] = {}
    by = {(one.system, one.budget): list[Result]() for one in results}
    for one in results:
        by[one.system, one.budget].append(one)
    for system in systems:
        told[system] = {}
        for budget in budgets:
            these = by[system, budget]
            entry: dict[str, Any] = {
                name: mean(_values(these, name))._asdict() for name in MEASURES
            }
            seconds = sorted(one.seconds for one in these)
            entry |= {
                "over": sum(one.is_over for one in these),
                "used": sum(one.used for one in these) // len(these),
                "p50": seconds[len(seconds) // 2],
                "p95": seconds[len(seconds) * 95 // 100],
            }
            if BASELINE in systems and system != BASELINE:
                base = by[BASELINE, budget]
                entry["above"] = {
                    name: difference(_values(these, name), _values(base, name))._asdict()
                    for name in MEASURES
                }
            told[system][str(budget)] = entry
    return told


def _values(results: Results, name: str) -> list[float | None]:
    return [getattr(one.score, name) for one in results]


def table(told: dict[str, Any]) -> str:
    """The summary as a Markdown table; intervals are of the differences to the baseline."""
    lines = [
        "| system | budget | file | but for references | line | function | named | first | over "
        "| tokens | p50 |",
        "| --- " * 11 + "|",
    ]
    for system, budgets in told.items():
        for budget, entry in budgets.items():
            cells = [f"{entry[name]['mean']:.3f}" for name in MEASURES]
            cells += [str(entry["over"]), str(entry["used"]), f"{entry['p50'] * 1000:.0f} ms"]
            lines.append(f"| {system} | {budget} | {' | '.join(cells)} |")
    lines += ["", f"Above {BASELINE}, question by question (95 %):", ""]
    lines += ["| system | budget | file | line | function |", "| --- " * 5 + "|"]
    for system, budgets in told.items():
        for budget, entry in budgets.items():
            if "above" in entry:
                cells = [_spread(entry["above"][name]) for name in ("file", "line", "function")]
                lines.append(f"| {system} | {budget} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _spread(value: dict[str, float]) -> str:
    one = Interval(value["mean"], value["low"], value["high"], int(value["size"]))
    return f"{one.mean:+.3f} [{one.low:+.3f}, {one.high:+.3f}]"


def main(arguments: Sequence[str]) -> int:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.context quality", description=__doc__
    )
    parser.add_argument("--trees", type=Path, required=True, help="a folder of trees, by id")
    parser.add_argument("--queries", type=Path, required=True, help="the questions, JSON lines")
    parser.add_argument("--limit", type=int, help="so many questions of each repository")
    parser.add_argument("--systems", default=",".join((OURS, WITHOUT, *BASELINES)))
    parser.add_argument("--json", action="store_true", help="one JSON object, with every answer")
    asked = parser.parse_args(arguments)
    systems = asked.systems.split(",")
    rows = golds.questions(asked.queries, asked.limit)
    results = measured(
        rows, asked.trees, systems, tell=lambda line: print(line, file=sys.stderr, flush=True)
    )
    told = summary(results, systems, BUDGETS)
    if asked.json:
        answers = [{**one._asdict(), "score": one.score._asdict()} for one in results]
        print(json.dumps({"summary": told, "answers": answers}, indent=1))
    else:
        print(table(told))
    return 0
