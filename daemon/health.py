"""Poison, do not limp: what does not work stays visible, with its cure, until it works again."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct


class HealthEvents(Protocol):
    """Who is told of changes."""

    def health_degraded(self, what: str, why: str, cure: str) -> None:
        """Something stopped working."""

    def health_recovered(self, what: str) -> None:
        """It works again."""


class Ailment(Struct, frozen=True):
    """One thing that does not work as it should."""

    what: str
    why: str
    cure: str


class Health:
    """The ailments of the daemon, by what they concern."""

    def __init__(self, events: HealthEvents) -> None:
        self._events = events
        self._ailments: dict[str, Ailment] = {}

    def degrade(self, what: str, why: str, cure: str) -> None:
        """Something does not work; told once while the reason stays the same."""
        ailment = Ailment(what, why, cure)
        if self._ailments.get(what) != ailment:
            self._ailments[what] = ailment
            self._events.health_degraded(what, why, cure)

    def recover(self, what: str) -> None:
        """It works again."""
        if self._ailments.pop(what, None) is not None:
            self._events.health_recovered(what)

    def ails(self, what: str) -> bool:
        """Whether this does not work now."""
        return what in self._ailments

    @property
    def ailments(self) -> list[Ailment]:
        """What is wrong now, by name."""
        return [self._ailments[what] for what in sorted(self._ailments)]
