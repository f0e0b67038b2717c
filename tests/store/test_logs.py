"""A log read again and again says what one reading of it says, whatever becomes of its end."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricd.core.history.calls import CallTable
from fabricd.core.history.judging import Judge
from fabricd.store import compressed
from fabricd.store.compressed import read_compressed
from fabricd.store.logs import Kept, NotALog, read_log

JUDGE = Judge()


def codex(kind: str, **payload: Any) -> bytes:
    """A line of a rollout."""
    return json.dumps(
        {"type": kind, "timestamp": "2026-11-01T00:00:00Z", "payload": payload}
    ).encode()


def call(call_id: str, name: str = "shell") -> bytes:
    """A call of one."""
    item = {"name": name, "call_id": call_id, "arguments": "{}"}
    return codex("response_item", type="function_call", **item)


def failure(call_id: str) -> bytes:
    """The typed end of one."""
    return codex("event_msg", type="exec_command_end", call_id=call_id, exit_code=1)


HEADER = codex("session_meta", id="s", cwd="/w") + b"\n"
ENTRIES = [make(key) for key in ("a", "b", "REDACTED") for make in (call, failure)]
ENDS = [*ENTRIES, b"", b" junk", b'{"type"', ENTRIES[0] + b" junk", ENTRIES[0] + ENTRIES[1]]


def plain(table: CallTable) -> Any:
    """A table as values."""
    return msgspec.to_builtins(table)


def read(path: Path, known: Kept | None = None) -> Kept:
    """One pass; what it keeps goes through a checkpoint."""
    found = read_log(os.fsencode(path), known, JUDGE)
    return msgspec.msgpack.decode(msgspec.msgpack.encode(found), type=Kept)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from(ENTRIES), st.booleans(), st.sampled_from(ENDS)), max_size=8)
)
def test_an_open_end_may_become_anything(
    tmp_path_factory: pytest.TempPathFactory, turns: list[tuple[bytes, bool, bytes]]
) -> None:
    path = tmp_path_factory.mktemp("logs") / "rollout.jsonl"
    settled, known = HEADER, None
    for index, (entry, is_ended, end) in enumerate(turns):
        settled += entry + b"\n" if is_ended else b""
        path.write_bytes(settled + end)
        os.utime(path, ns=(index * 10**9, index * 10**9))
        known = read(path, known)
        assert plain(known.shown) == plain(read(path).shown)


def test_a_last_line_counts_before_it_ends(tmp_path: Path) -> None:
    path = tmp_path / "rollout.jsonl"
    path.write_bytes(HEADER + call("a"))
    found = read(path)
    assert (len(found.shown.calls), len(found.table.calls)) == (1, 0)
    path.write_bytes(HEADER + call("a") + b"\n" + call("b", "other"))
    assert len(read(path, found).shown.calls) == 2


def test_a_mark_of_the_byte_order_and_half_a_character_cost_nothing(tmp_path: Path) -> None:
    path = tmp_path / "rollout.jsonl"
    spoilt = call("a", "a\ud83d")
    path.write_bytes(b"\xef\xbb\xbf" + HEADER + spoilt + b"\n")
    found = read(path)
    assert (found.shown.losses.bad_lines, len(found.shown.calls)) == (0, 1)


def test_a_document_with_half_a_character_is_read(tmp_path: Path) -> None:
    path = tmp_path / "session.json"
    calls = [{"id": "1", "name": "\ud83d", "args": {"x": "\udc00"}, "status": "success"}]
    chat = {"sessionId": "s", "projectHash": "p", "messages": [{"toolCalls": calls}]}
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(chat).encode())
    assert len(read(path).shown.calls) == 1


@pytest.mark.parametrize("filling", [b"\n", b" ", b"\r\n"])
def test_a_compressed_log_of_nothing_is_no_trap(tmp_path: Path, filling: bytes) -> None:
    path = tmp_path / "rollout.jsonl.zst"
    path.write_bytes(zstandard.compress(HEADER + filling * (150 << 20)))
    with pytest.raises(NotALog, match="times as large"):
        read_compressed(os.fsencode(path), None, JUDGE)


def test_blank_lines_are_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compressed, "_RATIO", 10**9)
    path = tmp_path / "rollout.jsonl.zst"
    path.write_bytes(zstandard.compress(HEADER + b" \n" * (16 << 20) + call("a") + b"\n"))
    found = read_compressed(os.fsencode(path), None, JUDGE)
    assert (len(found.shown.calls), found.shown.losses.bad_lines) == (1, 0)
