"""What a service manager sees of a daemon: readiness, the watchdog, its socket, its end."""

from __future__ import annotations

import os
import random
import secrets
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from fabricd.daemon.liveness.notify import feed_watchdog
from tests.daemon.liveness.test_replaced import install, uninstall
from tests.daemon.starting import background
from tests.harness import Daemon, trace_line
from tests.ipc.test_inherited import PASS


@contextmanager
def manager(address: str) -> Generator[socket.socket, None, None]:
    """What receives the messages of services. An address that begins with @ is in no folder."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind("\0" + address[1:] if address.startswith("@") else address)
        receiver.settimeout(20)
        yield receiver


def until(receiver: socket.socket, wanted: bytes) -> list[bytes]:
    """What came before a message."""
    before: list[bytes] = []
    while (message := receiver.recv(4096)) != wanted:
        before.append(message)
    return before


@pytest.mark.skipif(sys.platform != "linux", reason="abstract addresses are Linux's")
def test_ready_is_told_once_the_window_is_read_and_the_end_when_it_begins(tmp_path: Path) -> None:
    address = f"@fabricd-test-{secrets.token_hex(8)}"
    rng = random.Random(8)
    with (
        manager(address) as receiver,
        background(tmp_path, NOTIFY_SOCKET=address) as subject,
    ):
        operations = 0
        for number in range(8):
            session = subject.sessions / f"s{number}.jsonl"
            session.write_bytes(b"".join(trace_line(rng, 5) + b"\n" for _ in range(400)))
            operations += 2000
        subject.spawn()
        assert until(receiver, b"READY=1") == []
        status = subject.status()
        assert status["state"] == "ready"
        assert (status["files"]["window"], status["files"]["behind"]) == (8, 0)
        counted = status["report"]["actionOperations"]
        assert counted == operations
        subject.call("shutdown")
        assert until(receiver, b"STOPPING=1") == []
        assert subject.process is not None and subject.process.wait(15) == 0


def test_the_watchdog_is_fed_by_a_daemon_that_runs_and_by_no_other(tmp_path: Path) -> None:
    address = str(tmp_path / "notify.sock")
    environment = {"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "300000"}
    with manager(address) as receiver, background(tmp_path, **environment) as subject:
        subject.spawn()
        until(receiver, b"READY=1")
        assert subject.process is not None
        for _ in range(3):
            assert receiver.recv(100) == b"WATCHDOG=1"
        subject.process.send_signal(signal.SIGSTOP)
        time.sleep(0.15)
        receiver.setblocking(False)
        with pytest.raises(BlockingIOError):
            while True:
                receiver.recv(100)
        receiver.settimeout(0.5)
        with pytest.raises(TimeoutError):
            receiver.recv(100)
        subject.process.send_signal(signal.SIGCONT)
        receiver.settimeout(10)
        assert receiver.recv(100) == b"WATCHDOG=1"


@pytest.mark.asyncio
async def test_a_blocked_loop_feeds_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = str(tmp_path / "notify.sock")
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    monkeypatch.setenv("WATCHDOG_USEC", "60000")
    monkeypatch.delenv("WATCHDOG_PID", raising=False)
    with manager(address) as receiver:
        receiver.setblocking(False)
        async with anyio.create_task_group() as group:
            group.start_soon(feed_watchdog)
            await anyio.sleep(0.1)
            fed = 0
            with pytest.raises(BlockingIOError):
                while receiver.recv(100) == b"WATCHDOG=1":
                    fed += 1
            assert fed >= 2
            time.sleep(0.2)  # noqa: ASYNC251 - the loop is to be blocked
            with pytest.raises(BlockingIOError):
                receiver.recv(100)
            group.cancel_scope.cancel()


def test_a_watchdog_meant_for_another_process_is_not_fed(tmp_path: Path) -> None:
    address = str(tmp_path / "notify.sock")
    environment = {"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "30000", "WATCHDOG_PID": "1"}
    with manager(address) as receiver, background(tmp_path, **environment) as subject:
        subject.spawn()
        assert until(receiver, b"READY=1") == []
        receiver.settimeout(0.3)
        with pytest.raises(TimeoutError):
            receiver.recv(100)


def activated(subject: Daemon, raw: socket.socket) -> subprocess.Popen[bytes]:
    """Start a daemon as the manager does for a socket it holds."""
    with subject.log.open("ab") as log:
        subject.process = subprocess.Popen(
            [sys.executable, "-c", PASS, str(raw.fileno()), "-m", "fabricd", "run"],
            env={**subject.env, "LISTEN_FDS": "1"},
            pass_fds=(raw.fileno(),),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    return subject.process


def test_a_socket_that_the_manager_holds_loses_no_hook_between_two_daemons(tmp_path: Path) -> None:
    with background(tmp_path) as subject, socket.socket(socket.AF_UNIX) as raw:
        Path(subject.socket).parent.mkdir(mode=0o700)
        raw.bind(subject.socket)
        raw.listen(16)
        activated(subject, raw)
        subject.until(lambda: subject.status()["state"] == "ready", 20)
        assert subject.stop() == 0
        assert stat.S_ISSOCK(os.stat(subject.socket).st_mode)
        session = subject.sessions / "s.jsonl"
        session.write_bytes(trace_line(random.Random(9), 3) + b"\n")
        with socket.socket(socket.AF_UNIX) as hook:
            # Sent while nobody runs.
            hook.connect(subject.socket)
            hook.sendall(b'{"jsonrpc":"2.0","id":1,"method":"turn_end","params":{"agent":"pi"}}\n')
            process = activated(subject, raw)
            hook.settimeout(20)
            assert b'"queued":true' in hook.recv(4096)
        assert subject.status()["pid"] == process.pid
        assert subject.stop() == 0


def test_a_passed_socket_elsewhere_is_a_matter_of_the_configuration(tmp_path: Path) -> None:
    with background(tmp_path) as subject, socket.socket(socket.AF_UNIX) as raw:
        raw.bind(str(tmp_path / "elsewhere.sock"))
        raw.listen(16)
        assert activated(subject, raw).wait(20) == 78
        assert "where no client looks" in subject.log.read_text()


# A package of its own to look at, five times a second.
WATCHING = """
import sys
import fabricd
from fabricd.daemon.liveness import replaced
from fabricd.daemon.cli import main
fabricd.__file__ = sys.argv.pop(1)
replaced.LOOK_SECONDS = 0.2
raise SystemExit(main())
"""


@pytest.mark.parametrize("managed", [True, False])
def test_replaced_code_ends_a_managed_daemon_with_75_and_degrades_any_other(
    tmp_path: Path, managed: bool
) -> None:
    package = install(tmp_path / "site")
    environment = {"NOTIFY_SOCKET": str(tmp_path / "notify.sock")} if managed else {}
    with background(tmp_path, **environment) as subject:
        with subject.log.open("ab") as log:
            subject.process = subprocess.Popen(
                [sys.executable, "-c", WATCHING, str(package / "__init__.py"), "run"],
                env=subject.env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        subject.until(lambda: subject.status()["state"] == "ready", 20)
        uninstall(tmp_path / "site")
        install(tmp_path / "site", "2.0")
        if managed:
            assert subject.process.wait(15) == 75
            assert "code_replaced" in subject.log.read_text()
            assert not os.path.lexists(subject.socket)
        else:
            subject.until(lambda: bool(subject.status()["degraded"]))
            (ailment,) = subject.status()["degraded"]
            assert (ailment["what"], ailment["cure"]) == ("code", "fabricd restart")
            assert subject.stop() == 0
