"""Asking git, without letting a repository run anything or reach out.

The environment names no other repository, hooks and the file system monitor are off, nothing is
fetched, no lock is taken, and each question has a limit in time and bytes.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from typing import NamedTuple

from fabricd.core.steps import Steps

SECONDS = 10.0
LARGEST = 128 * 1024 * 1024

_KEPT = ("PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "USER", "LOGNAME")
_SAFE = (
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.untrackedCache=false"),
    *("-c", "log.showSignature=false"),
)
_FIRST_LOOK, _LATER_LOOK = 0.0005, 0.004


# A failure that took longer is not worth another try soon.
_PATIENCE = 1.0


class GitFailed(Exception):
    """Git did not answer. Why is told in words of ours alone: those of git quote what it read."""


class GitSlow(GitFailed):
    """It did not answer, and that took long."""


class Asked:
    """A question that git is at work on, in its own process."""

    def __init__(self, directory: str, *question: str) -> None:
        """Start.

        Raises:
            GitFailed: there is no git.
        """
        self._started = time.monotonic()
        # What git says goes to a file: it is never held up by who reads it, nor reads it late.
        try:
            self._said = tempfile.TemporaryFile()
        except OSError as error:
            raise GitFailed("git has no place to answer to") from error
        try:
            self._process = subprocess.Popen(
                ("git", "-C", directory, *_SAFE, *question),
                stdin=subprocess.DEVNULL,
                stdout=self._said,
                stderr=subprocess.DEVNULL,
                env=_environment(),
                start_new_session=True,
            )
        except OSError as error:
            self._said.close()
            raise GitFailed("git cannot be run") from error

    def answer(self) -> Steps[bytes]:
        """Wait for the answer.

        Raises:
            GitFailed: it failed, took too long or said too much.
        """
        waited = time.monotonic()
        try:
            while (code := self._process.poll()) is None:
                now = time.monotonic()
                if now - self._started > SECONDS:
                    raise GitSlow(f"git did not answer within {SECONDS:g} s")
                if os.fstat(self._said.fileno()).st_size > LARGEST:
                    raise GitSlow("git said too much")
                time.sleep(_FIRST_LOOK if now - waited < 0.1 else _LATER_LOOK)
                yield
            if code != 0:
                is_slow = time.monotonic() - self._started > _PATIENCE
                raise (GitSlow if is_slow else GitFailed)(_ended(code))
            self._said.seek(0)
            return self._said.read(LARGEST)
        finally:
            self.stop()

    def stop(self) -> None:
        """End it; more than once is allowed."""
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._said.close()


def _ended(code: int) -> str:
    return "git was killed" if code < 0 else f"git failed with exit code {code}"


def ask(directory: str, *question: str) -> Steps[bytes]:
    """Ask and wait.

    Raises:
        GitFailed.
    """
    return (yield from Asked(directory, *question).answer())


def _environment() -> dict[str, str]:
    kept = {name: value for name in _KEPT if (value := os.environ.get(name)) is not None}
    return kept | {
        "LC_ALL": "C",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_NO_REPLACE_OBJECTS": "1",
    }


class Place(NamedTuple):
    """A tree: its root as a real path, and where git keeps what rules it.

    Attributes:
        git_dir, common_dir: of the work tree and of the repository; empty without git.
        warning: why git is not asked although it keeps this tree; else empty.
    """

    root: str
    git_dir: str = ""
    common_dir: str = ""
    warning: str = ""


class NoRoot(Exception):
    """A path that lies in no tree that can be indexed, and why."""


class Places:
    """Which tree a path lies in; asked once as long as the same `.git` is found above it."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[tuple[str, int, int], Place]] = {}

    def find(self, path: str) -> Steps[Place]:
        """The tree of a path.

        Raises:
            NoRoot: it leads nowhere.
        """
        directory = _directory(path)
        above = _git_above(directory)
        if above is None:
            return Place(directory)
        known = self._known.get(directory)
        if known is not None and known[0] == above:
            return known[1]
        try:
            place = yield from _asked(directory)
        except GitFailed as failure:
            # As git sees it, if it could: the tree reaches up to where `.git` is.
            return Place(os.path.dirname(above[0]), warning=f"{failure}; listed without git")
        if len(self._known) >= 256:
            self._known.clear()
        self._known[directory] = (above, place)
        return place


def _directory(path: str) -> str:
    try:
        real = os.path.realpath(path)
    except ValueError as error:
        raise NoRoot("there is no such directory") from error
    if os.path.isfile(real):
        real = os.path.dirname(real)
    if not os.path.isdir(real):
        raise NoRoot("there is no such directory")
    # What git keeps of a tree is none of its files; the tree is meant.
    above, inside, _ = f"{real}/".partition("/.git/")
    return (above or "/") if inside else real


def _git_above(directory: str) -> tuple[str, int, int] | None:
    """The `.git` nearest above a directory.

    Raises:
        NoRoot: it lies in what git keeps of a tree, under another name.
    """
    while True:
        entry = os.path.join(directory, ".git")
        with contextlib.suppress(OSError):
            found = os.stat(entry)
            return entry, found.st_dev, found.st_ino
        if _is_kept_by_git(directory):
            raise NoRoot("this is where git keeps a repository, not a tree of files")
        parent = os.path.dirname(directory)
        if parent == directory:
            return None
        directory = parent


def _is_kept_by_git(directory: str) -> bool:
    return (
        os.path.isfile(f"{directory}/HEAD")
        and os.path.isdir(f"{directory}/objects")
        and os.path.isdir(f"{directory}/refs")
    )


def _asked(directory: str) -> Steps[Place]:
    question = ("rev-parse", "--path-format=absolute", "--show-toplevel")
    said = yield from ask(directory, *question, "--absolute-git-dir", "--git-common-dir")
    lines = os.fsdecode(said).split("\n")
    # A name may hold line breaks; then it is not known where it ends.
    if len(lines) != 4:
        raise GitFailed("git told no place")
    return Place(os.path.realpath(lines[0]), lines[1], lines[2])
