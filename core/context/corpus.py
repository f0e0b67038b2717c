"""What ranking asks of an index: one root's live units at one generation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fabricd.core.context.model import Analysed, Mentions, Signal, Span, Unit

Ints = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]


class Hits(NamedTuple):
    """Where a term occurs: units in ascending order, and their counts in each of `FIELDS`."""

    units: Ints
    counts: Bytes  # shape (len(units), len(FIELDS))


class FileFacts(NamedTuple):
    """A live file: its place, its blob, and what git tells of it."""

    path: str
    blob: int
    language: str
    units: int
    first_unit: int


class UnitFacts(Struct, frozen=True, array_like=True):
    """What is kept of a unit, each member as in `Analysed`."""

    unit: Unit
    tokens: tuple[int, int, int]
    mentions: Mentions = Mentions()
    digest: bytes = b""
    sketch: bytes = b""


class Units(Protocol):
    """The units of a file, in order. What is raised where a corpus is asked is raised here too."""

    def __getitem__(self, number: int, /) -> UnitFacts:
        """The unit of a number."""
        ...

    def __iter__(self) -> Iterator[UnitFacts]:
        """All of them."""
        ...


class Indexed(NamedTuple):
    """What is kept of a live file's content; its terms are told by `Corpus.hits`.

    Attributes:
        lines: how many lines the text has.
        units: one is made when it is asked for: of most files one or two are.
    """

    lines: int
    spans: Sequence[Span]
    signals: Sequence[Signal]
    units: Units


class Changes(NamedTuple):
    """What git's history tells, through HEAD only. Empty without git.

    Attributes:
        age: for each file index the number of commits since it last changed, as far as was read.
        times: for each file index the commits that touched it.
        subjects: of each commit that was read, newest first: its subject and the indices of live
            files it touched (commits that touched more than 30 are left out).
    """

    age: dict[int, int]
    times: dict[int, int]
    subjects: Sequence[tuple[str, tuple[int, ...]]]


class Corpus(Protocol):
    """Units are numbered 0… by path (code points), then line. All of it is this root's alone."""

    @property
    def files(self) -> Sequence[FileFacts]:
        """Live files by path."""
        ...

    @property
    def file_of(self) -> Ints:
        """For each unit the index of its file."""
        ...

    @property
    def lengths(self) -> Ints:
        """For each unit its number of terms in each of `FIELDS`."""
        ...

    def hits(self, term: str) -> Hits:
        """Where a term occurs."""
        ...

    def defining(self, names: Iterable[str]) -> Mapping[str, Ints]:
        """Of names the units whose simple name it is, exactly, case and all, ascending.

        Names that no unit has are left out.
        """
        ...

    def indexed(self, file: int) -> Indexed:
        """What is kept of a live file's content."""
        ...

    def prepare(self, files: Iterable[int]) -> None:
        """Say that `indexed` will be asked for these: together they are read sooner."""
        ...

    def changes(self) -> Changes:
        """Git's history of this root."""
        ...


def units_of(analysed: Analysed) -> list[UnitFacts]:
    """What is kept of each unit."""
    parsed = analysed.parsed
    columns = (
        parsed.units,
        analysed.tokens,
        parsed.mentions,
        parsed.digests,
        parsed.sketches,
    )
    return [UnitFacts(*row) for row in zip(*columns, strict=True)]
