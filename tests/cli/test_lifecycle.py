"""`start`, `stop` and `restart` with real daemons in the background."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

import fabricd
from fabricd.daemon.service import lifecycle, stopping
from fabricd.daemon.service.spawning import handed_on
from fabricd.daemon.service.stopping import CannotStop, Stopped, stop
from fabricd.store.locks import holder
from tests.cli.running import Cli
from tests.daemon.starting import OTHER_VERSION, at_once, background, pretend_another_version
from tests.harness import ROOT, Daemon


@pytest.fixture
def subject(place: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Daemon, None, None]:
    """A home whose daemons are gone afterwards; commands in this process find it too."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    with background(place) as subject:
        yield subject


def test_started_in_the_background_it_outlives_whoever_started_it(
    subject: Daemon, cli: Cli
) -> None:
    subject.declare()
    started = subject.run("start", "--json")
    value = json.loads(started.stdout)
    pid = value["pid"]
    assert started.returncode == 0
    assert value == {
        "state": "started",
        "pid": pid,
        "socket": subject.socket,
        "ready": True,
        "through": None,
        "log": str(subject.home / "state" / "fabricd.log"),
    }
    assert (subject.status()["pid"], subject.status()["state"]) == (pid, "ready")
    assert os.getsid(pid) == pid != os.getsid(0)
    assert holder(subject.home / "fabricd.start.lock") is None
    if Path(f"/proc/{pid}").is_dir():
        ends = [os.readlink(f"/proc/{pid}/fd/{number}") for number in range(3)]
        assert ends == ["/dev/null", value["log"], value["log"]]
        assert os.readlink(f"/proc/{pid}/cwd") == "/"
    again = cli("start")
    assert (again.code, again.err) == (0, "")
    words = f"already running: fabricd {fabricd.__version__}, pid {pid}\n"
    assert again.out.decode().startswith(words)
    events = [json.loads(line) for line in Path(value["log"]).read_text().splitlines()]
    assert "daemon_started" in [event["event"] for event in events]


def test_stop_waits_until_it_is_gone_and_says_where_there_was_none(
    subject: Daemon, cli: Cli
) -> None:
    subject.start()
    assert subject.process is not None
    stopped = cli("stop")
    assert stopped.out.decode() == f"stopped: fabricd, pid {subject.process.pid}\n"
    assert (stopped.code, subject.process.wait(5)) == (0, 0)
    assert holder(subject.home / "fabricd.lock") is None
    assert not os.path.lexists(subject.socket)
    again = cli("stop", "--json")
    assert again.code == 3
    assert again.json == {"state": "already_stopped", "pid": None, "how": None}
    again.says("no daemon runs for this home")


def test_restart_replaces_a_daemon_of_another_version(
    subject: Daemon, cli: Cli, place: Path
) -> None:
    subject.env["PYTHONPATH"] = pretend_another_version(place)
    subject.start()
    assert subject.process is not None
    assert subject.status()["version"] == OTHER_VERSION
    refused = cli("start", "--json")
    assert refused.code == refused.json["exitCode"] == 4
    assert refused.json["state"] == "failed"
    refused.says(OTHER_VERSION, "fabricd restart")
    replaced = cli("restart", "--json").json
    old = subject.process.pid
    assert replaced["stopped"] == {"state": "stopped", "pid": old, "how": "asked"}
    assert replaced["state"] == "started" and replaced["pid"] != old
    assert subject.status()["version"] == fabricd.__version__


