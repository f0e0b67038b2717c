"""`status` without a daemon of ours: nobody, somebody else, or somebody silent."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

import fabricd
from fabricd.ipc import PROTOCOL
from fabricd.ipc.client import Probe, probe
from tests.cli.running import Cli
from tests.ipc.listeners import deaf, listening, replying, silent


@pytest.fixture
def control(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path where commands look for the daemon."""
    monkeypatch.setenv("FABRICD_SOCKET", str(place / "s"))
    return place / "s"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a second is enough to be called silent."""

    def quickly(path: str, version: str) -> Probe:
        return probe(path, version, 0.5)

    monkeypatch.setattr("fabricd.daemon.cli.asking.probe", quickly)


def answer(result: object, version: str, protocol: int = PROTOCOL) -> bytes:
    body = {"jsonrpc": "2.0", "id": 1, "result": result, "version": version, "protocol": protocol}
    return json.dumps(body).encode() + b"\n"


def test_no_daemon_exits_3_and_says_how_to_start_one(cli: Cli, control: Path) -> None:
    cli("status").complains(3, str(control), "fabricd start")
    found = cli("status", "--json")
    assert found.code == 3
    assert found.json == {"state": "not_running", "socket": str(control)}
    assert not control.exists()


def test_a_stale_socket_exits_3_and_is_left_where_it_is(cli: Cli, control: Path) -> None:
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(control))
    assert cli("status").code == 3
    assert control.is_socket()


def test_without_a_given_socket_it_lies_below_the_home(cli: Cli, place: Path) -> None:
    found = cli("status", "--json").json
    assert found["socket"] == str(place / "home" / "run" / "control.sock")
    assert not (place / "home").exists()


@pytest.mark.parametrize(
    ("version", "protocol", "words"),
    [("0.0.1", PROTOCOL, "0.0.1"), (fabricd.__version__, PROTOCOL + 1, f"protocol {PROTOCOL + 1}")],
)
def test_a_daemon_of_another_version_exits_4_and_is_named(
    cli: Cli, control: Path, version: str, protocol: int, words: str
) -> None:
    with listening(control, replying(answer({"state": "ready", "pid": 7}, version, protocol))):
        cli("status").complains(4, words, "restart")
        found = cli("status", "--json")
    assert found.code == 4
    assert {"state", "pid", "needsRestart"} == set(found.json)
    assert words in found.json["needsRestart"]


@pytest.mark.usefixtures("impatient")
def test_a_listener_that_never_answers_exits_4(cli: Cli, control: Path) -> None:
    with listening(control, silent):
        cli("status").complains(4, str(control), "does not answer")
        found = cli("status", "--json")
    assert found.code == 4
    assert {"state", "socket", "reason"} == set(found.json)
    assert found.json["state"] == "unreachable" and found.json["socket"] == str(control)


@pytest.mark.usefixtures("impatient")
def test_a_listener_that_never_accepts_exits_4(cli: Cli, control: Path) -> None:
    with deaf(control):
        cli("status").complains(4, "does not answer")


def test_a_busy_daemon_exits_4_in_its_own_words(cli: Cli, control: Path) -> None:
    error = {"code": -32000, "message": "64 clients are connected", "data": {"reason": "busy"}}
    body = {"error": error, "version": fabricd.__version__, "protocol": PROTOCOL}
    with listening(control, replying(json.dumps(body).encode() + b"\n")):
        cli("status").complains(4, "64 clients")


@pytest.mark.parametrize("options", [[], ["--json"]])
@pytest.mark.parametrize(
    "reply",
    [
        b"garbage\n",
        b"\xff\n",
        b"[" * 100_000 + b"\n",
        answer(None, "0.0.1"),
        answer([1], "0.0.1"),
        answer(None, fabricd.__version__),
    ],
    ids=lambda value: repr(value[:70]) if isinstance(value, bytes) else None,
)
def test_an_answer_of_another_shape_never_ends_in_a_traceback(
    cli: Cli, control: Path, reply: bytes, options: list[str]
) -> None:
    with listening(control, replying(reply)):
        found = cli("status", *options)
    assert found.code == 4
    found.says()


@pytest.mark.parametrize("status", [{}, {"state": "ready"}])
def test_a_status_with_members_missing_needs_no_traceback_either(
    cli: Cli, control: Path, status: object
) -> None:
    with listening(control, replying(answer(status, fabricd.__version__))):
        cli("status").complains(4)


def test_words_of_another_daemon_do_not_reach_the_terminal(cli: Cli, control: Path) -> None:
    with listening(control, replying(answer({}, "\x1b[31m9\n9"))):
        cli("status").complains(4, "restart")


def test_a_socket_path_too_long_exits_78_and_names_it(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = "/tmp/" + "é" * 50 + ".sock"
    monkeypatch.setenv("FABRICD_SOCKET", path)
    assert len(os.fsencode(path)) > 103 > len(path)
    for command in ("status", "report", "run"):
        cli(command).complains(78, path, "103", "FABRICD_SOCKET")


def test_a_socket_path_of_103_bytes_is_fine(
    cli: Cli, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"{place}/".ljust(103, "x")
    monkeypatch.setenv("FABRICD_SOCKET", path)
    assert cli("status").code == 3
    monkeypatch.setenv("FABRICD_SOCKET", path + "x")
    assert cli("status").code == 78


def test_one_of_anything_stands_in_the_singular(cli: Cli, control: Path) -> None:
    status = {
        "state": "ready",
        "version": fabricd.__version__,
        "protocol": PROTOCOL,
        "pid": 1,
        "uptimeSeconds": 1,
        "rssBytes": 1,
        "home": "h",
        "socket": "s",
        "files": {"known": 1, "window": 1, "bytes": 1, "behind": 0},
        "report": {"score": 1.0, "invocationRejections": 1, "actionOperations": 1},
        "artifact": {"state": "sound", "plans": 1, "beyondLimit": 1},
        "lastCompile": None,
        "degraded": [],
    }
    with listening(control, replying(answer(status, fabricd.__version__))):
        found = cli("status")
    text = found.out.decode()
    assert found.code == 0, found.err
    assert "(1 byte), 0 bytes behind" in text
    assert "1 of 1 call (100.00 %)" in text
    assert "sound, 1 plan; 1 action beyond the first 1,000 gets none" in text
