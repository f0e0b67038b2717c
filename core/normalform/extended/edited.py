"""Containers of a call under repair: copied when they first change, so that what came in stays."""

from __future__ import annotations

from typing import Any, TypeAlias

from fabricd.core.plain import is_object

Key: TypeAlias = str | int


class Refused(Exception):
    """Raised where nothing in a call may change."""


class Sent:
    """A container as it was sent.

    `place` is where it stands in the repaired container above it, `key` where it was sent.
    """

    __slots__ = ("_above", "_copy", "_key", "_place", "value")

    def __init__(
        self, value: Any, above: Sent | None = None, place: Key = "", key: Key = ""
    ) -> None:
        self.value = value
        self._above = above
        self._place = place
        self._key = key
        self._copy: Any = None

    @property
    def now(self) -> Any:
        """The container as it is now: the very one that was sent, where nothing changed."""
        return self.value if self._copy is None else self._copy

    def path(self, key: Key) -> tuple[Key, ...]:
        """The path of a member as it was sent."""
        if self._above is None:
            return (key,)
        found = [key]
        sent: Sent = self
        while sent._above is not None:
            found.append(sent._key)
            sent = sent._above
        return tuple(reversed(found))

    def rename(self, names: dict[str, str]) -> None:
        """Give members other names, in their places."""
        self._own({names.get(key, key): member for key, member in self.value.items()})

    def put(self, place: Key, value: object) -> None:
        """Replace a member."""
        self._owned()[place] = value

    def drop(self, name: str) -> None:
        """Remove a member."""
        del self._owned()[name]

    def _owned(self) -> Any:
        if self._copy is None:
            self._own(dict(self.value) if is_object(self.value) else list(self.value))
        return self._copy

    def _own(self, copy: Any) -> None:
        self._copy = copy
        sent = self
        while sent._above is not None:
            above = sent._above
            was_owned = above._copy is not None
            if not was_owned:
                above._copy = dict(above.value) if is_object(above.value) else list(above.value)
            above._copy[sent._place] = sent._copy
            if was_owned:
                return
            sent = above
