"""`doctor` as people and programs see it."""

from __future__ import annotations

import json
import os
import pty
import random
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import Cli
from tests.harness import ROOT, daemon, trace_line

LINE = re.compile(r"^(ok|warning|wrong|unknown) +([a-z0-9-]+) +(\S.*)$")
CURE = re.compile(r"^ +cure: (\S.*)$")
SUMMARY = re.compile(r"^\d+ checks: \d+ ok, \d+ warnings?, \d+ wrong, \d+ could not be made$")


def by_id(value: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {check["id"]: check for check in value["checks"]}


def test_without_a_daemon_nothing_is_wrong_and_nothing_is_made(cli: Cli, place: Path) -> None:
    found = cli("doctor", "--json")
    assert (found.code, found.err) == (0, "")
    assert by_id(found.json)["daemon"]["state"] == "warning"
    assert [*place.iterdir()] == []


def test_json_is_what_is_documented(cli: Cli) -> None:
    value = cli("doctor", "--json").json
    assert set(value) == {"checks", "counts"}
    assert set(value["counts"]) == {"ok", "warning", "wrong", "unknown"}
    assert sum(value["counts"].values()) == len(value["checks"])
    for check in value["checks"]:
        assert set(check) == {"id", "state", "found", "cure"}
        assert check["state"] in value["counts"]
        assert isinstance(check["found"], str)
        assert (check["cure"] is not None) == (check["state"] in ("warning", "wrong"))


def test_words_are_one_line_a_check_and_one_a_cure_without_colour(cli: Cli) -> None:
    found = cli("doctor")
    assert (found.code, found.err) == (0, "")
    *lines, empty, summary = found.out.decode().splitlines()
    assert empty == "" and SUMMARY.match(summary)
    assert all(LINE.match(line) or CURE.match(line) for line in lines)
    assert any(CURE.match(line) for line in lines)
    assert b"\x1b" not in found.out


def test_damage_exits_1_and_names_the_cure(cli: Cli, place: Path) -> None:
    path = place / "home" / "entropy" / "compiled.json"
    path.parent.mkdir(parents=True)
    path.write_text("{")
    found = cli("doctor", "--json")
    check = by_id(found.json)["file-compiled"]
    assert found.code == 1 and found.json["counts"]["wrong"] == 1
    assert (check["state"], check["cure"]) == ("wrong", f"mv {path} {path}.damaged")
    assert f"cure: mv {path} {path}.damaged" in cli("doctor").out.decode()


def test_a_stale_socket_and_loose_modes_are_warnings(cli: Cli, place: Path) -> None:
    run = place / "home" / "run"
    run.mkdir(parents=True, mode=0o700)
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(run / "control.sock"))
    (place / "home" / "repairs").mkdir()
    (place / "home" / "repairs" / "learned.json").write_text("{}")
    checks = by_id(cli("doctor", "--json").json)
    assert checks["socket"]["state"] == "warning" and "killed" in checks["socket"]["found"]
    assert checks["modes"]["state"] == "warning"
    assert (run / "control.sock").is_socket()


def test_untrusted_paths_do_not_reach_the_terminal_as_they_are(
    cli: Cli, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PI_CODING_AGENT_DIR", f"{place}/\x1b[31m[red]\n:smile:")
    text = cli("doctor").out
    assert b"\x1b" not in text and b"\\x1b[31m[red]\\n:smile:" in text
    monkeypatch.setenv("PI_CODING_AGENT_DIR", os.fsdecode(b"/tmp/\xff"))
    assert cli("doctor", "--json").code in (0, 1)


def test_beside_a_daemon_everything_about_it_is_fine(place: Path) -> None:
    rng = random.Random(8)
    with daemon(place / "d") as subject:
        (subject.sessions / "s.jsonl").write_bytes(trace_line(rng) + b"\n")
        subject.declare()
        subject.start()
        subject.call("compile_now")
        found = subject.run("doctor", "--json")
        assert subject.process is not None
        pid = subject.process.pid
    checks = by_id(json.loads(found.stdout))
    assert (found.returncode, found.stderr) == (0, ""), found.stdout
    for id in (
        "daemon lock socket socket-directory version libraries configuration home state "
        "file-compiled file-surface file-pool file-pool-ledger clock degraded"
    ).split():
        assert checks[id]["state"] == "ok", checks[id]
    assert f"pid {pid}" in checks["daemon"]["found"] and f"pid {pid}" in checks["lock"]["found"]
    assert "the daemon" in checks["open-files"]["found"] or sys.platform == "darwin"


def test_on_a_terminal_there_is_colour(place: Path) -> None:
    master, slave = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    child = subprocess.Popen(
        [sys.executable, "-m", "fabricd", "doctor"],
        env={**environment, "PYTHONPATH": str(ROOT / "src"), "TERM": "xterm"},
        stdin=subprocess.DEVNULL,
        stdout=slave,
        stderr=subprocess.DEVNULL,
    )
    os.close(slave)
    data = b""
    try:
        while part := os.read(master, 1 << 16):
            data += part
    except OSError:
        # How a terminal says that nobody writes any more.
        pass
    finally:
        os.close(master)
    assert child.wait(timeout=10) == 0
    assert b"\x1b[32mok" in data
