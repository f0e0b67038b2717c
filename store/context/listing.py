"""Which files a tree has: those git knows or would add; without git, by the same ignore rules."""

from __future__ import annotations

import os
import stat
import time
from collections import Counter
from collections.abc import Collection, Iterable
from typing import NamedTuple

from fabricd.core.steps import Steps
from fabricd.store.context.directories import Directory, Rules, Walked, are_same, walk
from fabricd.store.context.git import Asked, GitFailed, Place, ask
from fabricd.store.context.reading import is_forbidden
from fabricd.store.context.walking import walk_by_rules

LARGEST = 200_000
RULES = ".gitignore"
_ATTEMPTS = 3
_CONFIG = ("config", "-z", "--show-origin")
# Settings that name a file by which git goes; git tells names in lower case.
_NAMING = r"^(core\.excludesfile|include\.path|includeif\..*\.path)$"


class TooMany(Exception):
    """A tree has more files than can be indexed."""


class Listing(NamedTuple):
    """The files of a tree at a moment.

    Attributes:
        files: by path, sorted, links among them; none lies in a directory that is a link.
        nested: other repositories in this tree, whose files are none of it.
        unreadable: directories that may not be read.
        ignored: how much is ignored, by top directory (of files at the top: the empty name); what
            lies in an ignored directory counts as one.
        forbidden: files that are left alone for their names, those that are ignored among them.
        pipes: of the name of ignore rules; git waits for ever for what they say.
        warnings: what went wrong on the way.
        git_dir: of the git that was asked; empty where the rules were read without it.
        directories, rules, is_certain: what `is_current` goes by.
    """

    root: str
    files: list[str]
    nested: list[str]
    unreadable: list[str]
    ignored: dict[str, int]
    forbidden: list[str]
    pipes: list[str]
    warnings: tuple[str, ...]
    git_dir: str
    directories: dict[str, Directory]
    rules: Rules
    is_certain: bool

    def is_current(self) -> bool:
        """Whether a new listing of the same kind would hold the same files.

        One that was made without git because git failed never is: git may know better again.
        """
        return self.is_certain and self.rules.are_same() and are_same(self.root, self.directories)


def listed(place: Place, before: Listing | None = None) -> Steps[Listing]:
    """List a tree; `before` is how it was listed last.

    Raises:
        TooMany.
    """
    if not place.git_dir:
        return (yield from _by_rules(place, place.warning))
    pipes = [RULES, *(before.pipes if before is not None else ())]
    rules = [f"{place.common_dir}/info/exclude", *(f"{place.root}/{path}" for path in pipes)]
    if any(map(_is_pipe, rules)):
        return (yield from _by_rules(place, f"a {RULES} is no file; listed without git"))
    try:
        return (yield from _by_git(place))
    except GitFailed as failure:
        return (yield from _by_rules(place, f"{failure}; listed without git"))


def _is_pipe(path: str) -> bool:
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))


class _Told(NamedTuple):
    """What git told and a walk found just after; `is_certain`: the rules are surely those it had.

    Attributes:
        known, ignored: paths; directories end in `/`.
    """

    known: set[str]
    ignored: set[str]
    walked: Walked
    rules: Rules
    is_certain: bool

    @property
    def is_complete(self) -> bool:
        """Whether git told of all files; one that it did not appeared after it had looked."""
        return self.known.union(self.ignored).issuperset(self.walked.files)


def _by_git(place: Place) -> Steps[Listing]:
    settings = yield from _settings(place)
    told = yield from _look(place.root, settings)
    is_complete = told.is_complete
    for _ in range(_ATTEMPTS - 1):
        if is_complete:
            break
        before, told = told, (yield from _look(place.root, settings))
        # If it tells the same once more, it has its reasons.
        is_complete = told.is_complete or told[:2] == before[:2]
    known, ignored, walked, rules, is_certain = told
    files = known.intersection(walked.files)
    files.update(_spelt_otherwise(place.root, known - files, walked.directories))
    return Listing(
        place.root,
        sorted(files),
        sorted(walked.nested),
        sorted(walked.unreadable),
        _by_top(ignored),
        sorted(filter(is_forbidden, walked.files)),
        [],
        (),
        place.git_dir,
        walked.directories,
        rules,
        is_complete and is_certain,
    )


def _look(root: str, settings: list[str]) -> Steps[_Told]:
    moment = time.time_ns()
    rules = Rules(settings)
    known, ignored = yield from _told(root)
    walked = yield from _walk_told(root, known, ignored)
    is_certain = rules.add(_rules_in(root, walked.files), moment)
    return _Told(known, ignored, walked, rules, is_certain)


