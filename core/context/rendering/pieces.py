"""What an answer consists of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from fabricd.core.context.asking import Tokenizer
from fabricd.core.context.model import Lines

Shown: TypeAlias = Literal["full", "skeleton", "opening", "reference"]

_GAP = re.compile(r"\s*… ([0-9]{1,9}) lines?\Z")


class Piece(Struct, frozen=True):
    """An item, or the opening lines of a container whose member is one.

    Attributes:
        within: the qualified name of what it stands in; of full items and openings alone.
        part: (k, n) of the k-th of n blocks of a definition; else (0, 0).
        n: its number; 0 of opening lines.
        signal: whether its lines hold text that addresses an assistant; never of a reference.
        lines: its text; none of a reference. Full items and openings have each line of `start` to
            `end`.
        same_as: of a reference to a duplicate, the path and lines of what has the same text.
    """

    path: str
    start: int
    end: int
    kind: str
    name: str
    shown: Shown
    within: str = ""
    part: tuple[int, int] = (0, 0)
    n: int = 0
    signal: bool = False
    lines: tuple[str, ...] = ()
    same_as: tuple[str, Lines] | None = None


class Counts(Struct, frozen=True):
    """How many units are given at which level, and how many are not."""

    full: int
    skeleton: int
    reference: int
    omitted: int


class Trailer(Struct, frozen=True):
    """The last line of an answer."""

    receipt: str
    used: int
    budget: int
    tokenizer: Tokenizer
    counts: Counts


def renumbered(piece: Piece, n: int) -> Piece:
    """The same piece with another number."""
    return replace(piece, n=n)


def length_of(lines: Sequence[str], start: int, span: int) -> int | None:
    """How many lines from index `start` on are a skeleton of `span` lines of a file.

    A line of the file counts as one, `… N lines` as N. None where no count comes out even: a kept
    line that reads like a gap makes a skeleton uncountable, and such a one is never given.
    """
    told = 0
    for index in range(start, len(lines)):
        gap = _GAP.match(lines[index])
        told += int(gap[1]) if gap else 1
        if told >= span:
            return index + 1 - start if told == span else None
    return None


def is_countable(lines: Sequence[str], span: int) -> bool:
    """Whether a skeleton can be told from what follows it by counting."""
    return length_of(lines, 0, span) == len(lines)
