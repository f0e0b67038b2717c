"""A busy lock is nothing unusual, until it has been busy for long."""

from __future__ import annotations

from pathlib import Path

from fabricd.daemon.health import Health
from fabricd.store.durable import shown

PATIENCE = 30.0
_CURE = "end the program that holds it, or remove the lock where none does"


class Patience:
    """How long a lock has been in the way of writing a file."""

    def __init__(self, what: str, lock: Path, health: Health, cure: str = _CURE) -> None:
        """`what` names the ailment."""
        self._what = what
        self._lock = lock
        self._health = health
        self._cure = cure
        self._since: float | None = None

    def busy(self, now: float) -> None:
        """It was busy again; after half a minute that is an ailment."""
        if self._since is None:
            self._since = now
        if now - self._since >= PATIENCE:
            why = f"the lock {shown(self._lock)} stays taken"
            self._health.degrade(self._what, why, self._cure)

    def over(self) -> None:
        """It was to be had."""
        self._since = None
