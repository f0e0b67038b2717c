"""A corpus in memory, made of texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from fabricd.core.context.analysing import analyse
from fabricd.core.context.corpus import Changes, FileFacts, Hits, Indexed, Ints, units_of
from fabricd.core.context.languages import language_of
from fabricd.core.context.model import FIELDS, Analysed, Guarded
from fabricd.core.context.ranking.ranked import Ranked, rank

NO_CHANGES = Changes({}, {}, ())


class MemoryCorpus:
    """The units of some texts by path; `commits`, newest first, are subjects and paths."""

    def __init__(
        self, texts: Mapping[str, str], commits: Sequence[tuple[str, Sequence[str]]] = ()
    ) -> None:
        self.paths = sorted(texts)
        self._analysed = [_analysed(path, texts[path]) for path in self.paths]
        self._terms: dict[str, list[tuple[int, tuple[int, ...]]]] = {}
        self._names: dict[str, list[int]] = {}
        files: list[FileFacts] = []
        owners: list[int] = []
        lengths: list[list[int]] = []
        for file, (path, analysed) in enumerate(zip(self.paths, self._analysed, strict=True)):
            parsed = analysed.parsed
            files.append(FileFacts(path, file, analysed.language, len(parsed.units), len(owners)))
            for unit, terms in zip(parsed.units, parsed.terms, strict=True):
                for term, counts in terms.items():
                    self._terms.setdefault(term, []).append((len(owners), counts))
                if unit.name:
                    self._names.setdefault(unit.name, []).append(len(owners))
                lengths.append([sum(counts[k] for counts in terms.values()) for k in range(4)])
                owners.append(file)
        self._files = files
        self._file_of = np.array(owners, np.int32)
        self._lengths = np.array(lengths, np.int32).reshape(-1, len(FIELDS))
        self._changes = _changes(self.paths, commits)

    @property
    def files(self) -> Sequence[FileFacts]:
        return self._files

    @property
    def file_of(self) -> Ints:
        return self._file_of

    @property
    def lengths(self) -> Ints:
        return self._lengths

    def hits(self, term: str) -> Hits:
        found = self._terms.get(term, [])
        units = np.array([unit for unit, _ in found], np.int32)
        counts = np.array([counts for _, counts in found], np.uint8)
        return Hits(units, counts.reshape(-1, len(FIELDS)))

    def defining(self, names: Iterable[str]) -> dict[str, Ints]:
        known = self._names
        return {name: np.array(known[name], np.int32) for name in names if name in known}

    def indexed(self, file: int) -> Indexed:
        one = self._analysed[file]
        return Indexed(one.parsed.lines, one.spans, one.signals, units_of(one))

    def prepare(self, files: Iterable[int]) -> None:
        """Everything is in memory."""

    def changes(self) -> Changes:
        return self._changes

    def shown(self, unit: int) -> str:
        """`path:qualified name`, or the first line of what has none."""
        file = int(self._file_of[unit])
        one = self._analysed[file].parsed.units[unit - self._files[file].first_unit]
        return f"{self.paths[file]}:{one.qualified or one.lines[0]}"


def ranked(corpus: MemoryCorpus, query: str, paths: Sequence[str] = ()) -> list[str]:
    """The candidates of a query, as `MemoryCorpus.shown` says them."""
    return [corpus.shown(one.unit) for one in rank(corpus, query, paths).candidates]


def features(corpus: MemoryCorpus, found: Ranked, name: str) -> dict[str, int]:
    """What the candidate with this name is made of."""
    return next(one.features for one in found.candidates if corpus.shown(one.unit) == name)


def _analysed(path: str, text: str) -> Analysed:
    language = language_of(path, text.encode())
    assert language is not None
    return analyse(Guarded(text), language, lambda piece: len(piece.split()))


def _changes(paths: Sequence[str], commits: Sequence[tuple[str, Sequence[str]]]) -> Changes:
    number = {path: index for index, path in enumerate(paths)}
    age: dict[int, int] = {}
    count: dict[int, int] = {}
    subjects: list[tuple[str, tuple[int, ...]]] = []
    for past, (subject, touched) in enumerate(commits):
        files = tuple(number[path] for path in touched)
        for file in files:
            age.setdefault(file, past)
            count[file] = count.get(file, 0) + 1
        subjects.append((subject, files))
    return Changes(age, count, subjects)
