"""From definitions to pieces: whole lines, in order, sharing none and leaving none that shows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from fabricd.core.context.model import Kind
from fabricd.core.context.parsing.blocks import blocks_of, is_blank, trimmed
from fabricd.core.context.parsing.definitions import Definition

LARGE_TYPE = 60  # rows; a larger type is its head and its members
LARGEST = 8000  # tokens of a unit
_DEEPEST = 16  # containers in containers; further down a container is whole
_CLOSERS = 5  # rows of closing brackets that belong to what they close
_CLOSER = re.compile(r"\s*(?:[})\]]|end\b|#\s*(?:endif|else)\b|$)")

Rows = tuple[int, int]
Count = Callable[[str], int]
NONE: Rows = (0, -1)

_TYPES = frozenset({"class", "interface", "struct", "enum", "trait", "impl", "type"})
_HOLDERS = _TYPES | {"module", "constant"}


@dataclass(slots=True, eq=False)
class Piece:
    """A unit in the making; rows are 0-based and inclusive, `NONE` where there are none.

    Attributes:
        row: where the signature begins, or the first row: before it stands what is attached.
        inner: signatures of what is defined in it.
    """

    kind: Kind
    name: str
    container: str
    first: int
    last: int
    parent: Piece | None = None
    row: int = 0
    opening: Rows = NONE
    signature: Rows = NONE
    documented: Rows = NONE
    inner: list[Rows] = field(default_factory=list[Rows])
    part: tuple[int, int] = (0, 0)


class Layout:
    """Lays a file's lines out in pieces."""

    def __init__(self, lines: Sequence[str], count: Count) -> None:
        self._lines = lines
        self._count = count
        self._pieces: list[Piece] = []
        self._shorts: dict[int, Definition] = {}

    def pieces(self, definitions: Sequence[Definition]) -> list[Piece]:
        """All pieces in order."""
        self._fill(definitions, 0, len(self._lines) - 1, "", None, 0)
        return [part for piece in self._pieces for part in self._parts(piece)]

    def _fill(
        self,
        definitions: Sequence[Definition],
        cursor: int,
        last: int,
        container: str,
        parent: Piece | None,
        depth: int,
    ) -> None:
        for made in definitions:
            made.last = trimmed(self._lines, made.first, made.last)[1]
            if made.short:
                self._shorts[made.first] = made
                continue
            if made.row < cursor:
                # It begins on a line of the one before: the line decides.
                self._pieces[-1].last = max(self._pieces[-1].last, min(made.last, last))
                cursor = max(cursor, self._pieces[-1].last + 1)
                continue
            made.first = max(made.first, cursor)
            self._rest(cursor, made.first - 1, container, parent)
            self._place(made, container, parent, depth)
            cursor = max(made.last, self._pieces[-1].last) + 1
        self._rest(cursor, last, container, parent)

    def _place(self, made: Definition, container: str, parent: Piece | None, depth: int) -> None:
        nested = self._nested(made, depth)
        inmost, members = nested[-1]
        within: list[str] = []
        inside = container
        for one, _ in nested:
            container = _qualified(inside, one.qualifier)
            inside = _qualified(container, one.name)
            within.append(inside)
        kind = "method" if inmost.kind == "function" and inmost.qualifier else inmost.kind
        piece = Piece(
            kind, inmost.name, container, made.first, made.last, parent, made.row,
            signature=(made.row, inmost.opened), documented=inmost.documented,
        )  # fmt: skip
        self._pieces.append(piece)
        if not members:
            piece.inner = list(_signatures(made))
            return
        cursor = members[0].first
        piece.last = trimmed(self._lines, made.first, cursor - 1)[1]
        piece.opening = piece.signature
        for one, members in reversed(nested):
            self._fill(members, cursor, one.last, within.pop(), piece, depth + len(nested))
            cursor = max(cursor, one.last + 1)

    def _nested(self, made: Definition, depth: int) -> list[tuple[Definition, list[Definition]]]:
        """It with its members, then what one line opens with it: `namespace a { namespace b {`.

        The last has members of its own, unless it is the only one.
        """
        nested = [(made, self._members(made, depth))]
        while _is_split(made, depth) and (inner := _opened_with(made)):
            made, depth = inner, depth + 1
            nested.append((made, self._members(made, depth)))
        while len(nested) > 1 and not nested[-1][1]:
            nested.pop()
        return nested

    def _members(self, made: Definition, depth: int) -> list[Definition]:
        """What is laid out on its own in a large container, from below its opening line on."""
        if not _is_split(made, depth):
            return []
        members = [one for one in merged(made.inner) if one.row > made.opened and not one.short]
        if made.kind != "constant":
            members = [one for one in members if not one.weak]
        for one in members:
            one.first = max(one.first, made.opened + 1)
            if one.kind == "function" and made.kind in _TYPES:
                one.kind = "method"
        return members

    def _rest(self, first: int, last: int, container: str, parent: Piece | None) -> None:
        first, last = trimmed(self._lines, first, last)
        if last < first or is_blank(self._lines[first]):
            return
        rows = self._lines[first : last + 1]
        if self._pieces and len(rows) <= _CLOSERS and all(map(_CLOSER.match, rows)):
            self._pieces[-1].last = last
            return
        for start, end in blocks_of(self._lines, first, last, LARGEST):
            piece = Piece("block", "", container, start, end, parent, start)
            made = self._shorts.get(start)
            if made is not None and made.last == end:
                piece.kind, piece.name, piece.row = made.kind, made.name, made.row
                piece.signature = (made.row, made.opened)
            self._pieces.append(piece)

    def _parts(self, piece: Piece) -> Iterator[Piece]:
        if piece.kind == "block" or not self._is_heavy(piece):
            yield piece
            return
        cuts = list(blocks_of(self._lines, piece.first, piece.last, LARGEST))
        whole = replace(piece)
        for k, (first, last) in enumerate(cuts):
            # Members know the piece as their parent, so the first part is the piece itself.
            part = replace(whole, row=first) if k else piece
            part.first, part.last, part.part = first, last, (k + 1, len(cuts))
            part.opening = NONE if k else _clipped(whole.opening, first, last)
            part.signature = _clipped(whole.signature, first, last)
            part.documented = _clipped(whole.documented, first, last)
            part.inner = [one for one in whole.inner if first <= one[0] and one[1] <= last]
            yield part

    def _is_heavy(self, piece: Piece) -> bool:
        text = "\n".join(self._lines[piece.first : piece.last + 1])
        if len(text) * (1 if text.isascii() else 4) <= LARGEST:
            return False  # a token is a byte at least
        return self._count(text) > LARGEST


