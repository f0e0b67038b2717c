"""The results of tools as a log tells them: sizes and digests, never the texts."""

from __future__ import annotations

from hashlib import sha256
from typing import Any, TypeAlias

from msgspec import Struct

from fabricd.core.plain import is_count
from fabricd.core.sessions.adapting import text_of


class Measured(Struct, frozen=True, gc=False):
    """A text by its UTF-8 bytes: how many, and their SHA-256."""

    size: int
    digest: bytes

    @property
    def identity(self) -> str:
        """The content identity."""
        return f"sha256:{self.digest.hex()}"


def measured(text: str) -> Measured:
    """The bytes of a text."""
    raw = text.encode("utf-8", "replace")
    return Measured(len(raw), sha256(raw).digest())


class Result(Struct, gc=False):
    """What one call gave.

    Attributes:
        call_id: as the agent names the call; may be empty.
        asked: a digest of tool and canonical arguments; empty where the call is not in the log.
        at: when the call was made, in milliseconds, or `UNDATED`.
        shown: what the model was shown.
        full: all there was, where the log certainly keeps it.
        is_cut: the model was certainly not shown all of it.
        told: how many bytes there were, where the log says so without keeping them; else 0.
        others: items among what was shown that are no text.
        is_absent: the log does not keep what was shown.
    """

    call_id: str
    tool: str
    asked: bytes
    session: str
    at: int
    shown: Measured
    full: Measured | None = None
    is_cut: bool = False
    told: int = 0
    others: int = 0
    is_absent: bool = False


class Shown(Struct, frozen=True):
    """What a record tells of one result, before its call is known."""

    text: str
    full: str | None = None
    is_cut: bool = False
    told: int = 0
    others: int = 0
    is_absent: bool = False


class Item(Struct, frozen=True, gc=False):
    """An item of what was shown. Only texts have bytes here."""

    type: Any = None
    text: Any = None


_TEXTS = frozenset({"text", "input_text", "output_text"})
_Other: TypeAlias = str | float | bool | list[Any] | None
Content: TypeAlias = list[Item | _Other] | dict[str, Any] | str | float | bool | None


class Told(Struct, frozen=True):
    """Texts one behind the other, and how many items are none. `is_absent`: there is nothing."""

    text: str
    others: int = 0
    is_absent: bool = False


def told(content: Content) -> Told:
    """What a member says that is a text or a list of items."""
    if isinstance(content, str):
        return Told(content)
    if not isinstance(content, list):
        return Told("", is_absent=True)
    texts = [item.text for item in content if isinstance(item, Item) and _is_text(item)]
    return Told("".join(texts), len(content) - len(texts))


def _is_text(item: Item) -> bool:
    return isinstance(item.text, str) and text_of(item.type) in _TEXTS


def size_told(value: object) -> int:
    """A number of bytes that a log tells, or 0."""
    return int(value) if is_count(value) else 0