def _told(root: str) -> Steps[tuple[set[str], set[str]]]:
    """What git lists and what it ignores; the two questions are answered side by side."""
    question = ("ls-files", "-z", "--others", "--exclude-standard")
    files = Asked(root, *question, "--cached")
    try:
        ignoring = Asked(root, *question, "--ignored", "--directory")
        try:
            known = _split((yield from files.answer()))
            if len(known) > LARGEST:
                raise TooMany(f"it has more than {LARGEST:,} files")
            return known, _outermost(_split((yield from ignoring.answer())))
        finally:
            ignoring.stop()
    finally:
        files.stop()


def _split(told: bytes) -> set[str]:
    paths = set(os.fsdecode(told).split("\0"))
    paths.discard("")
    return paths


def _outermost(ignored: set[str]) -> set[str]:
    """Without directories that are not ignored themselves: git names what lies in those too."""
    ordered = sorted(ignored)
    pairs = zip(ordered, [*ordered[1:], ""], strict=False)
    return {path for path, after in pairs if not (path.endswith("/") and after.startswith(path))}


def _walk_told(root: str, known: set[str], ignored: set[str]) -> Steps[Walked]:
    # A directory that git lists as if it were a file is another repository.
    leaves = {path.rstrip("/") for path in known}
    skipped = {path[:-1] for path in ignored if path.endswith("/")}
    needed: set[str] = set()
    for path in known:
        parent = path.rstrip("/").rpartition("/")[0]
        while parent and parent not in needed:
            needed.add(parent)
            parent = parent.rpartition("/")[0]
    return (yield from walk(root, skipped, leaves, needed))


def _spelt_otherwise(
    root: str, known: Iterable[str], directories: Collection[str]
) -> Iterable[str]:
    """Files that are there under another spelling of their names, as on some file systems."""
    for path in known:
        if path.rpartition("/")[0] in directories and not path.endswith("/"):
            whole = f"{root}/{path}"
            if os.path.lexists(whole) and not os.path.isdir(whole):
                yield path


def _settings(place: Place) -> Steps[list[str]]:
    home = os.environ.get("HOME", "")
    own = os.environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
    paths = [
        f"{place.git_dir}/index",
        f"{place.git_dir}/HEAD",
        f"{place.git_dir}/config.worktree",
        f"{place.common_dir}/config",
        f"{place.common_dir}/info/exclude",
        f"{home}/.gitconfig",
        f"{own}/git/config",
        f"{own}/git/ignore",
        "/etc/gitconfig",
    ]
    # Files that include one another: where each setting stands, but not what it is.
    try:
        told = yield from ask(place.root, *_CONFIG, "--name-only", "--list")
        paths += _origins(place.root, _pairs(told))
        told = yield from ask(place.root, *_CONFIG, "--path", "--get-regexp", _NAMING)
    except GitFailed:
        return list(dict.fromkeys(paths))
    for origin, setting in _pairs(told):
        name, _, value = setting.partition("\n")
        files = _origins(place.root, [(origin, name)])
        # An included file need not be there yet.
        base = files[0] if files and name != "core.excludesfile" else f"{place.root}/config"
        paths.append(os.path.join(os.path.dirname(base), value))
    return list(dict.fromkeys(paths))


def _pairs(told: bytes) -> list[tuple[str, str]]:
    parts = os.fsdecode(told).split("\0")
    return list(zip(parts[::2], parts[1::2], strict=False))


def _origins(root: str, pairs: Iterable[tuple[str, str]]) -> list[str]:
    origins = dict.fromkeys(origin for origin, _ in pairs)
    files = (origin.removeprefix("file:") for origin in origins if origin.startswith("file:"))
    return [os.path.join(root, file) for file in files]


def _by_rules(place: Place, warning: str) -> Steps[Listing]:
    moment = time.time_ns()
    private = place.common_dir or f"{place.root}/.git"
    walked, ignored = yield from walk_by_rules(place.root, LARGEST, private)
    if len(walked.files) > LARGEST:
        raise TooMany(f"it has more than {LARGEST:,} files")
    rules = Rules(())
    are_old = rules.add(_rules_in(place.root, walked.files), moment)
    return Listing(
        place.root,
        sorted(set(walked.files) - ignored),
        sorted(walked.nested),
        sorted(walked.unreadable),
        _by_top(ignored),
        sorted(filter(is_forbidden, walked.files)),
        sorted(walked.pipes),
        (warning,) if warning else (),
        "",
        walked.directories,
        rules,
        are_old and not warning,
    )


def _rules_in(root: str, files: Iterable[str]) -> list[str]:
    return [f"{root}/{path}" for path in files if path.rpartition("/")[2] == RULES]


def _by_top(ignored: Iterable[str]) -> dict[str, int]:
    tops = Counter(path.partition("/")[0] if "/" in path else "" for path in ignored)
    return dict(sorted(tops.items()))