def _qualified(container: str, name: str) -> str:
    return f"{container}.{name}" if container and name else container or name


def _is_split(made: Definition, depth: int) -> bool:
    """Whether a definition is its head and its members, if it has any."""
    if made.kind not in _HOLDERS or depth >= _DEEPEST:
        return False
    return made.kind == "module" or made.last - made.row >= LARGE_TYPE


def _opened_with(made: Definition) -> Definition | None:
    """The container that begins on its opening line and goes on below, if nothing else does."""
    if not made.inner or made.inner[0].row > made.opened:
        return None
    below = [
        one for one in merged(made.inner) if one.row <= made.opened < one.last and not one.weak
    ]
    return below[0] if len(below) == 1 and below[0].kind in _HOLDERS else None


def merged(definitions: Sequence[Definition]) -> list[Definition]:
    """Definitions with their overloads, which are nothing on their own."""
    kept: list[Definition] = []
    before: Definition | None = None
    for made in definitions:
        if before is not None and before.name == made.name and before.last + 1 >= made.first:
            made.first, made.row = before.first, before.row
        before = made if made.bare else None
        if not made.bare:
            kept.append(made)
    return kept


def _signatures(made: Definition) -> Iterator[Rows]:
    """The signatures of all that is defined in it, in order."""
    stack = list(reversed(merged(made.inner)))
    while stack:
        one = stack.pop()
        if not one.weak and not one.short:
            yield one.row, one.opened
        stack.extend(reversed(merged(one.inner)))


def _clipped(rows: Rows, first: int, last: int) -> Rows:
    start, end = max(rows[0], first), min(rows[1], last)
    return (start, end) if start <= end else NONE
