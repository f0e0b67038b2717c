"""What the engine is asked, and its refusals: the same for command line, MCP and library."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from msgspec import Struct

BUDGET = 8000
SMALLEST_BUDGET = 100
LARGEST_BUDGET = 256_000
LONGEST_QUERY = 4096

Tokenizer: TypeAlias = Literal["o200k", "cl100k", "claude"]
Reason: TypeAlias = Literal[
    "budget-too-small",
    "nothing-relevant",
    "gone",
    "unknown",
    "forbidden",
    "tampered",
    "ambiguous",
    "usage",
    "busy",
    "failed",
    "not-installed",
]


REASONS: dict[str, Reason] = {reason: reason for reason in get_args(Reason)}


class Refused(Exception):
    """The engine does not do what it was asked, in one sentence.

    Attributes:
        smallest: with `budget-too-small`, the least budget that would do.
    """

    def __init__(self, reason: Reason, message: str, smallest: int | None = None) -> None:
        super().__init__(message)
        self.reason: Reason = reason
        self.message = message
        self.smallest = smallest


class Select(Struct, frozen=True, forbid_unknown_fields=True):
    """Give context for a query. `root` is any path inside the tree; `paths` are prefixes in it."""

    query: str
    root: str
    budget: int = BUDGET
    tokenizer: Tokenizer = "o200k"
    paths: tuple[str, ...] = ()
    session: str | None = None


class Show(Struct, frozen=True, forbid_unknown_fields=True):
    """Show what is on disk now: a handle, `path`, `path:a-b` or a symbol."""

    what: str
    root: str
    budget: int = BUDGET
    tokenizer: Tokenizer = "o200k"
    session: str | None = None


class Recover(Struct, frozen=True, forbid_unknown_fields=True):
    """Give an item's text in full as it was delivered (or was not, of a reference)."""

    handle: str
    root: str
    budget: int = BUDGET
    session: str | None = None


class Explain(Struct, frozen=True, forbid_unknown_fields=True):
    """Why a thing was selected or omitted: a handle, path, `path:a-b`, or symbol in a receipt."""

    receipt: str
    what: str
    root: str


class Receipt(Struct, frozen=True, forbid_unknown_fields=True):
    """A receipt, perhaps verified, or as a file for others."""

    receipt: str
    root: str
    verify: bool = False
    export: bool = False


class Replay(Struct, frozen=True, forbid_unknown_fields=True):
    """The answer of a receipt once more, byte for byte."""

    receipt: str
    root: str


class Index(Struct, frozen=True, forbid_unknown_fields=True):
    """Bring the index of a root up to date."""

    root: str


class Stats(Struct, frozen=True, forbid_unknown_fields=True):
    """What is indexed and what was booked; of all roots where none is named."""

    root: str | None = None


class Forget(Struct, frozen=True, forbid_unknown_fields=True):
    """Delete rows: of a root, or all, or receipts before a moment (seconds since 1970)."""

    root: str | None = None
    before: int | None = None
    everything: bool = False
