"""Who a session says it is, and whom it was forked from."""

from __future__ import annotations

from typing import Any

import pytest

from fabricd.core.sessions.audits import audited
from fabricd.core.sessions.header import MAX_HEADER, Header, header_of, id_in_name
from tests.core.making import line, operation, record, trace


@pytest.mark.parametrize(
    ("value", "header"),
    [
        ({"type": "session", "id": "a"}, Header("a")),
        ({"type": "session", "id": "a", "parentSession": "/p.jsonl"}, Header("a", "/p.jsonl")),
        ({"type": "session", "id": " a "}, Header(" a ")),
        ({"type": "session", "id": "\ud800"}, Header("\ud800")),
        ({"type": "session", "id": " "}, Header()),
        ({"type": "session", "id": 7, "parentSession": []}, Header()),
        ({"type": "session"}, Header()),
        ({"type": "message", "id": "a"}, Header()),
        ([], Header()),
        (1, Header()),
    ],
)
def test_a_header(value: Any, header: Header) -> None:
    assert header_of(line(value)) == header
    assert header_of(b"\xef\xbb\xbf " + line(value) + b"\r") == header


@pytest.mark.parametrize(
    "data", [b"", b"{", b"\xff", b"[" * 3000, b'{"type":"session","id":' + b'"' + b"x" * MAX_HEADER]
)
def test_what_is_no_header_says_nothing(data: bytes) -> None:
    assert header_of(data) == Header()


@pytest.mark.parametrize(
    ("path", "identity"),
    [
        ("/s/2026-01-01T00-00-00-000Z_0a-1B.jsonl", "0a-1B"),
        ("2026_x_y.jsonl", "y"),
        ("/a_b/plain.jsonl", None),
        ("/s/2026_x.jsonl.zst", None),
        ("/s/2026_.jsonl", None),
        ("/s/2026_a b.jsonl", None),
        ("", None),
    ],
)
def test_an_id_in_a_name(path: str, identity: str | None) -> None:
    assert id_in_name(path) == identity


@pytest.mark.parametrize(
    ("identity", "entry"), [("0a", "0a"), ("", None), (7, None), (None, None), ("\ud800", "\ud800")]
)
def test_audit_calls_come_with_the_id_of_their_entry(identity: Any, entry: str | None) -> None:
    audits = [{"ref": "r", "args": {"k": 1}}]
    raw = line(record(trace(operation()), audits, id=identity))
    # A second record on the line is read the tolerant way.
    for data in (raw, raw + raw):
        assert {found.entry for found in audited(data)} == {entry}
        assert {call.args["k"] for found in audited(data) for call in found.calls} == {1}
