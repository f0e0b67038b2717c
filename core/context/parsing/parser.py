"""A text in its units, with what they are searched by and what they refer to.

Lines end at a line feed and at nothing else: `text.split("\\n")`, without the empty rest behind a
last line feed. A carriage return, a form feed and U+2028 belong to their line, so a line and a line
feed behind it give the file back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain

from fabricd.core.context.model import Parsed, Unit
from fabricd.core.context.parsing.counts import Counts, Words, counts_of, words_in
from fabricd.core.context.parsing.definitions import definitions_of
from fabricd.core.context.parsing.grammars import Captures, Unparsed, captures_of
from fabricd.core.context.parsing.layout import Count, Layout, Piece, Rows, merged
from fabricd.core.context.parsing.mentions import (
    calls_in,
    imports_of,
    is_mentioned,
    mentions_of,
    telling,
)
from fabricd.core.context.parsing.prose import PROSE, sections_of
from fabricd.core.context.parsing.skeletons import skeleton_of
from fabricd.core.context.parsing.sketches import digest, sketches
from fabricd.core.context.parsing.tables import TABLES

Stop = Callable[[], bool]


def lines_of(text: str) -> list[str]:
    """The lines of a text by the rule above, without their line feeds."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def _estimate(text: str) -> int:
    return len(text.encode(errors="replace")) // 4


def _never() -> bool:
    return False


def parse(text: str, language: str, count: Count = _estimate, stop: Stop = _never) -> Parsed:
    """A text in its units. Never fails: what has no syntax is blocks.

    Args:
        language: as `language_of` tells; an unknown one is plain text.
        count: tokens of a text; a definition of more than 8,000 is cut in parts.
        stop: asked during a long parse; true gives up syntax for this text. To be told by work
            done or by processor time, so that a text gives the same units each time.
    """
    return parse_lines(text, lines_of(text), language, count, stop)


def parse_lines(
    text: str, lines: Sequence[str], language: str, count: Count, stop: Stop = _never
) -> Parsed:
    """`parse` of a text whose lines are known."""
    source = text.encode(errors="replace")
    captures = _captured(source, language, stop)
    if language in PROSE:
        pieces = sections_of(lines, language)
    else:
        definitions = merged(definitions_of(captures, source, lines, language))
        pieces = Layout(lines, count).pieces(definitions)
    return _read(lines, pieces, captures, source, language)


def _captured(source: bytes, language: str, stop: Stop) -> Captures:
    if language not in TABLES:
        return {}
    try:
        return captures_of(source, language, stop)
    except Unparsed:
        return {}


def _read(
    lines: Sequence[str],
    pieces: Sequence[Piece],
    captures: Captures,
    source: bytes,
    language: str,
) -> Parsed:
    """Terms, mentions, digests of laid out lines."""
    calls = calls_in(captures.get("call", ()), source, _owners(pieces, len(lines)), len(pieces))
    imports = imports_of(captures.get("import", ()), source, language)
    terms: list[Counts] = []
    digests: list[bytes] = []
    every: list[Words] = []
    for piece in pieces:
        text = "\n".join(lines[piece.first : piece.last + 1])
        every.append(words_in(piece, text, lines))
        digests.append(digest(text))
        terms.append(counts_of(piece.name, every[-1]))
    row = list(chain.from_iterable(chain.from_iterable(every)))
    # A file's units share most of their words: each is judged and hashed once.
    words = set(row)
    names = telling(words) | _known(pieces, imports)
    return Parsed(
        len(lines),
        _units(pieces, lines),
        tuple(terms),
        tuple(
            mentions_of(names.intersection(chain(said.signature, said.body)), called, piece.name)
            for piece, said, called in zip(pieces, every, calls, strict=True)
        ),
        imports,
        tuple(digests),
        sketches(row, words, [sum(map(len, said)) for said in every]),
    )


def _owners(pieces: Sequence[Piece], rows: int) -> list[int]:
    """For each row the piece it belongs to, or -1."""
    owner = [-1] * (rows + 1)
    for number, piece in enumerate(pieces):
        owner[piece.first : piece.last + 1] = [number] * (piece.last + 1 - piece.first)
    return owner


def _known(pieces: Sequence[Piece], imports: Sequence[str]) -> frozenset[str]:
    """Simple names that the file defines or imports."""
    last = (name.replace("\\", ".").replace("::", ".").rpartition(".")[2] for name in imports)
    return frozenset(filter(is_mentioned, {piece.name for piece in pieces}.union(last)))


def _units(pieces: Sequence[Piece], lines: Sequence[str]) -> tuple[Unit, ...]:
    numbers = {id(piece): number for number, piece in enumerate(pieces)}
    return tuple(
        Unit(
            piece.kind,
            piece.name,
            piece.container,
            (piece.first + 1, piece.last + 1),
            -1 if piece.parent is None else numbers[id(piece.parent)],
            _shown(piece.opening),
            _shown(piece.signature),
            skeleton_of(piece, lines),
            piece.part,
        )
        for piece in pieces
    )


def _shown(rows: Rows) -> tuple[int, int]:
    return (rows[0] + 1, rows[1] + 1) if rows[1] >= rows[0] else (0, 0)