def test_places_named_relative_to_a_folder_stay_where_they_are(
    subject: Daemon, cli: Cli, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setenv("PYTHONPATH", os.path.relpath(ROOT / "src"))
    for name in ("FABRICD_HOME", "FABRICD_CONFIG", "PI_CODING_AGENT_DIR"):
        monkeypatch.setenv(name, os.path.relpath(subject.env[name]))
    done = cli("restart")
    assert done.code == 0 and done.out.startswith(b"started: fabricd "), done.err
    assert subject.status()["home"] == str(subject.home)


def test_what_a_service_manager_told_the_starter_is_not_the_daemons() -> None:
    told = {"NOTIFY_SOCKET": "/n", "LISTEN_FDS": "1", "LISTEN_PID": "1", "WATCHDOG_USEC": "1"}
    handed = handed_on({**told, "PATH": "/bin", "SYSTEMD_EXEC_PID": "1"})
    assert handed == {"PATH": "/bin", "MALLOC_ARENA_MAX": "2"}
    assert handed_on({"MALLOC_ARENA_MAX": "4"}) == {"MALLOC_ARENA_MAX": "4"}


@pytest.mark.usefixtures("subject")
def test_a_daemon_that_dies_leaves_its_last_words_and_its_code(cli: Cli, place: Path) -> None:
    run = place / "home" / "run"
    run.mkdir(mode=0o700)
    (run / "control.sock").write_text("mine")
    done = cli("start", "--json")
    assert done.code == 1
    assert done.json["reason"].endswith("is not a socket: move it away")
    done.says("not a socket")
    assert (run / "control.sock").read_text() == "mine"


@pytest.mark.parametrize("command", ["start", "restart"])
def test_a_bad_configuration_starts_nothing(cli: Cli, place: Path, command: str) -> None:
    (place / "config.toml").write_text("[watch]\nrescan_second = 5\n")
    done = cli(command, "--json")
    assert (done.code, done.json["exitCode"]) == (78, 78)
    done.says("watch.rescan_seconds")
    assert not (place / "home" / "state" / "fabricd.log").exists()


def test_a_home_that_is_a_file_is_refused(place: Path, cli: Cli) -> None:
    (place / "home").write_text("")
    cli("start").complains(78, "home")
    assert cli("stop").code == 3


@pytest.mark.usefixtures("subject")
def test_a_configured_log_file_is_where_it_logs(cli: Cli, place: Path) -> None:
    path = place / "elsewhere" / "d.log"
    (place / "config.toml").write_text(f'[log]\nfile = "{path}"\n')
    assert cli("start", "--json").json["log"] == str(path)
    assert "daemon_started" in path.read_text()
    assert b"daemon_started" in cli("logs").out


def test_the_socket_of_another_home_is_no_daemon_of_this_one(
    subject: Daemon, cli: Cli, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subject.start()
    monkeypatch.setenv("FABRICD_HOME", str(place / "other"))
    monkeypatch.setenv("FABRICD_SOCKET", subject.socket)
    cli("start").complains(1, "another home", "FABRICD_SOCKET")
    assert cli("stop").code == 3
    assert subject.status()["state"] == "ready"


def test_twenty_simultaneous_starts_give_one_daemon(subject: Daemon) -> None:
    starts = at_once(subject, 20, "start", "--json")
    ends = [(start, *start.communicate(timeout=50)) for start in starts]
    assert [start.returncode for start, _, _ in ends] == [0] * 20, [said for *_, said in ends]
    values = [json.loads(out) for _, out, _ in ends]
    assert sorted(value["state"] for value in values) == ["already_started"] * 19 + ["started"]
    assert {value["pid"] for value in values} == {subject.status()["pid"]}
    assert all(value["ready"] for value in values)
    log = (subject.home / "state" / "fabricd.log").read_text()
    assert log.count("daemon_started") == 1


def test_a_silent_daemon_is_neither_replaced_nor_robbed(
    subject: Daemon, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lifecycle, "_SILENCE", 0.5)
    subject.start()
    assert subject.process is not None
    before = os.stat(subject.socket).st_ino
    subject.process.send_signal(signal.SIGSTOP)
    try:
        cli("start").complains(4, "does not answer")
    finally:
        subject.process.send_signal(signal.SIGCONT)
    assert os.stat(subject.socket).st_ino == before
    assert subject.status()["state"] == "ready"


HOLD = """
import signal, sys, time
from pathlib import Path
from fabricd.store.locks import hold
if sys.argv[2] == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
held = hold(Path(sys.argv[1]), b"/nowhere.sock")
print("mine", flush=True)
time.sleep(60)
"""


@contextmanager
def holding(home: Path, how: str = "mild") -> Generator[subprocess.Popen[str], None, None]:
    """A process that holds a home and never listens, as a daemon that has just begun."""
    command = [sys.executable, "-c", HOLD, str(home / "fabricd.lock"), how]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "mine\n"
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ASK_SECONDS", "STOP_SECONDS", "TERM_SECONDS"):
        monkeypatch.setattr(stopping, name, 0.3)


@pytest.mark.usefixtures("hasty")
def test_whoever_does_not_answer_is_signalled(place: Path) -> None:
    with holding(place / "home") as process:
        assert stop(os.environ) == Stopped("stopped", process.pid, "terminated")
        assert process.wait(10) == -signal.SIGTERM


@pytest.mark.usefixtures("hasty")
def test_nobody_is_killed_unless_ordered(place: Path) -> None:
    with holding(place / "home", "stubborn") as process:
        with pytest.raises(CannotStop, match=f"pid {process.pid}.*--force"):
            stop(os.environ)
        assert process.poll() is None
        assert stop(os.environ, force=True) == Stopped("stopped", process.pid, "killed")
        assert process.wait(10) == -signal.SIGKILL


@pytest.mark.usefixtures("hasty")
@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="descriptors are not shown here")
def test_a_number_that_means_somebody_else_is_never_signalled(place: Path) -> None:
    bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        with holding(place / "home") as process:
            lock = place / "home" / "fabricd.lock"
            lock.write_text(f"{bystander.pid}\n/nowhere.sock\n")
            with pytest.raises(CannotStop, match="cannot be told"):
                stop(os.environ, force=True)
            assert (process.poll(), bystander.poll()) == (None, None)
    finally:
        bystander.kill()
        bystander.wait()


def test_a_start_that_finds_one_beginning_waits_for_it(subject: Daemon, cli: Cli) -> None:
    process = subject.spawn()
    subject.until(lambda: holder(subject.home / "fabricd.lock") is not None, 20)
    value = cli("start", "--json").json
    assert (value["state"], value["ready"], value["pid"]) == ("already_started", True, process.pid)


def test_a_start_while_another_stops_is_a_new_daemon(subject: Daemon, cli: Cli) -> None:
    subject.start()
    assert subject.process is not None
    subject.process.terminate()
    # Until it has heard of the signal it runs, and whoever starts one is told so.
    subject.until(lambda: subject.status()["state"] != "ready")
    value = cli("start", "--json").json
    assert subject.process.wait(10) == 0
    assert value["state"] == "started"
    subject.until(lambda: subject.status().get("pid") == value["pid"])


def test_help_names_the_exit_codes(cli: Cli) -> None:
    for command in ("start", "stop", "restart"):
        assert b"Exits" in cli(command, "--help").out
