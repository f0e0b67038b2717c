"""What a process was parsing when it died, so that one file does not end worker after worker.

A parser is native code: a text may exist that makes it crash or eat all memory. The digest of the
text in hand stands in a file while it is parsed, written without a sync: that outlives a process,
and a loss of power is no fault of the text. Over what three processes died no fourth does.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from fabricd.store.atomic import private_directory, write_atomic

# Somebody may kill a process twice in a row just then: three times over one text is no chance.
_DEATHS = 3
_MOST = 256
_BYTES = 32
_NOTHING = bytes(_BYTES)
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


class Perils:
    """The digests (32 bytes) of texts that processes died over. One process has it open."""

    def __init__(self, folder: Path) -> None:
        """Open it in a directory, and count what the last process died over.

        Raises:
            OSError: it cannot be read or written.
        """
        private_directory(folder)
        self._path = folder / "perils.json"
        self._deaths = _read(self._path)
        self._hand = os.open(folder / "in-hand", _FLAGS, 0o600)
        held = os.pread(self._hand, _BYTES, 0)
        if len(held) == _BYTES and held != _NOTHING:
            self._deaths[held.hex()] = self._deaths.get(held.hex(), 0) + 1
            self._keep()
        os.pwrite(self._hand, _NOTHING, 0)

    def is_dreaded(self, digest: bytes) -> bool:
        """Whether processes died over this text, and not by chance."""
        return self._deaths.get(digest.hex(), 0) >= _DEATHS

    @contextmanager
    def holding(self, digest: bytes) -> Generator[None]:
        """While a text is parsed. Whatever is raised meanwhile is no death."""
        os.pwrite(self._hand, digest, 0)
        try:
            yield
        finally:
            os.pwrite(self._hand, _NOTHING, 0)

    def forget(self) -> None:
        """Fear nothing any more."""
        self._deaths = {}
        self._path.unlink(missing_ok=True)

    def close(self) -> None:
        """Let it go: whatever is in hand now is no death."""
        os.pwrite(self._hand, _NOTHING, 0)
        os.close(self._hand)

    def _keep(self) -> None:
        newest = dict(list(self._deaths.items())[-_MOST:])
        self._deaths = newest
        write_atomic(self._path, msgspec.json.encode(newest))


def _read(path: Path) -> dict[str, int]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, int])
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        # No authority: at worst a text is feared a little later.
        return {}
