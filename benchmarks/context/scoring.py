"""How much of what was needed a selection holds, whoever made it.

A selection is parts in order, each text of a file. It is written as `## path` and the text, counted
in o200k, and cut at the budget whatever its maker believed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from benchmarks.context.golds import Wanted, normal

Count = Callable[[str], int]


class Part(NamedTuple):
    """Text of a file; a reference names its file and shows nothing of it."""

    path: str
    text: str
    is_reference: bool = False


class Score(NamedTuple):
    """Shares from 0 to 1; None where there was nothing of the kind to find.

    Attributes:
        file: of the files, those that are present at all.
        shown: those of which more than a reference is.
        line: of the changed lines.
        function: of the definitions around them, those of which 80 % of the lines are there.
        named: those whose first line is there.
        first: one by the place of the first needed file among the files.
        tokens: of the selection before it was cut.
    """

    file: float
    shown: float
    line: float | None
    function: float | None
    named: float | None
    first: float
    tokens: int


NOTHING = Score(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0)


def score(wanted: Sequence[Wanted], parts: Sequence[Part], budget: int, count: Count) -> Score:
    """Score a selection."""
    kept = _cut(parts, budget, count)
    order = list(dict.fromkeys(part.path for part in kept))
    shown = {part.path for part in kept if not part.is_reference}
    have: dict[str, set[str]] = {path: set() for path in order}
    for part in kept:
        have[part.path].update(map(normal, part.text.split("\n")))
    lines = functions = lines_found = whole = named = 0
    for one in wanted:
        here = have.get(one.path, set[str]())
        lines += len(one.lines)
        lines_found += sum(line in here for line in one.lines)
        functions += len(one.functions)
        named += sum(head in here for head, _ in one.functions)
        whole += sum(
            sum(line in here for line in body) >= 0.8 * len(body) for _, body in one.functions
        )
    paths = {one.path for one in wanted}
    first = next((1 / place for place, path in enumerate(order, 1) if path in paths), 0.0)
    return Score(
        len(paths & have.keys()) / len(paths),
        len(paths & shown) / len(paths),
        lines_found / lines if lines else None,
        whole / functions if functions else None,
        named / functions if functions else None,
        first,
        sum(count(_written(part.path, part.text)) for part in parts),
    )


def _written(path: str, text: str) -> str:
    return f"\n## {path}\n{text}"


def _cut(parts: Sequence[Part], budget: int, count: Count) -> list[Part]:
    kept: list[Part] = []
    left = budget
    for part in parts:
        size = count(_written(part.path, part.text))
        if size > left:
            text = _beginning(part, left, count)
            return [*kept, part._replace(text=text)] if text else kept
        kept.append(part)
        left -= size
    return kept


def _beginning(part: Part, left: int, count: Count) -> str:
    """As many of its lines as fit."""
    lines = part.text.split("\n")
    least, most = 0, len(lines)
    while least < most:
        middle = (least + most + 1) // 2
        if count(_written(part.path, "\n".join(lines[:middle]))) <= left:
            least = middle
        else:
            most = middle - 1
    return "\n".join(lines[:least])
