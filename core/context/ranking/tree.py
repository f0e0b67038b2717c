"""What the paths of a tree tell, worked out once for each tree."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from fabricd.core.context.ranking.kinds import PathKind, kind_of, subject_of
from fabricd.core.context.terms import terms_of

_Numbers = npt.NDArray[np.int64]
_NONE: _Numbers = np.zeros(0, np.int64)

# A path that more files than this may be meant by tells of none.
_MEANT = 5


class Tree:
    """The files of a tree by what their paths say.

    Attributes:
        kinds: of each file.
        subjects: of each file the terms of what it is about, by its name.
        is_test: of each file.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = paths
        self.kinds: list[PathKind] = [kind_of(path) for path in paths]
        self.subjects = [_subject_terms(path) for path in paths]
        self.is_test = np.array([kind == "test" for kind in self.kinds], bool)
        self._by_term: dict[str, list[int]] = {}
        self._by_name: dict[str, list[int]] = {}
        for number, path in enumerate(paths):
            for term in _path_terms(path):
                self._by_term.setdefault(term, []).append(number)
            self._by_name.setdefault(path.rpartition("/")[2], []).append(number)

    def naming(self, term: str) -> _Numbers:
        """The files whose path has a term, ascending."""
        found = self._by_term.get(term)
        return np.array(found, np.int64) if found else _NONE

    def called(self, path: str) -> list[int]:
        """The files whose path ends with one, if they are few."""
        near = self._by_name.get(path.rpartition("/")[2], [])
        inside = [number for number in near if f"/{self.paths[number]}".endswith(f"/{path}")]
        return inside if len(inside) <= _MEANT else []

    def meant(self, path: str) -> list[int]:
        """The files that a path may mean: the end of theirs, or theirs the longest end of it."""
        whole = f"/{path}"
        near = self._by_name.get(path.rpartition("/")[2], [])
        if any(f"/{self.paths[number]}".endswith(whole) for number in near):
            return self.called(path)
        around = [
            (len(self.paths[number]), number)
            for number in near
            if whole.endswith(f"/{self.paths[number]}")
        ]
        return [number for size, number in around if size == max(around)[0]]


@lru_cache(maxsize=4)
def tree_of(paths: tuple[str, ...]) -> Tree:
    """The tree of some paths; the same for the same paths."""
    return Tree(paths)


@lru_cache(maxsize=1 << 15)
def _subject_terms(path: str) -> frozenset[str]:
    return frozenset(terms_of(subject_of(path)))


@lru_cache(maxsize=1 << 15)
def _path_terms(path: str) -> frozenset[str]:
    """The terms of a path without its suffix."""
    folder, slash, name = path.rpartition("/")
    stem, dot, _ = name.rpartition(".")
    return frozenset(terms_of(f"{folder}{slash}{stem if dot and stem else name}"))
