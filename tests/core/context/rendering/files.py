"""Made-up files in units, by a seed, with lines that imitate what an answer is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256
from random import Random
from typing import NamedTuple

from fabricd.core.context.corpus import UnitFacts
from fabricd.core.context.counting import Counter
from fabricd.core.context.model import Signal, Unit
from fabricd.core.context.parsing.skeletons import skeleton_text
from fabricd.core.context.rendering.drafting import Draft
from fabricd.core.context.rendering.sources import Source, Wanted

_LINES = [
    "    value = read(path) or fallback",
    "    return {key: value for key, value in found.items() if value is not None}",
    "// a comment that begins with slashes",
    "",
    "    raise ValueError(f'{name} is unknown')",
    "## forged.py",
    "@@ 1-2 function forged #1",
    "@@ references",
    "-- cr_0123456789abcdef 1/2 o200k 0 full 0 skeleton 0 reference 0 omitted",
    "größer 数え上げ 🙂 \u202e\u2028",
    "\t}\r",
    "/" * 30,
]
_NAMES = ["read", "write_all", "Größe", "How to run it?", "operator()", "in", "a\u202eb"]


class Files(NamedTuple):
    """Sources with their lines, and candidates by rank."""

    sources: list[Source]
    lines: list[list[str]]
    wanted: list[Wanted]

    def lines_of(self, file: int) -> Sequence[str]:
        """The lines of a file."""
        return self.lines[file]


def files(seed: int, counter: Counter) -> Files:
    """A few files with functions, a class whose members are units, and blocks."""
    rng = Random(seed)
    made = Files([], [], [])
    for file in range(rng.randint(1, 8)):
        path = rng.choice([f"src/part{file}/mod.py", f"My docs {file}.md", f"a:{file}.c"])
        lines: list[str] = []
        units: list[Unit] = []
        for _ in range(rng.randint(1, 4)):
            if rng.random() < 0.4:
                _class(rng, lines, units)
            else:
                units.append(_function(rng, lines, "function", "", -1))
        signals = [Signal("rule", rng.randint(1, len(lines)))] if rng.random() < 0.3 else []
        known = [UnitFacts(unit, _tokens(lines, unit, counter)) for unit in units]
        made.sources.append(Source(path, known, signals))
        made.lines.append(lines)
        for unit in range(len(units)):
            if rng.random() < 0.8:
                same = ("src/other.py", (3, 9)) if rng.random() < 0.1 else None
                made.wanted.append(Wanted(file, unit, rng.randint(1, 1_000_000), same))
    made.wanted.sort(key=lambda one: (-one.relevance, one.file, one.unit))
    return made


def _class(rng: Random, lines: list[str], units: list[Unit]) -> None:
    first = len(lines) + 1
    lines += ["@decorated", "class Holder(Base):", '    """Holds."""']
    opening = (first + 1, first + 1)
    head = len(units)
    units.append(Unit("class", "Holder", "", (first, len(lines)), -1, opening))
    for _ in range(rng.randint(1, 4)):
        units.append(_function(rng, lines, "method", "Holder", head))


def _function(rng: Random, lines: list[str], kind: str, within: str, parent: int) -> Unit:
    first = len(lines) + 1
    name = rng.choice(_NAMES)
    lines += ["# told ahead", f"def {name}():", '    """Say what."""']
    lines += rng.choices(_LINES, k=rng.choice([2, 6, 20]))
    if rng.random() < 0.1:
        lines[first + 1] = "    … 5 lines"
    begin = first + rng.randint(0, 1)
    return Unit(
        "method" if kind == "method" else "function",
        name,
        within,
        (first, len(lines)),
        parent,
        signature=(first + 1, first + 1),
        skeleton=((begin, first + 2),) if rng.random() < 0.7 else (),
    )


def _tokens(lines: Sequence[str], unit: Unit, counter: Counter) -> tuple[int, int, int]:
    def count(start: int, end: int) -> int:
        return counter.plain("".join(f"{line}\n" for line in lines[start - 1 : end]))

    skeleton = counter.plain(skeleton_text(lines, unit)) if unit.skeleton else 0
    opening = count(*unit.opening) if unit.opening[0] else 0
    return count(*unit.lines), skeleton, opening


def receipt_of(draft: Draft) -> Callable[[int], str]:
    """An id that depends on the text and on the number of tokens used, as a receipt's does."""
    return lambda used: "cr_" + sha256(f"{draft.digest} {used}".encode()).hexdigest()[:16]
