"""The audit calls of trace lines: arguments as the model sent them, for the gate to replay."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from fabricd.core.model import AuditCall
from fabricd.core.nesting import RECORD_LEVELS, deeper_than
from fabricd.core.plain import is_list, is_object
from fabricd.core.sessions.pi import details_of
from fabricd.core.sessions.records import Malformed, records_of
from fabricd.core.sessions.trace import refusal


class _AuditRow(Struct, frozen=True):
    ref: str
    args: dict[str, Any]


class _AuditDetails(Struct, frozen=True):
    audits: list[_AuditRow] | UnsetType = UNSET


class _AuditMessage(Struct, frozen=True):
    details: _AuditDetails | UnsetType = UNSET


class _AuditLine(Struct, frozen=True):
    details: _AuditDetails | UnsetType = UNSET
    message: _AuditMessage | UnsetType = UNSET


_AUDITS = msgspec.json.Decoder(_AuditLine)


def audit_calls(line: bytes) -> Iterator[AuditCall]:
    """The audit calls of one trace line, verbatim, in order.

    The line should be one of `Evidence.audit_spans`; of anything else only what a trace line could
    hold is given, which may be nothing.
    """
    if deeper_than(line, RECORD_LEVELS):
        return
    try:
        record = _AUDITS.decode(line)
    except msgspec.MsgspecError:
        yield from _audit_calls_tolerantly(line)
        return
    details = record.details
    if details is UNSET and record.message is not UNSET:
        details = record.message.details
    if details is not UNSET and details.audits is not UNSET:
        for row in details.audits:
            if row.ref:
                yield AuditCall(row.ref, row.args)


def _audit_calls_tolerantly(line: bytes) -> Iterator[AuditCall]:
    try:
        values = records_of(line)
    except Malformed:
        return
    for value in values:
        details = details_of(value) if is_object(value) else None
        if details is None or refusal(details.get("trace")) is not None:
            continue
        audits = details.get("audits")
        for audit in audits if is_list(audits) else ():
            if not is_object(audit):
                continue
            ref, args = audit.get("ref"), audit.get("args")
            if isinstance(ref, str) and ref and is_object(args):
                yield AuditCall(ref, args)


def calls_of(lines: Iterable[bytes]) -> Iterator[AuditCall]:
    """The audit calls of several trace lines, in order."""
    for line in lines:
        yield from audit_calls(line)
