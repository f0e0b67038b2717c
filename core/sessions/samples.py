"""Whole traces with their audit calls: what a trial and a study replay, line by line.

The scan keeps counts and forgets arguments. Here they are kept, with integers as exact as they
stand in the log, because a schema judges them digit by digit.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from fabricd.core.canonical import as_given, text, utf8
from fabricd.core.entropy.fingerprint import any_containers
from fabricd.core.model import AuditCall, Trace
from fabricd.core.nesting import RECORD_LEVELS, deeper_than
from fabricd.core.plain import is_object
from fabricd.core.sessions.audits import calls_in
from fabricd.core.sessions.pi import MAX_DETAILS, ScanState, details_of, scan_steps
from fabricd.core.sessions.records import Malformed, exact_values_of, records_of
from fabricd.core.sessions.trace import (
    MAX_TRACE_BYTES,
    clear_shapes,
    has_odd_numbers,
    refusal,
    trace_of,
)
from fabricd.core.steps import finish

_SMALL = 64 * 1024


class Recording(Struct, frozen=True):
    """One accepted trace, and the audit calls that were written beside it, verbatim."""

    trace: Trace
    audits: tuple[AuditCall, ...]


class _Details(Struct, frozen=True):
    trace: Trace
    audits: tuple[AuditCall, ...] | UnsetType = UNSET


class _Message(Struct, frozen=True):
    details: _Details | UnsetType = UNSET


class _Line(Struct, frozen=True):
    details: _Details | UnsetType = UNSET
    message: _Message | UnsetType = UNSET


class _RawMessage(Struct, frozen=True):
    details: Raw | UnsetType = UNSET


class _RawLine(Struct, frozen=True):
    details: Raw | UnsetType = UNSET
    message: _RawMessage | UnsetType = UNSET


_REF = attrgetter("ref")
_LINE = msgspec.json.Decoder(_Line)
_RAW_LINE = msgspec.json.Decoder(_RawLine)


def recordings(line: bytes) -> list[Recording]:
    """The accepted traces of one trace line, in order, each with its audit calls.

    The scan's own guard decides; what it refuses, and a line that does not parse, gives none.
    """
    if deeper_than(line, RECORD_LEVELS):
        return []
    if len(line) > MAX_DETAILS and not finish(scan_steps(line + b"\n", ScanState()))[0].traces:
        return []
    try:
        found = _read_strictly(line)
    except msgspec.MsgspecError:
        found = None
    return list(_read_tolerantly(line)) if found is None else found


def _read_strictly(line: bytes) -> list[Recording] | None:
    """The recordings of a sound line, or None where the tolerant way has to judge."""
    record = _LINE.decode(line)
    details = record.details
    if details is UNSET and record.message is not UNSET:
        details = record.message.details
    if details is UNSET:
        return []
    if not _is_ordinary(details.trace, line):
        size = len(line) if len(line) <= _SMALL else _details_size(line)
        plain = size * 6 > MAX_TRACE_BYTES and line.isascii() and not has_odd_numbers(line)
        if clear_shapes(details.trace, size, plain) is None:
            return None
    audits = () if details.audits is UNSET else details.audits
    if not all(map(_REF, audits)):
        audits = tuple(call for call in audits if call.ref)
    return [Recording(details.trace, audits)]


def _is_ordinary(trace: Trace, line: bytes) -> bool:
    """Whether nothing in a short trace needs more of the guard than the decoder has checked."""
    if len(line) > _SMALL:
        return False
    last = -1
    arguments: list[dict[str, Any]] = []
    for operation in trace.operations:
        sequence = operation.sequence
        if sequence <= last or operation.result is not UNSET:
            return False
        if operation.normalization is not UNSET:
            return False
        last = sequence
        arguments.append(operation.args)
    return not any_containers(arguments)


def _details_size(line: bytes) -> int:
    sizes = _RAW_LINE.decode(line)
    details = sizes.details
    if details is UNSET and sizes.message is not UNSET:
        details = sizes.message.details
    return 0 if details is UNSET else memoryview(details).nbytes


def _read_tolerantly(line: bytes) -> Iterator[Recording]:
    try:
        values = records_of(line)
    except Malformed:
        return
    for value, exact in zip(values, exact_values_of(line), strict=True):
        details = details_of(value) if is_object(value) else None
        if details is None or refusal(details.get("trace")) is not None:
            continue
        if len(line) > MAX_DETAILS and len(utf8(text(details, as_given))) > MAX_DETAILS:
            continue
        kept = details_of(exact) or {}
        yield Recording(trace_of(kept["trace"]), tuple(calls_in(kept.get("audits"))))
