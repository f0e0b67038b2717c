"""What git tells of a tree's past: the last commits through HEAD, with their subjects and files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple, TypeAlias

import msgspec
import zstandard

from fabricd.core.steps import Steps
from fabricd.store.context.git import Asked, GitFailed, Place, ask
from fabricd.store.durable import read_bounded

MOST = 1500
# Commits that touch more files than that tell nothing of how they belong together.
WIDEST = 30
_SUBJECT = 300
_LARGEST_REFS = 16 * 1024 * 1024
_BEGIN = "\x02"
_FILES = 1000
_STEP = 64

Commit: TypeAlias = tuple[str, tuple[str, ...], str, tuple[str, ...]]


class History(NamedTuple):
    """Commits, newest first: id, parents, subject, and the paths they touched (of 1000 at most)."""

    head: str
    commits: tuple[Commit, ...]


NO_HISTORY = History("", ())

_DECODER = msgspec.msgpack.Decoder(tuple[Commit, ...])
_LARGEST = 64 * 1024 * 1024


def packed(history: History) -> bytes:
    """A history as the index keeps it."""
    plain = msgspec.msgpack.encode(history.commits)
    return zstandard.ZstdCompressor(3, write_checksum=True).compress(plain)


def unpacked(head: str, data: bytes) -> History | None:
    """A history that was kept; None where there is none."""
    if not head or not data:
        return None
    try:
        plain = zstandard.ZstdDecompressor().decompress(data, max_output_size=_LARGEST)
        return History(head, _DECODER.decode(plain))
    except (zstandard.ZstdError, msgspec.MsgspecError):
        return None


def head_of(place: Place) -> Steps[str]:
    """The commit that is checked out; empty without one, or without git."""
    if not place.git_dir:
        return ""
    direct = _read_head(place)
    if direct is not None:
        return direct
    try:
        said = yield from ask(place.root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    except GitFailed:
        return ""
    return said.decode("ascii", "replace").strip()


def _read_head(place: Place) -> str | None:
    """HEAD where plain files tell it; None where git has to be asked."""
    head = _line(f"{place.git_dir}/HEAD")
    if head is None:
        return None
    if not head.startswith("ref: refs/"):
        return head if _is_id(head) else None
    name = head.removeprefix("ref: ")
    if ".." in name:
        return None
    for directory in dict.fromkeys((place.git_dir, place.common_dir)):
        found = _line(f"{directory}/{name}")
        if found is not None and _is_id(found):
            return found
    return _packed(place, name)


def _packed(place: Place, name: str) -> str | None:
    end = f" {name}"
    for line in (_text(f"{place.common_dir}/packed-refs") or "").splitlines():
        if line.endswith(end) and _is_id(line.removesuffix(end)):
            return line.removesuffix(end)
    return None


def _line(path: str) -> str | None:
    text = _text(path)
    return None if text is None else text.strip()


def _text(path: str) -> str | None:
    found = read_bounded(Path(path), _LARGEST_REFS)
    return found.decode("utf-8", "replace") if isinstance(found, bytes) else None


def _is_id(text: str) -> bool:
    return len(text) in (40, 64) and all(letter in "0123456789abcdef" for letter in text)


class Asking:
    """A question for the commits up to `head`; where `since` is given, for those after it alone.

    Git is at work on it from the start; the answer may be waited for later.
    """

    def __init__(self, place: Place, head: str, since: History | None) -> None:
        """Ask.

        Raises:
            GitFailed: there is no git.
        """
        self.place, self.head = place, head
        self._since = since
        # A subject may hold any character, but none knows what is drawn here.
        self._mark = f"\x01{token_hex(8)}\x01"
        self._asked = _asked(place, self._mark, head if since is None else f"{since.head}..{head}")

    @property
    def is_part(self) -> bool:
        """Whether it is for what came after a history alone."""
        return self._since is not None

    def answer(self, clean: Callable[[str], str] = str) -> Steps[History | None]:
        """The history; None where what is new does not simply follow on `since`.

        Args:
            clean: what each subject passes.

        Raises:
            GitFailed.
        """
        said = yield from self._asked.answer()
        fresh = yield from _cleaned(_commits(said, self._mark), clean)
        if self._since is None:
            return History(self.head, fresh)
        # In a line of commits with one parent each, the order of git is that of the line.
        expected = self.head
        for number, parents, _, _ in fresh:
            if number != expected or len(parents) != 1:
                return None
            expected = parents[0]
        if expected != self._since.head:
            return None
        return History(self.head, (fresh + self._since.commits)[:MOST])

    def stop(self) -> None:
        """Forget the question; more than once is allowed."""
        self._asked.stop()


def _asked(place: Place, mark: str, span: str) -> Asked:
    return Asked(
        place.root,
        "log",
        f"--max-count={MOST}",
        "--no-merges",
        "--name-only",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        "--no-mailmap",
        "--no-color",
        "--no-notes",
        "--encoding=UTF-8",
        "--diff-merges=off",
        "-z",
        f"--format={mark}{_BEGIN}%H{mark}%P{mark}%s{mark}",
        span,
        "--",
    )


def _commits(said: bytes, mark: str) -> tuple[Commit, ...]:
    commits: list[Commit] = []
    for piece in said.decode("utf-8", "surrogateescape").split(mark + _BEGIN)[1:]:
        parts = piece.split(mark)
        if len(parts) != 4:
            raise GitFailed("git told its history in a way that is not known")
        number, parents, subject, files = parts
        paths = sorted(set(files.strip("\0\n").split("\0")))[:_FILES]
        told = tuple(path for path in paths if path and path.isprintable())
        commits.append((number, tuple(parents.split()), _shown(subject), told))
    return tuple(commits)


def _cleaned(commits: tuple[Commit, ...], clean: Callable[[str], str]) -> Steps[tuple[Commit, ...]]:
    done: list[Commit] = []
    for number, parents, subject, paths in commits:
        done.append((number, parents, clean(subject)[:_SUBJECT], paths))
        if len(done) % _STEP == 0:
            yield
    return tuple(done)


def _shown(subject: str) -> str:
    """Longer than what is kept, so that no secret is cut before it is found."""
    return subject.encode("utf-8", "replace").decode("utf-8")[: _SUBJECT * 10]
