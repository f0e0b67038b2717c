"""What has been added up so far: totals, contents seen, operations, escalations, violations."""

from __future__ import annotations

from enum import Enum
from typing import Any

from msgspec import Struct

from fabricd.core.plain import MAX_SAFE_INTEGER
from fabricd.core.trajectory.values import ABSENT
from fabricd.core.trajectory.violations import MESSAGES, Violation


class Overflow(Exception):
    """Raised by `added`: a total would pass 2^53-1. The message names the total."""


def added(total: int, amount: int, name: str) -> int:
    """A sum of counts.

    Raises:
        Overflow: it is beyond 2^53-1.
    """
    total += amount
    if total > MAX_SAFE_INTEGER:
        raise Overflow(name)
    return total


class Seen(Enum):
    """What a register says of a content."""

    NEW = "new"
    REPEAT = "repeat"
    OTHER_SIZE = "other size"


class Register:
    """Contents by operation and identity, with their sizes in bytes.

    Almost every operation has one content, so that one is kept without a key of its own.
    """

    def __init__(self) -> None:
        self._first: dict[object, tuple[str, int]] = {}
        self._more: dict[tuple[object, str], int] = {}

    def is_new_to(self, operation: object) -> bool:
        """Whether the operation has no content so far."""
        return operation not in self._first

    def seen(self, operation: object, identity: str, size: int) -> Seen:
        """Register a content."""
        first = self._first.get(operation)
        if first is None:
            self._first[operation] = (identity, size)
            return Seen.NEW
        known = first[1] if first[0] == identity else self._more.get((operation, identity))
        if known is None:
            self._more[operation, identity] = size
            return Seen.NEW
        return Seen.REPEAT if known == size else Seen.OTHER_SIZE


class Operation(Struct, gc=False):
    """A known operation.

    Attributes:
        raw_bytes: as declared, whatever was declared.
        subset_bytes: new bytes of its raw evidence shown by escalations; None before the first.
    """

    raw_bytes: Any
    subset_bytes: int | None = None


class Status(Enum):
    """How an escalation stands."""

    REQUESTED = "REQUESTED"
    FULFILLED = "FULFILLED"
    UNAVAILABLE = "UNAVAILABLE"


class Escalation(Struct):
    """An escalation as far as it has come; `request` and `terminal` are its events."""

    status: Status
    operation: object
    request: dict[str, Any]
    terminal: dict[str, Any] | None = None
    is_repeat: bool = False


class Totals(Struct):
    """Sums over the events; bytes and counts of evidence."""

    initial_raw: int = 0
    raw: int = 0
    initial_visible: int = 0
    escalated_events: int = 0
    escalated_visible: int = 0
    final_visible: int = 0
    retained: int = 0
    suppressed: int = 0
    ambiguous: int = 0


class Ledger:
    """The books of one trajectory."""

    def __init__(self, run: dict[str, Any] | None = None) -> None:
        run = run or {}
        self.arm: object = run.get("arm_id", ABSENT)
        self.configuration: object = run.get("configuration_id", ABSENT)
        self.totals = Totals()
        self.event_ids: set[object] = set()
        self.operations: dict[object, Operation] = {}
        self.escalations: dict[object, Escalation] = {}
        self.raw_contents = Register()
        self.visible_contents = Register()
        self.requires_escalation = False
        self.is_untrusted = False
        self.violations: list[Violation] = []

    def report(self, code: str, path: str, detail: str = "") -> None:
        """Note a violation."""
        message = f"{MESSAGES[code]}: {detail}" if detail else MESSAGES[code]
        self.violations.append(Violation(code, message, path))
