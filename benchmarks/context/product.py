"""What the engine answers, as a selection that can be scored."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.context.scoring import Part
from fabricd.core.context.asking import Refused
from fabricd.core.context.rendering.pieces import Piece
from fabricd.core.context.rendering.reading import parse_answer
from fabricd.core.steps import finish
from fabricd.daemon.clock import SystemClock
from fabricd.daemon.context.engine import Engine


class Answered(NamedTuple):
    """One answer.

    Attributes:
        used: what the answer says it takes.
        seconds: from the question to the answer, the tree being indexed.
    """

    parts: tuple[Part, ...]
    text: str
    used: int
    seconds: float
    certificate: dict[str, Any]


class Product:
    """The engine with a state of its own, over one tree after another."""

    def __init__(self, state: Path) -> None:
        self._engine = Engine.open(state, SystemClock())

    def close(self) -> None:
        """Let go of the state."""
        self._engine.close()

    def index(self, tree: Path) -> float:
        """Bring the index up to date; gives the seconds that took."""
        begun = time.perf_counter()
        self._ask("index", {"root": str(tree)})
        return time.perf_counter() - begun

    def forget(self, tree: Path) -> None:
        """Drop what is kept of a tree."""
        self._ask("forget", {"root": str(tree)})

    def answer(self, tree: Path, query: str, budget: int) -> Answered | None:
        """Ask; None where nothing in the tree has to do with the query."""
        begun = time.perf_counter()
        try:
            found = self._ask("select", {"root": str(tree), "query": query, "budget": budget})
        except Refused as refused:
            if refused.reason in ("nothing-relevant", "budget-too-small"):
                return None
            raise
        seconds = time.perf_counter() - begun
        text = found["text"]
        parts = parts_of(parse_answer(text).pieces)
        return Answered(parts, text, found["used"], seconds, found["certificate"])

    def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(
            finish(self._engine.ask(method, json.dumps(params).encode()))
        )
        return answer


def parts_of(pieces: Sequence[Piece]) -> tuple[Part, ...]:
    """One part for each file, in the order in which the answer shows them.

    Its text is that of the file's items, and their headers in as few words.
    """
    texts: dict[tuple[str, bool], list[str]] = {}
    for piece in pieces:
        is_reference = piece.shown == "reference"
        header = f"{piece.start}-{piece.end} {piece.kind} {piece.name}"
        lines = texts.setdefault((piece.path, is_reference), [])
        lines.append(header if is_reference else f"@@ {header}")
        lines.extend(piece.lines)
    return tuple(Part(path, "\n".join(lines), is_) for (path, is_), lines in texts.items())


def without_history(tree: Path, copy: Path) -> Path:
    """A copy of a tree's files without git, so that nothing can be told of its past."""
    shutil.copytree(tree, copy, ignore=shutil.ignore_patterns(".git"), symlinks=True)
    return copy
