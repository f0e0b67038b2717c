"""What a handle, a path, lines of it or a symbol mean in a tree as it is now."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

from fabricd.core.context.asking import Refused
from fabricd.core.context.model import Unit
from fabricd.core.context.pointing import case_of, is_called, plain
from fabricd.core.context.ranking.ranked import Candidate
from fabricd.core.context.receipt import handle_of, is_id
from fabricd.core.plain import counted
from fabricd.daemon.context.answering import Choice, shown_path
from fabricd.store.context.corpus import StoredCorpus
from fabricd.store.context.reading import is_forbidden
from fabricd.store.context.receipts import ReceiptStore
from fabricd.store.context.snapshot import Snapshot

_RANGE = re.compile(r"(.+):([0-9]{1,9})(?:-([0-9]{1,9}))?")
_MILLION = 1_000_000
# Units that are named at once; of a larger file the first of them, and references to no more.
_MOST = 300
_MOST_CHOICES = 12


def named(what: str, snapshot: Snapshot, receipts: ReceiptStore) -> Choice:
    """The units that are meant.

    Raises:
        Refused: `usage`, `unknown`, `forbidden` or `ambiguous`; of a handle also as the receipts
            say.
    """
    if not what.strip():
        raise Refused("usage", "say what is meant: a handle, a path, path:a-b, or a symbol")
    if is_id(what):
        raise Refused("unknown", f"{what} is a receipt; its items are {what}#1 and so on")
    found = _Naming(snapshot, receipts).units(what)
    corpus = snapshot.corpus()
    files = [int(corpus.file_of[unit]) for unit in found]
    candidates = [
        Candidate(unit, file, _MILLION, {}) for unit, file in zip(found, files, strict=True)
    ][:_MOST]
    total = len(corpus.file_of)
    return Choice(
        candidates, tuple(dict.fromkeys(files)), total - len(found), len(found) - len(candidates), 0
    )


def _require_range(what: str, first: int, last: int) -> None:
    """Refuse lines that cannot be: what is meant by them is anybody's guess."""
    if not first or not last:
        raise Refused("usage", f"{what!r:.200} is no place: the first line is 1")
    if first > last:
        words = f"its first line is {first} and its last {last}; a range is path:first-last"
        raise Refused("usage", f"{what!r:.200} runs backwards: {words}")


def _lines(first: int, last: int, one: str, many: str) -> str:
    return f"line {first} {one}" if first == last else f"lines {first}-{last} {many}"


