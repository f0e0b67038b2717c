"""What a rename would cost: the calls that use the declared name, against those that use the other.

Counted by name alone. No renamed schema is ever made, so there is nothing to judge calls by.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from msgspec import Struct

from fabricd.core.entropy.lab.proposals import ModalRename
from fabricd.core.entropy.lab.trial import Bill
from fabricd.core.model import Outcome
from fabricd.core.sessions.samples import Recording
from fabricd.core.steps import OPERATIONS, Steps


class _Uses(Struct):
    """Calls of a rename's action that use the declared name, the other one, or neither."""

    samples: int = 0
    declared: int = 0
    other: int = 0

    def count(self, rename: ModalRename, ref: str, args: Container[str], counts: _Ends) -> None:
        if rename.alias == "actionAlias":
            names: Container[str] = (ref,)
        elif ref == rename.ref:
            names = args
        else:
            return
        declared, other = rename.declared in names, rename.spelling in names
        if rename.alias == "actionAlias" and not (declared or other):
            return
        self.samples += 1
        self.declared += declared and counts.worked
        self.other += other and counts.failed


class _Ends(Struct, frozen=True, gc=False):
    """How a call may count: an audit, whose end nobody knows, as either."""

    worked: bool
    failed: bool


_AUDIT = _Ends(True, True)


def _ends(outcome: Outcome) -> _Ends:
    return _Ends(outcome == "succeeded", outcome == "failed")


def rename_bills_steps(
    recordings: Iterable[Recording], renames: Sequence[ModalRename]
) -> Steps[tuple[Bill, ...]]:
    """A bill for each rename; audits replace traces where an action has any."""
    audits = [_Uses() for _ in renames]
    traces = [_Uses() for _ in renames]
    done = 0
    for recording in recordings if renames else ():
        for call in recording.audits:
            for rename, uses in zip(renames, audits, strict=True):
                uses.count(rename, call.ref, call.args, _AUDIT)
            done += 1
            if done % OPERATIONS == 0:
                yield
        for operation in recording.trace.operations:
            for rename, uses in zip(renames, traces, strict=True):
                uses.count(rename, operation.ref, operation.args, _ends(operation.outcome))
            done += 1
            if done % OPERATIONS == 0:
                yield
    chosen = [mine if mine.samples else theirs for mine, theirs in zip(audits, traces, strict=True)]
    return tuple(Bill(uses.samples, uses.other, uses.declared) for uses in chosen)
