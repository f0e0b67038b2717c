"""Lines that are decoded together say what each of them says alone, whatever is wrong with some."""

from __future__ import annotations

import json
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.history.calls import CallTable
from fabricd.core.history.recorder import Recorder
from fabricd.core.sessions.adapting import Adapter
from fabricd.core.sessions.claude_code import ClaudeCode
from tests.core.history.tables import read_table


class Singly:
    """An adapter that is given one record at a time, and no other way."""

    def __init__(self, recorder: Recorder) -> None:
        self._adapter = ClaudeCode(recorder)

    def take(self, record: bytes) -> None:
        """Read one JSON text."""
        self._adapter.take(record)


def call(number: int) -> bytes:
    """A row with a call."""
    item = {"type": "tool_use", "id": f"t{number}", "name": "Read", "input": {"n": number}}
    return json.dumps({"sessionId": "s", "message": {"content": [item]}}).encode()


sound = st.integers(0, 5).map(call)
odd = st.sampled_from(
    [
        b"",
        b" \t\r",
        b"{",
        b"}",
        b'{"x":[{}',
        b"{}]}",
        b'{"x":{}',
        b'{"x":"{}',
        b'{}"}',
        b"{},{}",
        b"{}{}",
        b"[{}]",
        b'{"message":[1]}',
        b'{"message":{"content":[{"type":"tool_use","id":"\\ud800"}]}}',
        b'{"sessionId":"\xff"}',
        b'{"x":' * 2000 + b"1" + b"}" * 2000,
    ]
)
row = st.one_of(sound, odd, st.tuples(sound, st.sampled_from([b"\r", b" ", b"{}"])).map(b"".join))


def table(data: bytes, adapter: type[Adapter], window: int) -> CallTable:
    with patch("fabricd.core.sessions.lines._WINDOW", window):
        return read_table("claude-code", adapter, [data])


@given(st.lists(row, max_size=12), st.booleans(), st.sampled_from([1, 150, 1 << 17]))
def test_lines_together_say_what_each_says_alone(
    rows: list[bytes], is_ended: bool, window: int
) -> None:
    data = b"\n".join(rows) + b"\n" * is_ended
    assert table(data, ClaudeCode, window) == table(data, Singly, window)


def test_a_record_on_two_lines_beside_two_on_one_is_none() -> None:
    # As many values as lines, none of which is where it should be.
    for first, second in ((b'{"x":[{}', b"{}]}"), (b'{"x":{}', b"}"), (b"{", b"}")):
        found = table(b"\n".join((first, second, call(1) + call(2), b"")), ClaudeCode, 1 << 17)
        assert (found.losses.bad_lines, found.losses.glued_lines) == (2, 1)
        assert len(found.calls) == 2
