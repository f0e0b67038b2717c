"""What the relay takes for owed is what the daemon answers by an id, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.ipc.context.messages import McpError, message_of, result_line
from fabricd.ipc.context.owed import Owed, key_of

_IDS = [
    b"1", b"-0", b"1.50", b"1e999", b"01", b"-", b"NaN", b"1" * 5000, b'"a"', b'""', b'"\\u0061"',
    b'"a\\\\"', b'"a\\"b,"', b'"\\ud800"', b'"\\uD83D\\ude00"', b'"\\u00zz"', b'"\x01"', b'"\xff"',
    b'"' + b"q" * 1100 + b'"', b'"' + b'\\"' * 1100 + b'"', b"true", b"false", b"null", b"[1]",
    b"{}", b"[" * 600 + b"]" * 600,
]  # fmt: skip
_METHODS = [b'"ping"', b'"p\\udfff"', b"null", b"7", b'"tools/call"']
_PARAMS = [
    b"{}", b"null", b"Infinity", b'{"a":"\\ud800"}', b'{"\\uDC00":1}', b'{"a":"\\\\ud800"}',
    b"[" * 511 + b"]" * 511, b"[" * 512 + b"]" * 512, b"[" * 9000 + b"]" * 9000, b"01", b"{",
    b'{"id":9}',
]  # fmt: skip
_AROUND = [b"", b" ", b"\r", b"x", b"\x0c", b"\xef\xbb\xbf", b"\x00"]


def _is_answered_by_id(line: bytes) -> bool:
    try:
        message = message_of(line)
    except McpError:
        return False
    return message.key is not None and message.method is not None


@given(
    st.sampled_from(_IDS),
    st.sampled_from(_METHODS),
    st.sampled_from(_PARAMS),
    st.sampled_from(_AROUND),
    st.sampled_from(_AROUND),
)
def test_lines_as_the_daemon_reads_them(
    id: bytes, method: bytes, params: bytes, before: bytes, after: bytes
) -> None:
    line = b'%b{"id":%b,"method":%b,"params":%b}%b\n' % (before, id, method, params, after)
    owed = Owed()
    owed.asked(line)
    assert bool(owed.lines()) == _is_answered_by_id(line)


@pytest.mark.parametrize("id", _IDS)
def test_each_id_is_told_from_each_other(id: bytes) -> None:
    line = b'{"jsonrpc":"2.0","method":"ping","id":%b}\n' % id
    owed = Owed()
    owed.asked(line)
    if not _is_answered_by_id(line):
        assert owed.lines() == [] and key_of(line) is None
        return
    assert owed.lines() == [line]
    assert json.loads(key_of(line) or "", parse_int=str) == json.loads(id, parse_int=str)
    owed.answered(result_line(b"77", {}) + result_line(b'"z"', {}))
    assert owed.lines() == [line]
    owed.answered(result_line(message_of(line).key or b"", {"more": "x" * 5000}))
    assert owed.lines() == []


@pytest.mark.parametrize("id", [b"null", b"true", b"[1]", b'"\\ud800"', b"{}"])
def test_what_is_no_id_calls_nothing_off(id: bytes) -> None:
    owed = Owed()
    owed.asked(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    params = b'{"requestId":%b}' % id
    owed.asked(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":%b}\n' % params)
    assert len(owed.lines()) == 1


_TEXTS = st.one_of(st.integers(0, 5), st.sampled_from(["a", 'b"', "é", "1"]))


@given(st.lists(st.tuples(st.sampled_from(["ask", "answer", "call off", "note"]), _TEXTS)))
def test_what_is_owed_is_what_was_asked_and_not_answered(events: list[tuple[str, Any]]) -> None:
    owed, waiting = Owed(), dict[str, bytes]()
    for what, id in events:
        key = json.dumps(id)
        body: dict[str, Any] = {"jsonrpc": "2.0", "method": "tools/call", "params": {}}
        if what == "ask" and key not in waiting:
            said = json.dumps({**body, "id": id}).encode() + b"\n"
            owed.asked(said)
            waiting[key] = said
        elif what == "answer" and key in waiting:
            owed.answered(b'{"jsonrpc":"2.0","id":%b,"result":{}}\n' % key.encode())
            del waiting[key]
        elif what == "call off":
            body = {"method": "notifications/cancelled", "params": {"requestId": id}}
            owed.asked(json.dumps(body).encode() + b"\n")
            waiting.pop(key, None)
        elif what == "note":
            owed.asked(b'{"method":"notifications/progress"}\n')
    assert sorted(owed.lines()) == sorted(waiting.values())
    assert owed.given_up() == []
    assert sorted(owed.given_up()) == sorted(waiting)
    assert owed.lines() == [] and not owed


def test_messages_that_are_none_are_owed_no_answer() -> None:
    owed = Owed()
    for said in (b"{\n", b"[]\n", b"7\n", b'{"id":1}\n', b"\xff\n", b"[" * 100_000 + b"\n"):
        owed.asked(said)
    owed.answered(b'garbage\n\n{}\n{"jsonrpc":"2.0","id":\n{"jsonrpc":"2.0","id":"x\n')
    assert owed.lines() == []
