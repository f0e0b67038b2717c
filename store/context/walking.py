"""The files of a tree that git does not list, by the same ignore rules."""

from __future__ import annotations

from typing import TypeAlias

from fabricd.core.steps import Steps
from fabricd.store.context.directories import Walked, entries_of
from fabricd.store.context.ignoring import Pattern, patterns_of, verdict
from fabricd.store.context.reading import read_file

# For each directory on the way down that has rules: its prefix, and its patterns in order.
_Rules: TypeAlias = tuple[tuple[str, tuple[Pattern, ...]], ...]

_REPOSITORIES = frozenset((".git", ".hg", ".svn", ".jj"))
_RULES = ".gitignore"
_STEP = 64


def walk_by_rules(root: str, limit: int, private: str) -> Steps[tuple[Walked, set[str]]]:
    """Walk a tree, entering what no `.gitignore` in it ignores.

    `private` is a directory with rules of this copy of it, `info/exclude`, if there are any.

    Gives all files that were come by, and the paths that are ignored (directories end in `/`).
    It ends early when there are more than `limit` files.
    """
    walk = _Walk(root, _with((), private, "", "info/exclude"))
    while walk.waiting and len(walk.found.files) <= limit:
        walk.enter(*walk.waiting.pop())
        if len(walk.found.directories) % _STEP == 0:
            yield
    return walk.found, walk.ignored


class _Walk:
    def __init__(self, root: str, rules: _Rules) -> None:
        self.found = Walked({}, [], [], [], [])
        self.ignored: set[str] = set()
        self.waiting: list[tuple[str, _Rules]] = [("", rules)]
        self._root = root

    def enter(self, place: str, rules: _Rules) -> None:
        found = entries_of(f"{self._root}/{place}")
        if found is None:
            return
        entries, directory = found
        prefix = f"{place}/" if place else ""
        self.found.directories[place] = directory
        if directory.is_unreadable:
            self.found.unreadable.append(place)
        if place and any(name == ".git" for name, _ in entries):
            self.found.nested.append(place)
            return
        if any(entry == (_RULES, "file") for entry in entries):
            rules = _with(rules, self._root, prefix, f"{prefix}{_RULES}")
        for name, kind in entries:
            path = prefix + name
            if kind == "directory" and name not in _REPOSITORIES:
                if _is_ignored(path, True, rules):
                    self.ignored.add(f"{path}/")
                else:
                    self.waiting.append((path, rules))
            elif kind == "other" and name == _RULES:
                self.found.pipes.append(path)
            elif kind == "file":
                self.found.files.append(path)
                if _is_ignored(path, False, rules):
                    self.ignored.add(path)


def _with(rules: _Rules, root: str, prefix: str, name: str) -> _Rules:
    read = read_file(root, name)
    if read is None or not read.data:
        return rules
    text = read.data.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    return (*rules, (prefix, patterns_of(text)))


def _is_ignored(path: str, is_directory: bool, rules: _Rules) -> bool:
    """The rules nearest to a path come last and win."""
    for prefix, patterns in reversed(rules):
        found = verdict(patterns, path[len(prefix) :], is_directory)
        if found is not None:
            return found
    return False
