"""Commands beside a real daemon."""

from __future__ import annotations

import json
import random
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from fixtures.make_sessions import write

import fabricd
from fabricd.ipc import PROTOCOL
from tests.harness import Daemon, daemon, prose_line, trace_line


@pytest.fixture(scope="module")
def running() -> Iterator[Daemon]:
    """One daemon on the bundled sessions for all tests here; none of them changes it."""
    folder = Path(tempfile.mkdtemp(prefix="fd-", dir="/tmp"))
    with daemon(folder) as subject:
        write(folder / "agent")
        _add_odd_session(subject)
        subject.declare(json.loads(_surface(subject).read_text()))
        subject.start()
        subject.call("compile_now")
        yield subject
    shutil.rmtree(folder)


def _surface(subject: Daemon) -> Path:
    return subject.agent / "fabric" / "entropy" / "surface.json"


def _add_odd_session(subject: Daemon) -> None:
    """The newest session calls a tool whose name has no UTF-8 form."""
    rng = random.Random(3)
    odd = (
        trace_line(rng, 4).replace(b"mcp.demo.", b"mcp.\\ud800.").replace(b"pi.read", b"pi.\\udfff")
    )
    (subject.sessions / "odd.jsonl").write_bytes(prose_line(rng) + b"\n" + odd + b"\n")


def test_status_is_ready_with_exit_0_and_its_json_is_what_the_daemon_says(
    running: Daemon,
) -> None:
    found = running.run("status", "--json")
    assert (found.returncode, found.stderr) == (0, "")
    value = json.loads(found.stdout)
    assert list(value) == [
        "state", "pid", "version", "protocol", "uptimeSeconds", "home", "socket", "rssBytes",
        "degraded", "files", "report", "artifact", "lastCompile", "ignoredTranscripts",
        "context",
    ]  # fmt: skip
    assert (value["state"], value["version"]) == ("ready", fabricd.__version__)
    assert running.process is not None and value["pid"] == running.process.pid
    assert value["protocol"] == PROTOCOL
    assert (value["home"], value["socket"]) == (str(running.home), running.socket)
    assert set(value["files"]) == {"known", "window", "bytes", "behind"}
    assert (value["files"]["known"], value["files"]["window"]) == (13, 8)
    assert set(value["report"]) == {"score", "actionOperations", "invocationRejections"}
    assert value["artifact"]["state"] == "loaded" and value["artifact"]["plans"] > 0
    assert "outcome" in value["lastCompile"]


def test_status_in_words_says_the_same(running: Daemon) -> None:
    found = running.run("status")
    value = running.status()
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.startswith(f"ready: fabricd {fabricd.__version__} (protocol {PROTOCOL})")
    for words in (
        f"pid {value['pid']}",
        str(running.home),
        running.socket,
        "13 known, 8 in the window",
        f"{value['report']['invocationRejections']} of {value['report']['actionOperations']}",
        f"{value['artifact']['plans']} plans",
    ):
        assert words in found.stdout


def test_report_comes_from_the_daemon_and_equals_what_is_measured_without_one(
    running: Daemon,
) -> None:
    asked = running.run("report", "--json")
    assert (asked.returncode, asked.stderr) == (0, "")
    here = _without_daemon(running, "report", "--json")
    assert json.loads(asked.stdout) == json.loads(here)
    assert json.loads(asked.stdout)["metric3"]["totals"]["traces"] > 50


def test_report_in_words_equals_what_is_measured_without_a_daemon(running: Daemon) -> None:
    asked = running.run("report")
    assert (asked.returncode, asked.stderr) == (0, "")
    assert asked.stdout == _without_daemon(running, "report")


def test_refs_without_a_utf8_form_reach_the_reader_as_escapes(running: Daemon) -> None:
    asked = running.run("report", "--json")
    assert "\\ud800" in asked.stdout or "\\udfff" in asked.stdout
    refs = [row["ref"] for row in json.loads(asked.stdout)["metric3"]["refs"]]
    assert any("\ud800" in ref or "\udfff" in ref for ref in refs)


def test_measure_over_the_same_window_gives_the_same_figures(running: Daemon) -> None:
    root, surface = str(running.agent / "sessions"), str(_surface(running))
    options = ["--sessions", root, "--surface", surface, "--window", "8", "--json"]
    # What the daemon learned counts in its report, so it has to be named here.
    options += ["--repairs", str(running.home / "repairs" / "current.json")]
    measured = json.loads(running.run("measure", *options).stdout)
    reported = running.call("report").result
    assert measured == {name: reported[name] for name in measured}


def test_compile_prints_the_very_bytes_the_daemon_wrote(running: Daemon) -> None:
    root, surface = str(running.agent / "sessions"), str(_surface(running))
    found = running.run("compile", "--sessions", root, "--surface", surface, "--window", "8")
    assert found.returncode == 0
    assert found.stdout.encode() == running.compiled.read_bytes()
    previous = ["--artifact", str(running.compiled)]
    again = running.run(
        "compile", "--sessions", root, "--surface", surface, "--window", "8", *previous
    )
    assert again.stdout == found.stdout and "converged" in again.stderr


def test_a_second_daemon_says_that_one_runs_and_exits_0(running: Daemon) -> None:
    found = running.run("run")
    assert (found.returncode, found.stdout) == (0, "")
    assert found.stderr.count("\n") == 1
    assert running.process is not None and f"pid {running.process.pid}" in found.stderr
    assert running.status()["state"] == "ready"


def _without_daemon(running: Daemon, *arguments: str) -> str:
    """The same command where no daemon can be reached."""
    alone = Daemon(running.home.parent, FABRICD_SOCKET=f"{running.home}/nobody")
    found = alone.run(*arguments)
    assert found.returncode == 0 and "no daemon runs" in found.stderr
    return found.stdout
