"""The outcome of a repair, as values and as edits of the text that was sent."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from fabricd.core.normalform.extended.plan import CountedRule

Path: TypeAlias = tuple[str | int, ...]


class Edit(Struct, frozen=True):
    """What changes in the arguments as they were sent.

    `path` leads there by keys and indexes before any renaming; `()` is the arguments themselves.
    `text` is the new key as plain text, nothing for a drop, or the JSON text that replaces the
    value: the model's own characters, white space included, wherever it wrote them. A member may
    be both renamed and replaced; one that is dropped has no other edit.
    """

    path: Path
    kind: Literal["rename", "drop", "replace"]
    text: str


class Repaired(Struct, frozen=True):
    """The arguments to use. Without rules they are the very object that came in."""

    args: object
    rules: tuple[CountedRule, ...] = ()
    edits: tuple[Edit, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether anything was repaired."""
        return bool(self.rules)
