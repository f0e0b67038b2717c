from __future__ import annotations

import json
import socket
import time
from pathlib import Path

import pytest

from fabricd.ipc import PROTOCOL
from fabricd.ipc.client import (
    CallFailed,
    NeedsRestart,
    NoAnswer,
    NoDaemon,
    NotRunning,
    Ready,
    Reply,
    Unreachable,
    call,
    patient_call,
    probe,
)
from tests.ipc.listeners import deaf, frame_of, listening, replying, silent

OURS = "1.2.3"


STATUS: dict[str, object] = {
    "state": "ready",
    "pid": 7,
    "version": OURS,
    "protocol": PROTOCOL,
    "uptimeSeconds": 1.5,
    "home": "/home",
    "socket": "/home/run/control.sock",
    "rssBytes": 1,
    "degraded": [{"what": "watch", "why": "full", "cure": "raise it"}],
    "files": {"known": 1, "window": 1, "bytes": 1, "behind": 0},
    "report": {"score": 0, "actionOperations": 0, "invocationRejections": 0},
    "artifact": {"state": "loaded", "plans": 0},
    "lastCompile": None,
}


def reply_of(**members: object) -> bytes:
    body = {"jsonrpc": "2.0", "id": 1, "version": OURS, "protocol": PROTOCOL, "result": {}}
    return json.dumps({**body, **members}).encode() + b"\n"


def error_of(**error: object) -> bytes:
    body = {"jsonrpc": "2.0", "id": 1, "version": OURS, "protocol": PROTOCOL, "error": error}
    return json.dumps(body).encode() + b"\n"


def test_a_call_is_one_request_and_gives_the_result_with_version_and_protocol(
    place: Path,
) -> None:
    frames: list[bytes] = []

    def behaviour(connection: socket.socket) -> None:
        frames.append(frame_of(connection))
        connection.sendall(reply_of(result=[1, "é"]))

    with listening(place / "s", behaviour):
        reply = call(str(place / "s"), "turn_end", {"cwd": "/repo"})
        assert reply == Reply([1, "é"], OURS, PROTOCOL)
        call(str(place / "s"), "status")
    with_params, without = (json.loads(frame) for frame in frames)
    assert with_params["method"] == "turn_end" and with_params["params"] == {"cwd": "/repo"}
    assert with_params["jsonrpc"] == "2.0" and with_params["id"] is not None
    assert "params" not in without


def test_a_reply_may_come_in_pieces_and_be_large(place: Path) -> None:
    text = "x" * (8 << 20)

    def behaviour(connection: socket.socket) -> None:
        frame_of(connection)
        data = reply_of(result=text)
        connection.sendall(data[:10])
        time.sleep(0.05)
        connection.sendall(data[10:])

    with listening(place / "s", behaviour):
        assert call(str(place / "s"), "report").result == text


def test_an_error_is_raised_with_code_message_and_reason(place: Path) -> None:
    error = error_of(code=-32000, message="64 clients", data={"reason": "busy"})
    with listening(place / "s", replying(error)), pytest.raises(CallFailed, match="64") as caught:
        call(str(place / "s"), "status")
    assert (caught.value.code, caught.value.reason) == (-32000, "busy")


def test_nobody_at_the_socket_is_no_daemon(place: Path) -> None:
    (place / "file").write_text("")
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(place / "stale"))
    for path in (place / "missing", place / "file" / "s", place / "stale"):
        with pytest.raises(NoDaemon):
            call(str(path), "status", seconds=0.5)
        assert probe(str(path), OURS, 0.5) == NotRunning()
    assert (place / "stale").is_socket()


def test_one_that_accepts_and_says_nothing_is_unreachable_in_time(place: Path) -> None:
    with listening(place / "s", silent):
        started = time.monotonic()
        found = probe(str(place / "s"), OURS, 0.2)
        assert time.monotonic() - started < 8
    assert isinstance(found, Unreachable) and "0.2 s" in found.reason


def test_one_that_drips_its_reply_has_the_same_deadline(place: Path) -> None:
    def dripping(connection: socket.socket) -> None:
        frame_of(connection)
        for _ in range(90):
            connection.sendall(b" ")
            time.sleep(0.1)

    with listening(place / "s", dripping):
        started = time.monotonic()
        with pytest.raises(NoAnswer):
            call(str(place / "s"), "status", seconds=0.3)
        assert time.monotonic() - started < 6


def test_one_that_never_accepts_is_unreachable(place: Path) -> None:
    with deaf(place / "s"):
        assert isinstance(probe(str(place / "s"), OURS, 0.2), Unreachable)
        assert (place / "s").is_socket()


