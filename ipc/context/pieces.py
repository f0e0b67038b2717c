"""Lines out of bytes that come in pieces, and bounded. Standard library alone, for the relay."""

from __future__ import annotations

LONGEST = 1 << 24


class Pieces:
    """What an agent says, line by line."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._is_over = False

    def take(self, piece: bytes) -> list[bytes | None]:
        """The lines that a piece ends, without line feeds; None for one above 16 MiB."""
        found: list[bytes | None] = []
        *ends, rest = piece.split(b"\n")
        for part in ends:
            self._add(part)
            found.append(self._end())
        self._add(rest)
        return found

    def last(self) -> list[bytes | None]:
        """What was said without a line feed, once nothing more comes."""
        return [self._end()] if self._held or self._is_over else []

    def _add(self, part: bytes) -> None:
        if len(self._held) + len(part) > LONGEST:
            self._is_over = True
            self._held.clear()
        if not self._is_over:
            self._held += part

    def _end(self) -> bytes | None:
        line = None if self._is_over else bytes(self._held)
        self._held.clear()
        self._is_over = False
        return line
