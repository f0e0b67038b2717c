"""Who listens to a watch: which changes matter, and what follows from them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol

from watchfiles import Change

Changes = Iterable[tuple[Change, str]]


class Ears(Protocol):
    """Who is told of changes below a folder."""

    def wants(self, path: str) -> bool:
        """Whether a change at this path is of interest."""
        ...

    def heard(self, changes: Changes) -> bool:
        """Something changed; whether the watch should be armed anew."""
        ...

    def hint_all(self) -> None:
        """Anything may have changed."""
        ...

    def poll(self, polling: bool) -> None:
        """Nobody tells of changes from now on, or somebody does again."""
        ...


class Tail(Protocol):
    """What the tailer does with hints."""

    def hint(self, paths: Iterable[bytes]) -> None:
        """These session files may have changed."""
        ...

    def hint_all(self) -> None:
        """Anything may have changed."""
        ...

    def poll(self, polling: bool) -> None:
        """Nobody tells of changes from now on, or somebody does again."""
        ...


class SessionEars:
    """Logs directly inside project folders. Deeper files are exports that nobody measures."""

    def __init__(self, root: Path, tail: Tail) -> None:
        self._root = os.fspath(root)
        self._tail = tail

    def wants(self, path: str) -> bool:
        """A log, a project folder, or the root itself."""
        above = os.path.dirname(path)
        if self._root in (path, above):
            return True
        return path.endswith(".jsonl") and os.path.dirname(above) == self._root

    def heard(self, changes: Changes) -> bool:
        """Hint at logs; a new project folder needs a watch of its own."""
        logs: list[bytes] = []
        again = False
        for change, path in changes:
            if self._root in (path, os.path.dirname(path)):
                self._tail.hint_all()
                again = again or (change == Change.added and os.path.isdir(path))
            else:
                logs.append(os.fsencode(path))
        if logs:
            self._tail.hint(logs)
        return again

    def hint_all(self) -> None:
        """Anything may have changed."""
        self._tail.hint_all()

    def poll(self, polling: bool) -> None:
        """Nobody tells of changes from now on, or somebody does again."""
        self._tail.poll(polling)


class SurfaceEars:
    """The declared surface. A timer looks at it anyway: it needs no polling of its own."""

    def __init__(self, surface: Path, changed: Callable[[], None]) -> None:
        self._paths = (os.fspath(surface), os.fspath(surface.parent))
        self._changed = changed

    def wants(self, path: str) -> bool:
        """The surface, or the folder it lies in."""
        return path in self._paths

    def heard(self, changes: Changes) -> bool:
        """It changed."""
        self._changed()
        return False

    def hint_all(self) -> None:
        """It may have changed."""
        self._changed()

    def poll(self, polling: bool) -> None:
        """See the class."""
