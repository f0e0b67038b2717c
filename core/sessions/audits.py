"""The audit calls of trace lines: arguments as the model sent them, for gate and pool."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from fabricd.core.model import AuditCall
from fabricd.core.nesting import RECORD_LEVELS, deeper_than
from fabricd.core.plain import is_list, is_object
from fabricd.core.sessions.pi import details_of
from fabricd.core.sessions.records import Malformed, exact_values_of, records_of
from fabricd.core.sessions.trace import refusal


class _AuditRow(Struct, frozen=True):
    ref: str
    args: dict[str, Any]


class _AuditDetails(Struct, frozen=True):
    audits: list[_AuditRow] | UnsetType = UNSET


class _AuditMessage(Struct, frozen=True):
    details: _AuditDetails | UnsetType = UNSET


class _AuditLine(Struct, frozen=True):
    id: Any = None
    details: _AuditDetails | UnsetType = UNSET
    message: _AuditMessage | UnsetType = UNSET


_AUDITS = msgspec.json.Decoder(_AuditLine)


class Audited(Struct, frozen=True):
    """The audit calls of one record, and the id of its entry where it has one."""

    entry: str | None
    calls: tuple[AuditCall, ...]


def audited(line: bytes) -> Iterator[Audited]:
    """The records of one trace line with their audit calls, verbatim, in order.

    The line should be one of `Evidence.audit_spans`; of anything else only what a trace line could
    hold is given, which may be nothing.
    """
    if deeper_than(line, RECORD_LEVELS):
        return
    try:
        record = _AUDITS.decode(line)
    except msgspec.MsgspecError:
        yield from _audited_tolerantly(line)
        return
    details = record.details
    if details is UNSET and record.message is not UNSET:
        details = record.message.details
    if details is not UNSET and details.audits is not UNSET:
        calls = tuple(AuditCall(row.ref, row.args) for row in details.audits if row.ref)
        yield Audited(_entry(record.id), calls)


def _entry(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _audited_tolerantly(line: bytes) -> Iterator[Audited]:
    try:
        values = records_of(line)
    except Malformed:
        return
    for value, exact in zip(values, exact_values_of(line), strict=True):
        details = details_of(value) if is_object(value) else None
        if details is None or refusal(details.get("trace")) is not None:
            continue
        calls = calls_in((details_of(exact) or {}).get("audits"))
        yield Audited(_entry(value.get("id")), tuple(calls))


def calls_in(audits: object) -> Iterator[AuditCall]:
    """The audit calls of a decoded list, without what is none."""
    for audit in audits if is_list(audits) else ():
        if is_object(audit):
            ref, args = audit.get("ref"), audit.get("args")
            if isinstance(ref, str) and ref and is_object(args):
                yield AuditCall(ref, args)


def audit_calls(line: bytes) -> Iterator[AuditCall]:
    """The audit calls of one trace line, in order."""
    for record in audited(line):
        yield from record.calls


def calls_of(lines: Iterable[bytes]) -> Iterator[AuditCall]:
    """The audit calls of several trace lines, in order."""
    for line in lines:
        yield from audit_calls(line)
