from __future__ import annotations

from typing import Any

import pytest

from fabricd.core.model import AuditCall
from fabricd.core.sessions.audits import audit_calls, calls_of
from tests.core.making import Json, line, operation, record, result, trace

CALL: Json = {"ref": "mcp.demo.search", "args": {"query": "x"}}
ONE = trace(operation())


def test_audits_are_read_back_verbatim_and_in_order() -> None:
    calls: list[Json] = [
        CALL,
        {"ref": "b", "args": {"n": 2**60, "é": [None]}, "tool": "x", "success": False},
    ]
    found = list(calls_of([line(record(ONE, calls)), line(result(ONE, calls))]))
    assert found == [AuditCall(call["ref"], call["args"]) for call in calls] * 2


def test_audits_that_are_no_calls_are_left_out() -> None:
    odd: list[Any] = [None, {}, {"ref": "", "args": {}}, {"ref": 1, "args": {}}, {"ref": "a"}]
    odd += [{"ref": "a", "args": []}, CALL]
    assert list(audit_calls(line(record(ONE, odd)))) == [AuditCall(CALL["ref"], CALL["args"])]
    others: list[Any] = [{}, "x", 5, None]
    assert [list(audit_calls(line(record(ONE, other)))) for other in others] == [[]] * 4


@pytest.mark.parametrize("blanks", ["", "\ufeff", "\xa0"])
def test_audits_are_the_same_on_both_ways_of_reading(blanks: str) -> None:
    data = line(record(ONE, [CALL, {"ref": "", "args": {}}]))
    assert list(audit_calls(blanks.encode() + data)) == [AuditCall(CALL["ref"], CALL["args"])]


def test_a_refused_trace_keeps_its_audits_to_itself() -> None:
    bad = line(record(trace(durationMs=1), [CALL])) + line(record(ONE, [CALL]))
    assert len(list(audit_calls(bad))) == 1


@pytest.mark.parametrize(
    "text", [b"", b"null", b"[]", b"{", b"{}", b'{"a":' + b"[" * 600, b"\xff", b'{"details":{}}']
)
def test_other_bytes_at_a_span_give_no_calls(text: bytes) -> None:
    assert list(audit_calls(text)) == []
