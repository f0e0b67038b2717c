"""What a file is made of: units with their lines, terms and mentions. Paths are no part of it."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

# The version of everything below; part of a blob's identity and of each receipt. A change of
# languages, units, terms, guard rules or counts is a new one.
INDEXER = "context/1"

Level: TypeAlias = Literal["full", "skeleton", "reference"]
Lines: TypeAlias = tuple[int, int]

# What a unit's terms are counted in, in this order everywhere.
FIELDS = ("name", "signature", "doc", "body")

Kind: TypeAlias = Literal[
    "function",
    "method",
    "class",
    "interface",
    "struct",
    "enum",
    "trait",
    "impl",
    "type",
    "module",
    "constant",
    "section",
    "block",
]


class Unit(Struct, frozen=True, array_like=True):
    """Whole lines of a file that are selected, shown and named together.

    Units of a file are in the order of their first line, do not overlap, and cover every line that
    is not blank. A large type is its head (up to its first member) and its members; a small one is
    one unit, and what is inside it is no unit. Lines are 1-based and inclusive.

    Attributes:
        name: the simple name; a section's title; empty for a block.
        container: the qualified name of what the unit stands in (`Outer.Inner`); empty at the top.
        lines: with decorators, attached comments and `export`.
        parent: the index of the head of the container it stands in; -1 at the top.
        opening: of a head, the lines that open its container (`class Client(Base):`), shown with
            any of its members; (0, 0) for every other unit.
        signature: the lines of the signature without decorators; (0, 0) where there is none.
        skeleton: the runs of lines that stay in a skeleton, in order; each gap between them, and
            behind the last, is told by one line. Empty where a skeleton would save nothing.
        part: (k, n) for the k-th of n blocks of a definition too large to be whole; else (0, 0).
    """

    kind: Kind
    name: str
    container: str
    lines: Lines
    parent: int = -1
    opening: Lines = (0, 0)
    signature: Lines = (0, 0)
    skeleton: tuple[Lines, ...] = ()
    part: tuple[int, int] = (0, 0)

    @property
    def qualified(self) -> str:
        """The name with its containers."""
        return f"{self.container}.{self.name}" if self.container else self.name


class Mentions(Struct, frozen=True, array_like=True):
    """What a unit refers to by name: kept in two texts, a name a line, since it is seldom asked.

    Attributes:
        called: simple names that are called, each once, sorted.
        named: other identifiers it uses that look like definitions of somebody (types, bases,
            constants in capitals), each once, sorted; none that is in `called`.
    """

    called: str = ""
    named: str = ""

    @property
    def calls(self) -> tuple[str, ...]:
        """The names that are called."""
        return tuple(self.called.split("\n")) if self.called else ()

    @property
    def names(self) -> tuple[str, ...]:
        """The other names."""
        return tuple(self.named.split("\n")) if self.named else ()


class Parsed(Struct, frozen=True, array_like=True):
    """A text in its units.

    Attributes:
        lines: how many lines the text has.
        terms: for each unit its terms with their counts in each of `FIELDS`.
        mentions: for each unit.
        imports: modules and names that the file imports, as written, each once, sorted.
        digests: for each unit 8 bytes of its normalised tokens: equal means the same text but for
            white space.
        sketches: for each unit the smallest hashes of its 5-token shingles, for near duplicates:
            ascending, 4 bytes each.
    """

    lines: int
    units: tuple[Unit, ...]
    terms: tuple[dict[str, tuple[int, int, int, int]], ...]
    mentions: tuple[Mentions, ...]
    imports: tuple[str, ...]
    digests: tuple[bytes, ...]
    sketches: tuple[bytes, ...]


class Span(Struct, frozen=True, array_like=True):
    """A secret in a text: where it begins and ends (characters), and what stands there instead."""

    start: int
    end: int
    placeholder: str


class Signal(Struct, frozen=True, array_like=True):
    """A place of a text that addresses an assistant. The sentence itself is not kept."""

    rule: str
    line: int


class Guarded(Struct, frozen=True, array_like=True):
    """A text after the guard: with placeholders, as many lines as before."""

    text: str
    spans: tuple[Span, ...] = ()
    signals: tuple[Signal, ...] = ()


class Analysed(Struct, frozen=True, array_like=True):
    """All that is known of a file's content: of guarded text alone.

    Attributes:
        tokens: for each unit (full, skeleton, opening) in o200k tokens of its lines as shown; 0
            where it has none. Headers are not in it: they name path and number.
    """

    language: str
    parsed: Parsed
    spans: tuple[Span, ...]
    signals: tuple[Signal, ...]
    tokens: tuple[tuple[int, int, int], ...]


Skip: TypeAlias = Literal["ignored", "unsupported", "unreadable", "oversized", "policy"]
