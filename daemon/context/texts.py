"""The files of one answer, each read and hashed once, after everything else was decided."""

from __future__ import annotations

from collections.abc import Sequence

from fabricd.core.context.guard.finding import replaced
from fabricd.core.context.parsing.parser import lines_of
from fabricd.daemon.context.analysing import text_of
from fabricd.store.context.snapshot import Snapshot


class Stale(Exception):
    """Files are not what the index knows: nothing may be said of them before it has read them."""

    def __init__(self, paths: frozenset[str]) -> None:
        super().__init__(", ".join(sorted(paths)))
        self.paths = paths


class Texts:
    """What stands in the files of a snapshot now, guarded."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._corpus = snapshot.corpus()
        self._lines: dict[int, Sequence[str]] = {}
        self._sources: dict[int, str] = {}

    def require(self, files: Sequence[int]) -> None:
        """Read files, by their index in the corpus.

        Raises:
            Stale: all those of them that have changed.
        """
        paths = {self._corpus.files[file].path: file for file in files if file not in self._lines}
        found = self.snapshot.reread(paths)
        changed = frozenset(path for path, reread in found.items() if reread.is_changed)
        if changed:
            raise Stale(changed)
        for path, reread in found.items():
            assert reread.data is not None
            # The bytes are those that were analysed, so what the guard found in them holds.
            spans = self._corpus.indexed(paths[path]).spans
            self._lines[paths[path]] = lines_of(replaced(text_of(reread.data), spans))
            self._sources[paths[path]] = reread.sha256

    def lines(self, file: int) -> Sequence[str]:
        """The lines of a file.

        Raises:
            Stale: it has changed.
        """
        self.require((file,))
        return self._lines[file]

    def source(self, file: int) -> str:
        """The SHA-256 of a file that was required, hex."""
        return self._sources[file]