class _Naming:
    def __init__(self, snapshot: Snapshot, receipts: ReceiptStore) -> None:
        self._snapshot = snapshot
        self._corpus: StoredCorpus = snapshot.corpus()
        self._receipts = receipts

    def units(self, what: str) -> list[int]:
        if handle_of(what) is not None:
            return self._of_handle(what)
        file = self._file(what)
        if file is not None:
            return self._of_lines(file, 1, 2**31)
        if (case := case_of(what)) is not None and (file := self._file(case[0])) is not None:
            return self._of_name(file, case[1], what)
        what = plain(what)
        lines = _RANGE.fullmatch(what)
        if lines is not None and (file := self._file(lines[1])) is not None:
            first, last = int(lines[2]), int(lines[3] or lines[2])
            _require_range(what, first, last)
            return self._of_lines(file, first, last)
        return self._of_symbol(what)

    def _of_handle(self, handle: str) -> list[int]:
        """What the item is now: the unit of the same name, where it has moved; else its lines."""
        item = self._receipts.recover(handle, self._snapshot.root).item
        file = self._file(item.path)
        if file is None:
            raise Refused("gone", f"{item.path} is not in the index any more; recover {handle}")
        named = [
            unit
            for unit, one in self._units(file)
            if item.name and (one.kind, one.qualified) == (item.kind, item.name)
        ]
        if not named:
            return self._of_lines(file, item.start, item.end)
        here = [unit for unit in named if self._unit(unit).lines[0] == item.start]
        return here[:1] or named

    def _of_lines(self, file: int, first: int, last: int) -> list[int]:
        found = [
            unit
            for unit, one in self._units(file)
            if one.lines[0] <= last and first <= one.lines[1]
        ]
        if not found:
            raise Refused("unknown", self._nothing(file, first, last))
        return found

    def _nothing(self, file: int, first: int, last: int) -> str:
        """Why there is nothing in these lines: units cover every line that is not blank."""
        path = shown_path(self._corpus.files[file].path)
        there = self._corpus.indexed(file).lines
        if not there:
            return f"{path} is empty"
        if first > there:
            has = counted(there, "line", "lines")
            return f"{path} has {has}; {_lines(first, last, 'lies', 'lie')} beyond its end"
        return f"{_lines(first, min(last, there), 'is', 'are')} blank in {path}"

    def _of_name(self, file: int, name: str, what: str) -> list[int]:
        found = [unit for unit, one in self._units(file) if is_called("", one.qualified, name)]
        if not found:
            raise Refused("unknown", f"no unit of that file is called {what!r:.200}")
        return found

    def _of_symbol(self, what: str) -> list[int]:
        self._require_no_path(what)
        *_, simple = re.split(r"::|[.#]", what)
        found = [
            unit
            for unit in map(int, self._corpus.defining((simple,)).get(simple, ()))
            if is_called(self._path(unit), self._unit(unit).qualified, what)
        ]
        if not found:
            raise Refused("unknown", f"no handle, path or symbol of this tree is {what!r:.200}")
        if len(found) > 1:
            raise Refused("ambiguous", self._choices(what, found))
        return found

    def _choices(self, what: str, found: Sequence[int]) -> str:
        told = [self._told(unit) for unit in found[:_MOST_CHOICES]]
        more = f"; and {len(found) - len(told)} more" if len(found) > len(told) else ""
        return f"{len(found)} units are called {what}: {'; '.join(told)}{more}"

    def _told(self, unit: int) -> str:
        one = self._unit(unit)
        first, last = one.lines
        return f"{shown_path(self._path(unit))}:{first}-{last} {one.kind} {one.qualified}"

    def _file(self, path: str) -> int | None:
        """The index of a live file; a path may be absolute or begin with `./`."""
        root = self._snapshot.root
        plain = os.path.normpath(os.path.join(root, path))
        inside = os.path.relpath(plain, root) if plain.startswith(root + "/") else None
        for number, facts in enumerate(self._corpus.files):
            if facts.path in (path, inside) or shown_path(facts.path) == path:
                return number
        # The end of a path will do where it is the end of one alone.
        ends = [
            number
            for number, facts in enumerate(self._corpus.files)
            if "." in path and facts.path.endswith(f"/{path}")
        ]
        return ends[0] if len(ends) == 1 else None

    def _require_no_path(self, what: str) -> None:
        """A path that is no live file is refused by what it is."""
        path = (found[1] if (found := _RANGE.fullmatch(what)) is not None else what).strip()
        root = self._snapshot.root
        whole = os.path.normpath(os.path.join(root, path))
        if not os.path.lexists(whole):
            return
        if whole != root and not whole.startswith(root + "/"):
            raise Refused("forbidden", f"{path!r:.200} lies outside {root}")
        if os.path.realpath(whole) != whole or is_forbidden(whole):
            raise Refused("forbidden", f"{path!r:.200} is not shown, by policy")
        if os.path.isfile(whole):
            raise Refused("unknown", f"{path!r:.200} is not indexed: ignored, too large or no text")
        if os.path.isdir(whole):
            raise Refused("unknown", self._directory(whole))

    def _directory(self, whole: str) -> str:
        inside = (
            ""
            if whole == self._snapshot.root
            else f"{os.path.relpath(whole, self._snapshot.root)}/"
        )
        paths = [facts.path for facts in self._corpus.files if facts.path.startswith(inside)]
        held = counted(len(paths), "file", "files")
        cure = (
            f"name one, as {shown_path(paths[0])}, or select below it" if paths else "name another"
        )
        return f"{shown_path(inside or '.')} is a directory with {held} in the index: {cure}"

    def _units(self, file: int) -> Iterable[tuple[int, Unit]]:
        facts = self._corpus.files[file]
        units = [one.unit for one in self._corpus.indexed(file).units]
        return enumerate(units, facts.first_unit)

    def _path(self, unit: int) -> str:
        return self._corpus.files[int(self._corpus.file_of[unit])].path

    def _unit(self, unit: int) -> Unit:
        file = int(self._corpus.file_of[unit])
        first = self._corpus.files[file].first_unit
        return self._corpus.indexed(file).units[unit - first].unit
