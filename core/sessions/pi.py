"""Pi session logs with Fabric traces: bytes past the cursor in, evidence out.

Almost all bytes of a session are prose. Trace lines are found by their literal kind, and the model
line that a trace needs is looked up backwards from it, so prose is neither split nor parsed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from fabricd.core.canonical import as_given, text, utf8
from fabricd.core.entropy.fingerprint import signature
from fabricd.core.evidence import Evidence, count_short_trace, count_trace
from fabricd.core.model import Trace
from fabricd.core.nesting import RECORD_LEVELS, deeper_than, depth_steps, may_exceed
from fabricd.core.plain import is_list, is_object
from fabricd.core.sessions.records import BLOCK, Block, Malformed, Tail, records_of, split
from fabricd.core.sessions.trace import clear_shapes, has_odd_numbers, refusal, trace_of
from fabricd.core.steps import OPERATIONS, Steps

MARK = b"pi-fabric.execution"
MAX_DETAILS = 4 * 1024 * 1024
_MODEL_LINE = re.compile(rb'"type"\s*:\s*"model_change"|"role"\s*:\s*"assistant"')
_SMALL = 64 * 1024
_CANDIDATES = 64


class ScanState(Struct, frozen=True, gc=False):
    """Where a scan stands: the open end of the stream and the model in force there."""

    tail: Tail = Tail()
    model: str | None = None


class _Details(Struct, frozen=True):
    trace: Trace
    audits: Raw | UnsetType = UNSET


class _Message(Struct, frozen=True):
    role: str | UnsetType = UNSET
    provider: str | UnsetType = UNSET
    model: str | UnsetType = UNSET
    details: _Details | UnsetType = UNSET


class _TraceLine(Struct, frozen=True, rename="camel"):
    type: str | UnsetType = UNSET
    provider: str | UnsetType = UNSET
    model_id: str | UnsetType = UNSET
    details: _Details | UnsetType = UNSET
    message: _Message | UnsetType = UNSET


class _RawMessage(Struct, frozen=True):
    details: Raw | UnsetType = UNSET


class _RawLine(Struct, frozen=True):
    details: Raw | UnsetType = UNSET
    message: _RawMessage | UnsetType = UNSET


class _ModelMessage(Struct, frozen=True, gc=False):
    role: str | UnsetType = UNSET
    provider: str | UnsetType = UNSET
    model: str | UnsetType = UNSET


class _ModelLine(Struct, frozen=True, rename="camel", gc=False):
    type: str | UnsetType = UNSET
    provider: str | UnsetType = UNSET
    model_id: str | UnsetType = UNSET
    message: _ModelMessage | UnsetType = UNSET


class _Reading(Struct, frozen=True):
    """What one record of a trace line says. No trace and no refusal: it was only talked about.

    `doubtful` shapes may not tell the argument names without doubt.
    """

    model: str | None = None
    trace: Trace | None = None
    shapes: Sequence[str] = ()
    doubtful: bool = True
    refused: str | None = None
    has_audits: bool = False


_TRACE_LINE = msgspec.json.Decoder(_TraceLine)
_RAW_LINE = msgspec.json.Decoder(_RawLine)
_MODEL = msgspec.json.Decoder(_ModelLine)


def _identity(provider: object, model: object) -> str | None:
    if isinstance(provider, str) and isinstance(model, str) and provider and model:
        return f"{provider}/{model}"
    return None


def _model_of_struct(line: _TraceLine | _ModelLine) -> str | None:
    if line.type == "model_change":
        return _identity(line.provider, line.model_id)
    message = line.message
    if line.type == "message" and message is not UNSET and message.role == "assistant":
        return _identity(message.provider, message.model)
    return None


def _model_of_value(value: dict[str, Any]) -> str | None:
    if value.get("type") == "model_change":
        return _identity(value.get("provider"), value.get("modelId"))
    message = value.get("message")
    if value.get("type") != "message" or not is_object(message):
        return None
    if message.get("role") == "assistant":
        return _identity(message.get("provider"), message.get("model"))
    return None


def _model_on(line: bytes) -> str | None:
    """The model a line sets; of a glued line, the last one."""
    # The exact spelling first: a plain search is much cheaper, and writers rarely add spaces.
    if b'"role":"assistant"' not in line and _MODEL_LINE.search(line) is None:
        return None
    if deeper_than(line, RECORD_LEVELS):
        return None
    try:
        return _model_of_struct(_MODEL.decode(line))
    except msgspec.MsgspecError:
        pass
    try:
        values = records_of(line)
    except Malformed:
        return None
    found = (_model_of_value(value) for value in values if is_object(value))
    return next((model for model in reversed(list(found)) if model is not None), None)


def _nearest_model(block: bytes, low: int, high: int) -> tuple[str | None, int]:
    """The last line of `block[low:high]` that may set a model: what it sets, and where it starts.

    Without such a line it starts at `low`.
    """
    at = block.rfind(b'"assistant"', low, high)
    end = _line_end(block, at, high) if at >= 0 else low
    later = block.rfind(b'"model_change"', end, high)
    if later >= 0:
        at, end = later, _line_end(block, later, high)
    if at < 0:
        return None, low
    start = max(block.rfind(b"\n", low, at) + 1, low)
    return _model_on(block[start:end]), start


def _line_end(block: bytes, at: int, high: int) -> int:
    end = block.find(b"\n", at, high)
    return end if end >= 0 else high


def _last_model(block: bytes, low: int, high: int, current: str | None) -> Steps[str | None]:
    """The model in force after the lines of `block[low:high]`, found from their end."""
    tried = 0
    while low < high:
        model, high = _nearest_model(block, low, high)
        if model is not None:
            return model
        tried += 1
        if tried % _CANDIDATES == 0:
            yield
    return current


class _Presence(Struct, frozen=True):
    trace: Raw | UnsetType = UNSET


def _too_large(line: bytes, details: memoryview) -> _Reading:
    """The reading of a line whose details are too large to be looked at."""
    has_trace = msgspec.json.decode(details, type=_Presence).trace is not UNSET
    model = _model_of_struct(_MODEL.decode(line))
    return _Reading(model, refused="details-too-large" if has_trace else None)


def _raw_details(line: bytes) -> memoryview:
    """The details of a line as they stand there; empty where it has none.

    Raises:
        msgspec.MsgspecError: the strict decoder cannot read the line.
    """
    sizes = _RAW_LINE.decode(line)
    details = sizes.details
    if details is UNSET and sizes.message is not UNSET:
        details = sizes.message.details
    return memoryview(b"") if details is UNSET else memoryview(details)


def _read_strictly(line: bytes) -> _Reading | None:
    """The reading of a sound line, or None where the tolerant way has to judge."""
    raw_length = len(line)
    if raw_length > _SMALL:
        details = _raw_details(line)
        raw_length = details.nbytes
        if raw_length > MAX_DETAILS:
            return _too_large(line, details)
    record = _TRACE_LINE.decode(line)
    model = _model_of_struct(record)
    found = record.details
    if found is UNSET and record.message is not UNSET:
        found = record.message.details
    if found is UNSET:
        return _Reading(model)
    plain = raw_length * 6 > 524_288 and line.isascii() and not has_odd_numbers(line)
    clear = clear_shapes(found.trace, raw_length, plain)
    if clear is None:
        return None
    shapes, doubtful = clear
    has_audits = found.audits is not UNSET and _holds_items(bytes(found.audits))
    return _Reading(model, found.trace, shapes, doubtful, None, has_audits)


def _holds_items(raw: bytes) -> bool:
    """Whether a JSON text is an array with something in it."""
    return raw[:1] == b"[" and (len(raw) > 16 or bool(raw[1:-1].strip()))


def _read_value(value: object, line_length: int) -> _Reading:
    if not is_object(value):
        return _Reading()
    model = _model_of_value(value)
    details = details_of(value)
    if details is None or "trace" not in details:
        return _Reading(model)
    if line_length > MAX_DETAILS and len(utf8(text(details, as_given))) > MAX_DETAILS:
        return _Reading(model, refused="details-too-large")
    reason = refusal(details["trace"])
    if reason is not None:
        return _Reading(model, refused=reason)
    trace = trace_of(details["trace"])
    shapes = [signature(operation.args) for operation in trace.operations]
    audits = details.get("audits")
    return _Reading(model, trace, shapes, True, None, is_list(audits) and bool(audits))


def details_of(value: dict[str, Any]) -> dict[str, Any] | None:
    """The details of a record, where it has an object of them."""
    # A top-level object hides the nested one, even an empty one.
    message = value.get("message")
    nested = message.get("details") if is_object(message) else None
    for details in (value.get("details"), nested):
        if is_object(details):
            return details
    return None


def _readings(line: bytes) -> list[_Reading]:
    """All records of a trace line, in order.

    Raises:
        Malformed: the line does not parse.
    """
    try:
        reading = _read_strictly(line)
    except msgspec.MsgspecError:
        reading = None
    if reading is not None:
        return [reading]
    return [_read_value(value, len(line)) for value in records_of(line)]


def _count_reading(evidence: Evidence, reading: _Reading, model: str | None) -> Steps[str | None]:
    model = reading.model or model
    if reading.refused is not None:
        evidence.refused[reading.refused] = evidence.refused.get(reading.refused, 0) + 1
    if reading.trace is not None:
        yield from count_trace(evidence, reading.trace, reading.shapes, model, reading.doubtful)
    return model


def _count_line(
    evidence: Evidence, line: bytes, offset: int, model: str | None
) -> Steps[str | None]:
    """Count a trace line of any kind; gives the model in force after it."""
    if (yield from depth_steps(line, RECORD_LEVELS)):
        evidence.refused["too-deep"] = evidence.refused.get("too-deep", 0) + 1
        return model
    try:
        readings = _readings(line)
    except Malformed:
        evidence.losses.bad_lines += 1
        return model
    if len(readings) > 1:
        evidence.losses.glued_lines += 1
    for reading in readings:
        model = yield from _count_reading(evidence, reading, model)
    if any(reading.has_audits for reading in readings):
        evidence.audit_spans.append((offset, len(line)))
    return model


def _plain_reading(line: bytes) -> _Reading | None:
    """The reading of an ordinary trace line, or None where `_count_line` has to look closer."""
    if len(line) > _SMALL or may_exceed(line, RECORD_LEVELS):
        return None
    try:
        reading = _read_strictly(line)
    except msgspec.MsgspecError:
        return None
    if reading is None or (reading.trace and len(reading.trace.operations) > OPERATIONS):
        return None
    return reading


def _scan_block(evidence: Evidence, block: Block, model: str | None) -> Steps[str | None]:
    data, high = block.data, block.high
    shift = block.offset - block.low
    position = block.low
    operations = evidence.operations
    while (hit := data.find(MARK, position, high)) >= 0:
        start = data.rfind(b"\n", position, hit) + 1 or position
        end = data.find(b"\n", hit)
        if start > position:
            nearest, left = _nearest_model(data, position, start)
            if nearest is None:
                nearest = yield from _last_model(data, position, left, model)
            model = nearest
        line = data[start:end]
        reading = _plain_reading(line)
        if reading is None:
            model = yield from _count_line(evidence, line, shift + start, model)
        else:
            # The common case without the machinery of steps: most of a scan's time is here.
            model = reading.model or model
            if reading.trace is not None:
                count_short_trace(evidence, reading.trace, reading.shapes, model, reading.doubtful)
            if reading.has_audits:
                evidence.audit_spans.append((shift + start, len(line)))
        position = end + 1
        if evidence.operations - operations >= OPERATIONS:
            operations = evidence.operations
            yield
    return (yield from _last_model(data, position, high, model))


def scan_into(evidence: Evidence, piece: bytes, state: ScanState) -> Steps[ScanState]:
    """Add the records that end in `piece` to the evidence; gives the state after it.

    Yields at block boundaries and inside long traces; the result does not depend on where the
    stream was cut into pieces.
    """
    tail, model = state.tail, state.model
    for start in range(0, len(piece), BLOCK):
        part = piece if len(piece) <= BLOCK else piece[start : start + BLOCK]
        found = split(part, tail)
        tail = found.tail
        evidence.losses.overlong_lines += found.overlong
        for block in found.blocks:
            model = yield from _scan_block(evidence, block, model)
        yield
    return ScanState(tail, model)


def scan_steps(piece: bytes, state: ScanState) -> Steps[tuple[Evidence, ScanState]]:
    """Evidence of the records that end in `piece`, and the state after it."""
    evidence = Evidence()
    after = yield from scan_into(evidence, piece, state)
    return evidence, after


def open_end_steps(state: ScanState) -> Steps[Evidence]:
    """Evidence of an unterminated last line that is complete; empty where it may still grow."""
    evidence = Evidence()
    line = state.tail.data
    if MARK not in line or (yield from depth_steps(line, RECORD_LEVELS)):
        # Too deep to be parsed, it cannot be known to be complete either.
        return evidence
    yield from _count_line(evidence, line, state.tail.offset, state.model)
    return Evidence() if evidence.losses.bad_lines else evidence
