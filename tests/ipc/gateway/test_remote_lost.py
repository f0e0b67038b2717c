"""A request that a server behind a URL leaves without its reply ends the run with a sentence."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.ipc.gateway.test_remote import wrap
from tests.ipc.gateway.web import Answers, Web, reply, web

JSON = "application/json"
ASKED = b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}\n'
NOT_OURS = b'{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}'


def _cut(self: Web, _method: str, _what: Any) -> None:
    self.send_response(200)
    self.send_header("Content-Type", JSON)
    self.send_header("Content-Length", "1000")
    self.end_headers()
    self.wfile.write(b'{"jsonrpc":')
    self.close_connection = True


def _empty(self: Web, _method: str, _what: Any) -> None:
    self.send_response(204)
    self.end_headers()


def _body(data: bytes, kind: str | None, status: int = 200, **headers: str) -> Answers:
    return lambda self, _method, _what: self.body(data, kind, status, **headers)


def _stream(data: bytes, **headers: str) -> Answers:
    return lambda self, _method, _what: self.stream(data, **headers)


LOST: dict[str, tuple[Answers, str]] = {
    "broken": (_body(b'{"jsonrpc":', JSON), "no JSON-RPC message"),
    "html": (_body(b"<p>hello", "text/html"), "text/html"),
    "nothing": (_empty, "HTTP 204"),
    "accepted": (_body(b"", None, 202), "HTTP 202"),
    "packed": (_body(gzip.compress(reply(1)), JSON, Content_Encoding="gzip"), "compressed (gzip)"),
    "packed-stream": (_stream(b"x", Content_Encoding="gzip"), "compressed (gzip)"),
    "chunk": (_stream(b"zz\r\nxxx", Transfer_Encoding="chunked"), "broke off"),
    "ended": (_stream(b"data: {}\n\n"), "ended its stream"),
    "half": (_stream(b"data: " + reply(1) + b"\n"), "ended its stream"),
    "other": (_stream(b"data: " + reply("1") + b"\n\n"), "ended its stream"),
    "cut": (_cut, "broke off"),
}


def outcome(place: Path, answers: Answers, asked: bytes = ASKED) -> tuple[int, bytes, str]:
    """How a run ends in which one line is posted: its code, its output, its sentence."""
    with web(answers) as (url, _), wrap(place, "--url", url) as process:
        out, err = process.communicate(asked, timeout=30)
    return process.returncode, out, err.decode()


@pytest.mark.parametrize("name", LOST)
def test_a_lost_reply_is_said(tmp_path: Path, name: str) -> None:
    answers, words = LOST[name]
    code, _, said = outcome(tmp_path, answers)
    assert code == 1 and words in said and said.count("\n") == 1
    assert "tools/call (id 1)" in said or "compressed" in said


def test_a_reply_that_is_too_long_is_said(tmp_path: Path) -> None:
    code, out, said = outcome(tmp_path, _body(reply(1, "x" * (66 << 20)), JSON))
    assert (code, out) == (1, b"") and "64 MiB" in said


@pytest.mark.parametrize("kind", ["text/plain", None, "text/html; charset=utf-8"])
def test_a_message_counts_whatever_its_type(tmp_path: Path, kind: str | None) -> None:
    assert outcome(tmp_path, _body(b"\xef\xbb\xbf" + reply(1), kind)) == (0, reply(1) + b"\n", "")


def test_a_message_to_nobody_is_passed_on_and_the_loss_is_said(tmp_path: Path) -> None:
    code, out, said = outcome(tmp_path, _body(NOT_OURS, JSON, 400))
    assert (code, out) == (1, NOT_OURS + b"\n")
    assert "HTTP 400" in said and "tools/call (id 1)" in said
    code, out, said = outcome(tmp_path, _body(NOT_OURS, JSON, 401))
    assert (code, out) == (1, NOT_OURS + b"\n") and "OAuth" in said
    code, out, said = outcome(tmp_path, _body(NOT_OURS, JSON, 404, Mcp_Session_Id="s"))
    assert (code, out) == (1, NOT_OURS + b"\n") and "session" in said


def test_each_request_of_a_batch_wants_its_reply(tmp_path: Path) -> None:
    batch = json.dumps([{"id": "a", "method": "x"}, {"id": 2, "method": "y"}, {"method": "z"}])
    asked = batch.encode() + b"\n"
    both = b"[" + reply("a") + b"," + reply(2) + b"]"
    assert outcome(tmp_path, _body(both, JSON), asked) == (0, both + b"\n", "")
    code, out, said = outcome(tmp_path, _body(b"[" + reply("a") + b"]", JSON), asked)
    assert (code, out) == (1, b"[" + reply("a") + b"]\n") and "y (id 2)" in said


def test_what_asks_for_nothing_needs_no_reply(tmp_path: Path) -> None:
    for asked in (b'{"method":"notifications/x"}\n', b'{"id":7,"result":{}}\n'):
        assert outcome(tmp_path, _body(b"", None, 202), asked) == (0, b"", "")
        assert outcome(tmp_path, _body(b"<p>", "text/html"), asked) == (0, b"", "")


def test_a_stream_is_gone_on_with_after_its_last_event(tmp_path: Path) -> None:
    def answers(self: Web, method: str, what: Any) -> None:
        if method == "POST":
            self.stream(b"id: 1\nretry: 100\ndata: \n\n")
        elif what == "1":
            self.stream(b"id: \xc3\xa9\ndata: \n\n")
        elif len(seen) == 3:
            self.body(b"", None, 503)
        else:
            self.stream(b"data: " + reply(1) + b"\n\n")

    with web(answers) as (url, seen), wrap(tmp_path, "--url", url) as process:
        out, err = process.communicate(ASKED, timeout=30)
    assert (process.returncode, out, err) == (0, reply(1) + b"\n", b"")
    # The library reads headers as latin-1.
    again = "é".encode().decode("latin-1")
    assert [what for method, what in seen if method == "GET"] == ["1", again, again]


@pytest.mark.parametrize(("status", "words"), [(405, "HTTP 405"), (200, "5 tries")])
def test_a_stream_that_cannot_be_gone_on_with_is_said(
    tmp_path: Path, status: int, words: str
) -> None:
    def answers(self: Web, method: str, _what: Any) -> None:
        if method == "POST":
            self.stream(b"id: 1\nretry: 0\ndata:\n\n")
        elif status == 200:
            self.stream(b": nothing\n\n")
        else:
            self.body(b"", None, status)

    code, out, said = outcome(tmp_path, answers)
    assert (code, out) == (1, b"") and words in said and said.count("\n") == 1
