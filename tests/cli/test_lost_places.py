"""Daemons whose lock, socket or home was removed or moved under them, and places that cannot be."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from fabricd.daemon.service import lifecycle
from fabricd.store.locks import holder
from tests.cli.running import Cli, process
from tests.cli.test_lifecycle import holding
from tests.daemon.starting import background
from tests.harness import ROOT, Daemon


@pytest.fixture
def subject(place: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Daemon, None, None]:
    """A home whose socket lies beside it; commands in this process find both."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    socket = place / "run" / "s"
    monkeypatch.setenv("FABRICD_SOCKET", str(socket))
    with background(place, FABRICD_SOCKET=str(socket)) as subject:
        subject.socket = str(socket)
        yield subject


def lock_of(subject: Daemon) -> Path:
    return subject.home / "fabricd.lock"


def wipe(folder: Path) -> None:
    """Remove a folder in which a daemon may be writing at this very moment."""
    for _ in range(50):
        try:
            shutil.rmtree(folder)
        except OSError:
            continue
        return
    raise AssertionError(f"{folder} could not be removed")


def test_a_removed_home_has_one_daemon_still(subject: Daemon, cli: Cli) -> None:
    subject.start()
    assert subject.process is not None
    wipe(subject.home)
    subject.until(lambda: holder(lock_of(subject)) is not None)
    value = cli("start", "--json").json
    assert (value["state"], value["pid"]) == ("already_started", subject.process.pid)
    held = holder(lock_of(subject))
    assert held is not None and held.told == os.fsencode(subject.socket)
    assert cli("stop").code == 0 and subject.process.wait(10) == 0


def test_a_removed_lock_hides_no_daemon_from_start_or_run(subject: Daemon, cli: Cli) -> None:
    subject.start()
    assert subject.process is not None
    lock_of(subject).unlink()
    assert cli("start", "--json").json["pid"] == subject.process.pid
    lock_of(subject).unlink()
    again = subject.run("run")
    assert again.returncode == 0 and "already runs" in again.stderr
    subject.until(lambda: holder(lock_of(subject)) is not None)
    assert subject.status()["pid"] == subject.process.pid


def test_a_removed_lock_that_another_took_ends_the_old_one(subject: Daemon) -> None:
    subject.start()
    assert subject.process is not None
    lock_of(subject).unlink()
    with holding(subject.home):
        assert subject.process.wait(20) == 0
    assert "another daemon holds it now" in subject.log.read_text()


def test_stop_finds_a_daemon_without_its_lock(subject: Daemon, cli: Cli) -> None:
    subject.start()
    assert subject.process is not None
    wipe(subject.home)
    stopped = cli("stop", "--json")
    assert stopped.code == 0 and stopped.json["pid"] == subject.process.pid
    assert subject.process.wait(5) == 0
    assert cli("stop").code == 3


@pytest.mark.parametrize("command", ["status", "metrics"])
def test_a_daemon_that_listens_elsewhere_is_asked_there(
    subject: Daemon, cli: Cli, place: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    subject.start()
    monkeypatch.setenv("FABRICD_SOCKET", str(place / "other" / "s"))
    found = cli(command)
    assert found.code == 0 and found.out
    found.says(subject.socket, str(place / "other" / "s"))


def test_a_daemon_that_holds_the_home_and_does_not_listen_is_told(
    place: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FABRICD_SOCKET", str(place / "s"))
    with holding(place / "home") as process:
        who = f"pid {process.pid}"
        cli("status").complains(4, who, "does not listen", "fabricd restart --force")
        cli("metrics").complains(4, who, "does not listen")
        found = cli("status", "--json")
        expected = {"state": "not_listening", "socket": str(place / "s"), "pid": process.pid}
        assert (found.code, found.json) == (4, expected)


def test_an_open_socket_directory_hides_no_healthy_daemon(subject: Daemon, cli: Cli) -> None:
    subject.start()
    Path(subject.socket).parent.chmod(0o755)
    assert cli("start").code == 0
    assert subject.run("run").returncode == 0
    assert cli("stop").code == 0
    cli("start").complains(78, "0755")


def test_the_cure_of_a_silent_daemon_is_force(
    subject: Daemon, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lifecycle, "_SILENCE", 0.5)
    subject.start()
    assert subject.process is not None
    subject.process.send_signal(signal.SIGSTOP)
    try:
        cli("start").complains(4, "fabricd restart --force", "fabricd stop --force")
        lock_of(subject).unlink()
        # Nobody can tell whose it is: it is neither joined nor robbed.
        left = subject.run("run")
        assert left.returncode == 4 and f"pid {subject.process.pid} holds" in left.stderr
    finally:
        subject.process.send_signal(signal.SIGCONT)


@pytest.mark.parametrize("kind", ["pipe", "folder", "loop"])
def test_a_lock_that_is_no_file_is_named(subject: Daemon, cli: Cli, kind: str) -> None:
    lock = lock_of(subject)
    if kind == "pipe":
        os.mkfifo(lock)
    elif kind == "folder":
        lock.mkdir()
    else:
        lock.symlink_to(lock)
    cli("start").complains(1, "the lock", str(lock))
    checks = {check["id"]: check for check in json.loads(cli("doctor", "--json").out)["checks"]}
    assert checks["lock"]["state"] == "wrong"
    assert checks["lock"]["cure"] == f"mv {lock} {lock}.damaged"


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="no file system without folders here")
def test_a_place_that_cannot_be_made_is_told(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FABRICD_HOME", "/proc/foo")
    cli("start").complains(1, "/proc/foo", "cannot be made")


def test_a_link_that_leads_nowhere_is_told(subject: Daemon, cli: Cli) -> None:
    run = Path(subject.socket).parent
    run.symlink_to("/nowhere/at/all")
    cli("start").complains(78, str(run), "leads nowhere")


def test_a_daemon_whose_home_moved_away_can_be_ended(place: Path) -> None:
    # Without Pi the home is that of the system; once Pi is there it is Pi's.
    env = {
        **{k: v for k, v in os.environ.items() if not k.startswith(("FABRICD_", "XDG_", "PI_"))},
        "HOME": str(place),
        "PYTHONPATH": str(ROOT / "src"),
    }

    def fabricd(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "fabricd", *words],
            env={**env, **more},
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )

    assert fabricd("start").returncode == 0
    (place / ".pi" / "agent").mkdir(parents=True)
    refused, stopped = fabricd("start"), fabricd("stop")
    assert (refused.returncode, stopped.returncode) == (1, 3)
    assert ".local/share/fabricd" in refused.stderr
    cure = f"FABRICD_HOME={place}/.local/share/fabricd fabricd stop"
    assert cure in stopped.stderr
    assert fabricd("stop", FABRICD_HOME=f"{place}/.local/share/fabricd").returncode == 0
    assert fabricd("status").returncode == 3


def test_a_daemon_that_listens_elsewhere_is_examined_where_it_listens(place: Path) -> None:
    env: Any = {"FABRICD_HOME": str(place / "home"), "PI_CODING_AGENT_DIR": str(place / "agent")}
    elsewhere: Any = {"FABRICD_SOCKET": str(place / "other" / "control.sock")}
    assert process("start", **env, **elsewhere).code == 0
    rows = json.loads(process("doctor", "--json", **env).out)["checks"]
    found = {row["id"]: row for row in rows}
    assert found["daemon"]["state"] == "ok" and "socket" not in found
    assert found["lock"]["cure"].startswith("export FABRICD_SOCKET=")
    assert process("stop", **env).code == 0