def test_a_daemon_of_this_version_is_ready_and_may_say_more_than_we_know(place: Path) -> None:
    status = {**STATUS, "later": [1]}
    with listening(place / "s", replying(reply_of(result=status))):
        assert probe(str(place / "s"), OURS) == Ready(Reply(status, OURS, PROTOCOL))


@pytest.mark.parametrize(
    "status", [None, [], {}, {**STATUS, "files": {}}, {**STATUS, "degraded": [1]}]
)
def test_a_daemon_of_this_version_with_another_status_is_not_ready(
    place: Path, status: object
) -> None:
    with listening(place / "s", replying(reply_of(result=status))):
        assert isinstance(probe(str(place / "s"), OURS), Unreachable)


def test_a_daemon_of_another_version_needs_a_restart_and_both_are_named(place: Path) -> None:
    with listening(place / "s", replying(reply_of(version="0.9"))):
        found = probe(str(place / "s"), OURS)
    assert isinstance(found, NeedsRestart)
    assert "0.9" in found.reason and OURS in found.reason
    assert found.reply.version == "0.9"


def test_another_protocol_is_named_before_another_version(place: Path) -> None:
    with listening(place / "s", replying(reply_of(version="0.9", protocol=PROTOCOL + 1))):
        found = probe(str(place / "s"), OURS)
    assert isinstance(found, NeedsRestart)
    assert f"protocol {PROTOCOL + 1}" in found.reason


def test_a_daemon_that_answers_with_an_error_is_unreachable_with_its_words(place: Path) -> None:
    busy = error_of(code=-32000, message="64 clients are connected", data={"reason": "busy"})
    with listening(place / "s", replying(busy)):
        assert probe(str(place / "s"), OURS) == Unreachable("64 clients are connected")


def test_a_connection_that_ends_early_is_told_from_one_that_is_slow(place: Path) -> None:
    for early in (b"", b'{"jsonrpc":"2.0","id":1'):
        with (
            listening(place / "s", replying(early)),
            pytest.raises(NoAnswer, match="closed before the reply ended"),
        ):
            call(str(place / "s"), "status", seconds=5)


def test_a_reply_that_never_ends_is_cut_off(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fabricd.ipc.client._MAX_REPLY", 1 << 20)

    def endless(connection: socket.socket) -> None:
        while True:
            connection.sendall(b"x" * 65536)

    with (
        listening(place / "s", endless),
        pytest.raises(NoAnswer, match="too large"),
    ):
        call(str(place / "s"), "status", seconds=5)


@pytest.mark.parametrize(
    "reply",
    [
        b"\n",
        b"\xff\n",
        b"null\n",
        b"[]\n",
        b"5\n",
        b"{}\n",
        b'{"result":{}}\n',
        b'{"result":{},"version":"1"}\n',
        b'{"version":"1","protocol":1}\n',
        b'{"result":{},"version":"1","protocol":"one"}\n',
        b'{"result":{},"version":"1","protocol":null}\n',
        b'{"result":{},"version":"1","protocol":NaN}\n',
        b'{"result":{},"version":"1","protocol":1e999}\n',
        b'{"error":5}\n',
        b'{"error":{}}\n',
        b'{"error":{"code":"x","message":""}}\n',
        b'{"error":{"code":1e999,"message":""}}\n',
        b'{"error":{"code":-32000,"message":"","data":"busy"}}\n',
        b'{"error":{"code":-32000,"message":"","data":[1]}}\n',
        b'{"result":{},"version":"1","protocol":1}\n{}\n',
        b"[" * 100_000 + b"\n",
    ],
    ids=lambda reply: repr(reply[:60]),
)
def test_a_malformed_reply_is_no_answer(place: Path, reply: bytes) -> None:
    with listening(place / "s", replying(reply)), pytest.raises(NoAnswer):
        call(str(place / "s"), "status")
    with listening(place / "s", replying(reply)):
        assert isinstance(probe(str(place / "s"), OURS), Unreachable)


def test_a_path_the_kernel_refuses_is_unreachable_and_says_so() -> None:
    found = probe("/tmp/" + "x" * 200, OURS)
    assert isinstance(found, Unreachable) and "too long" in found.reason


def test_only_a_daemon_that_lives_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "s"
    began = time.monotonic()
    with listening(path, silent), pytest.raises(NoAnswer):
        patient_call(str(path), "report", seconds=20, silence=0.2)
    assert time.monotonic() - began < 5
    body = {"result": 7, "version": OURS, "protocol": PROTOCOL}
    with listening(path, replying(json.dumps(body).encode() + b"\n")):
        assert patient_call(str(path), "report").result == 7
