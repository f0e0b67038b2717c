"""What ranking asks of an index: one root's live units at one generation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from fabricd.core.context.model import Analysed

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

    def analysed(self, file: int) -> Analysed:
        """All that is kept of a live file's blob. `parsed.terms` is empty: `hits` tells those."""
        ...

    def prepare(self, files: Iterable[int]) -> None:
        """Say that `analysed` will be asked for these: together they are read sooner."""
        ...

    def changes(self) -> Changes:
        """Git's history of this root."""
        ...
