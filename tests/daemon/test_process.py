"""The daemon as people meet it: a real process, a real socket, real signals."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.harness import Daemon, daemon, trace_line
from tests.soak import settle, soak


def test_a_turn_end_shows_within_a_second(tmp_path: Path) -> None:
    rng = random.Random(1)
    with daemon(tmp_path) as subject:
        subject.declare()
        session = subject.sessions / "s.jsonl"
        session.write_bytes(trace_line(rng, 3) + b"\n")
        subject.start()
        before = subject.status()["report"]["actionOperations"]
        with session.open("ab") as file:
            file.write(trace_line(rng, 5) + b"\n")
        posted = subject.call("turn_end", {"agent": "pi", "transcript_path": str(session)})
        assert posted.result == {"queued": True}
        subject.until(
            lambda: (
                subject.status()["report"]["actionOperations"] == before + 5
                and subject.compiled.exists()
            ),
            1.0,
        )
        ours, clean = settle(subject)
        assert ours == clean


def test_appended_lines_are_found_without_any_hook(tmp_path: Path) -> None:
    rng = random.Random(2)
    with daemon(tmp_path) as subject:
        subject.start()
        (subject.sessions / "late.jsonl").write_bytes(trace_line(rng, 4) + b"\n")
        subject.until(lambda: subject.status()["report"]["actionOperations"] == 4, 5.0)


def test_a_surface_that_appears_is_compiled(tmp_path: Path) -> None:
    with daemon(tmp_path) as subject:
        subject.start()
        subject.until(lambda: subject.status()["lastCompile"] is not None)
        assert subject.status()["lastCompile"]["outcome"] == "no_surface"
        subject.declare()
        subject.until(subject.compiled.exists, 5.0)
        subject.until(lambda: subject.status()["artifact"]["state"] == "loaded", 2.0)


def test_two_daemons_fed_in_different_cuts_write_the_same_bytes(tmp_path: Path) -> None:
    data = b"".join(trace_line(random.Random(n)) + b"\n" for n in range(30))
    found: list[bytes] = []
    for name, step in (("whole", len(data)), ("pieces", 701)):
        (tmp_path / name).mkdir()
        with daemon(tmp_path / name) as subject:
            subject.declare()
            subject.start()
            for start in range(0, len(data), step):
                with (subject.sessions / "s.jsonl").open("ab") as file:
                    file.write(data[start : start + step])
                time.sleep(0.01)
            subject.call("compile_now")
            found.append(subject.compiled.read_bytes())
    assert found[0] == found[1]


def test_a_transcript_that_is_not_read_is_counted_and_passed_over(tmp_path: Path) -> None:
    with daemon(tmp_path) as subject:
        subject.start()
        foreign = tmp_path / "other.jsonl"
        foreign.write_text("{}\n")
        posted = subject.call("turn_end", {"agent": "codex", "transcript_path": str(foreign)})
        assert posted.result == {"queued": True}
        subject.until(lambda: subject.status()["ignoredTranscripts"] == 1)
        # On every turn of an agent whose sessions are not read: no line of the log each time.
        assert "transcript_ignored" not in subject.log.read_text()


def test_a_hang_up_is_ignored_where_it_was_before(tmp_path: Path) -> None:
    with daemon(tmp_path) as subject:
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            subject.start()
        finally:
            signal.signal(signal.SIGHUP, before)
        assert subject.process is not None
        subject.process.send_signal(signal.SIGHUP)
        time.sleep(0.3)
        assert subject.status()["state"] == "ready"
        assert subject.stop() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_stops_it_in_order(tmp_path: Path, number: signal.Signals) -> None:
    rng = random.Random(3)
    with daemon(tmp_path) as subject:
        subject.declare()
        subject.start()
        session = subject.sessions / "s.jsonl"
        session.write_bytes(trace_line(rng, 3) + b"\n")
        subject.call("turn_end", {"transcript_path": str(session)})
        assert subject.stop(number) == 0
        assert subject.compiled.exists()
        assert not os.path.lexists(subject.socket)
        assert os.path.exists(subject.socket + ".lock")
        assert (subject.home / "fabricd.lock").exists()
        assert "daemon_stopped" in subject.log.read_text()


def test_shutdown_over_the_socket_stops_it(tmp_path: Path) -> None:
    with daemon(tmp_path) as subject:
        subject.start()
        assert subject.call("shutdown").result == {"stopping": True}
        assert subject.process is not None
        assert subject.process.wait(timeout=15) == 0


def test_its_files_are_private(tmp_path: Path) -> None:
    with daemon(tmp_path) as subject:
        subject.declare()
        session = subject.sessions / "s.jsonl"
        session.write_bytes(trace_line(random.Random(4)) + b"\n")
        subject.start()
        subject.call("compile_now")
        subject.stop()
        checkpoints = subject.home / "state" / "checkpoints.msgpack"
        for path in (subject.compiled, checkpoints, subject.home / "fabricd.lock"):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE((subject.home / "run").stat().st_mode) == 0o700


def test_a_second_start_says_so_and_leaves_the_first_alone(tmp_path: Path) -> None:
    with daemon(tmp_path) as subject:
        subject.start()
        second = subject.run("run")
        assert second.returncode == 0
        assert second.stderr.count("\n") == 1 and "already runs" in second.stderr
        assert subject.status()["state"] == "ready"


def test_a_stopped_daemon_is_not_robbed_of_its_socket(tmp_path: Path) -> None:
    with daemon(tmp_path) as subject:
        subject.start()
        assert subject.process is not None
        before = os.stat(subject.socket).st_ino
        subject.process.send_signal(signal.SIGSTOP)
        try:
            second = subject.run("run")
            asked = subject.run("status")
        finally:
            subject.process.send_signal(signal.SIGCONT)
        assert second.returncode == 4 and "does not answer" in second.stderr
        assert asked.returncode == 4
        assert os.stat(subject.socket).st_ino == before
        assert subject.status()["state"] == "ready"


def test_many_simultaneous_starts_leave_exactly_one(tmp_path: Path) -> None:
    with daemon(tmp_path) as subject:
        command = [sys.executable, "-m", "fabricd", "run"]
        starts = [
            subprocess.Popen(command, env=subject.env, stderr=subprocess.PIPE, text=True)
            for _ in range(6)
        ]
        subject.process = None
        subject.until(lambda: subject.status()["state"] == "ready", 20.0)
        pid = subject.status()["pid"]
        losers = [start for start in starts if start.pid != pid]
        for loser in losers:
            _, said = loser.communicate(timeout=20)
            assert loser.returncode in (0, 4), said
            assert said.count("\n") == 1, said
        winner = next(start for start in starts if start.pid == pid)
        winner.terminate()
        _, said = winner.communicate(timeout=20)
        assert winner.returncode == 0 and "daemon_stopped" in said


def test_a_killed_daemon_leaves_nothing_that_blocks_the_next(tmp_path: Path) -> None:
    with daemon(tmp_path) as subject:
        subject.start()
        subject.kill()
        assert os.path.lexists(subject.socket)
        (subject.home / "fabricd.lock").write_text('{"pid":1}')
        (subject.home / "run" / "control.sock.lock").write_text("abc")
        subject.start()
        subject.stop()


def test_a_file_at_the_socket_path_is_left_alone(tmp_path: Path) -> None:
    with daemon(tmp_path) as subject:
        run = subject.home / "run"
        run.mkdir(mode=0o700)
        (run / "control.sock").write_text("mine")
        started = subject.run("run")
        assert started.returncode == 1 and "not a socket" in started.stderr
        assert (run / "control.sock").read_text() == "mine"


def _expect_78(subject: Daemon, *words: str) -> None:
    started = subject.run("run")
    assert started.returncode == 78, started.stderr
    assert started.stderr.count("\n") == 1
    for word in words:
        assert word in started.stderr


def test_a_home_that_is_a_file_is_refused(tmp_path: Path) -> None:
    with daemon(tmp_path) as subject:
        shutil.rmtree(subject.home)
        subject.home.write_text("")
        _expect_78(subject, "home")


def test_a_socket_path_of_two_hundred_bytes_is_refused(tmp_path: Path) -> None:
    with daemon(tmp_path, FABRICD_SOCKET=str(tmp_path / ("x" * 200))) as subject:
        _expect_78(subject, "103", "FABRICD_SOCKET")


def test_an_open_socket_directory_is_refused(tmp_path: Path) -> None:
    with daemon(tmp_path) as subject:
        (subject.home / "run").mkdir(mode=0o755)
        (subject.home / "run").chmod(0o755)
        _expect_78(subject, "0755", "chmod 700")


def test_an_unknown_key_is_refused_with_a_suggestion(tmp_path: Path) -> None:
    with daemon(tmp_path) as subject:
        Path(subject.env["FABRICD_CONFIG"]).write_text("[watch]\nrescan_second = 5\n")
        _expect_78(subject, "watch.rescan_second", "watch.rescan_seconds")


def test_readiness_and_watchdog_reach_the_service_manager(tmp_path: Path) -> None:
    address = str(tmp_path / "notify.sock")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(address)
        manager.settimeout(10)
        environment = {"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "600000"}
        with daemon(tmp_path, **environment) as subject:
            subject.start()
            told = [manager.recv(100) for _ in range(3)]
            subject.stop()
            while (word := manager.recv(100)) == b"WATCHDOG=1":
                pass
    assert set(told) == {b"READY=1", b"WATCHDOG=1"}
    assert word == b"STOPPING=1"


def test_a_restart_goes_on_from_its_cursors(tmp_path: Path) -> None:
    rng = random.Random(5)
    with daemon(tmp_path) as subject:
        subject.declare()
        session = subject.sessions / "s.jsonl"
        session.write_bytes(b"".join(trace_line(rng) + b"\n" for _ in range(50)))
        subject.start()
        subject.stop()
        with session.open("ab") as file:
            file.write(trace_line(rng) + b"\n")
        Path(subject.env["FABRICD_CONFIG"]).write_text('[log]\nlevel = "debug"\n')
        subject.log.unlink()
        subject.start()
        ours, clean = settle(subject)
        assert ours == clean
        assert "how=resumed" in subject.log.read_text()


def test_damaged_checkpoints_only_cost_a_scan(tmp_path: Path) -> None:
    with daemon(tmp_path) as subject:
        session = subject.sessions / "s.jsonl"
        session.write_bytes(trace_line(random.Random(6)) + b"\n")
        subject.declare()
        state = subject.home / "state"
        state.mkdir(mode=0o700)
        (state / "checkpoints.msgpack").write_bytes(b"\x00torn")
        subject.start()
        ours, clean = settle(subject)
        assert ours == clean
        assert "checkpoint_failed" in subject.log.read_text()


def test_kill_at_random_points_loses_and_doubles_nothing(tmp_path: Path) -> None:
    records, torn = soak(tmp_path, 6, 11)
    assert records > 20 and torn == 0


def test_a_first_report_that_nobody_reads_does_not_end_it(tmp_path: Path) -> None:
    with daemon(tmp_path) as subject:
        line = trace_line(random.Random(7)).replace(b"mcp.demo.search", b"[/red] :smile:")
        (subject.sessions / "s.jsonl").write_bytes(line + b"\n")
        command = [sys.executable, "-m", "fabricd", "run", "--report"]
        reading, writing = os.pipe()
        os.close(reading)
        with subject.log.open("ab") as log:
            subject.process = subprocess.Popen(
                command, env=subject.env, stdout=writing, stderr=log, stdin=subprocess.DEVNULL
            )
        os.close(writing)
        subject.until(lambda: "could not be printed" in subject.log.read_text(), 20.0)
        assert subject.status()["state"] == "ready"
        assert subject.stop() == 0


def test_it_runs_with_standard_error_closed(tmp_path: Path) -> None:
    with daemon(tmp_path) as subject:
        command = ["sh", "-c", 'exec "$0" -m fabricd run 2>&-', sys.executable]
        subject.process = subprocess.Popen(command, env=subject.env, stdin=subprocess.DEVNULL)
        subject.log.touch()
        subject.until(lambda: subject.status()["state"] == "ready", 20.0)
        assert subject.stop() == 0


def test_more_clients_than_descriptors_do_not_end_it(tmp_path: Path) -> None:
    with daemon(tmp_path) as subject:
        command = ["sh", "-c", 'ulimit -n 40; exec "$0" -m fabricd run', sys.executable]
        with subject.log.open("ab") as log:
            subject.process = subprocess.Popen(
                command, env=subject.env, stderr=log, stdout=log, stdin=subprocess.DEVNULL
            )
        subject.until(lambda: subject.status()["state"] == "ready", 20.0)
        clients = [socket.socket(socket.AF_UNIX) for _ in range(50)]
        for client in clients:
            client.settimeout(1.0)
            client.connect(subject.socket)
        time.sleep(0.5)
        for client in clients:
            client.close()
        subject.until(lambda: subject.status()["state"] == "ready", 10.0)


def test_untrusted_text_reaches_no_terminal_raw(tmp_path: Path) -> None:
    with daemon(tmp_path, FABRICD_LOG_LEVEL="debug") as subject:
        subject.start()
        subject.call("turn_end", {"transcript_path": "\x1b[31mred\x00"})
        subject.until(lambda: "transcript_ignored" in subject.log.read_text())
        assert "\x1b[31m" not in subject.log.read_text()


@pytest.fixture
def small_disk(tmp_path: Path) -> Path:
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)]
    done = subprocess.run(mount, capture_output=True)
    if done.returncode:
        pytest.skip("no small file system can be mounted here")
    return folder


def test_a_full_disk_is_survived_and_told(small_disk: Path, tmp_path: Path) -> None:
    try:
        with daemon(tmp_path) as subject:
            subject.home = small_disk
            subject.env["FABRICD_HOME"] = str(small_disk)
            subject.env["FABRICD_SOCKET"] = subject.socket = str(tmp_path / "run" / "s.sock")
            (small_disk / "entropy").mkdir()
            subject.declare()
            subject.start()
            subject.until(subject.compiled.exists)
            filler = small_disk / "filler"
            with pytest.raises(OSError), filler.open("wb", buffering=0) as file:
                while True:
                    file.write(b"x" * 4096)
            before = subject.compiled.read_bytes()
            session = subject.sessions / "s.jsonl"
            session.write_bytes(b"".join(trace_line(random.Random(n)) + b"\n" for n in range(90)))
            subject.call("turn_end", {"transcript_path": str(session)})
            subject.until(lambda: bool(subject.status()["degraded"]), 10.0)
            assert subject.compiled.read_bytes() == before
            filler.unlink()
            subject.until(lambda: not subject.status()["degraded"], 30.0)
            ours, clean = settle(subject)
            assert ours == clean
            assert json.loads(subject.compiled.read_bytes())["gate"]["passed"]
            subject.stop()
    finally:
        subprocess.run(["umount", "-l", str(small_disk)], capture_output=True)


def test_a_trigger_during_the_start_compiles_nothing_from_empty_books(tmp_path: Path) -> None:
    ledger = tmp_path / "home" / "state" / "pool-ledger.msgpack"
    with daemon(tmp_path) as subject:
        subject.declare()
        lines = b"".join(trace_line(random.Random(n)) + b"\n" for n in range(40))
        (subject.sessions / "s.jsonl").write_bytes(lines)
        subject.start()
        subject.until(lambda: subject.compiled.exists() and ledger.exists())
        subject.stop()
        before = (ledger.read_bytes(), subject.compiled.read_bytes())
        # As soon as it listens a hook tells of a turn, and then somebody stops it.
        process = subject.spawn()
        client = first_connection(subject.socket)
        with client:
            client.sendall(
                b'{"jsonrpc":"2.0","method":"turn_end","params":{}}\n'
                b'{"jsonrpc":"2.0","method":"shutdown"}\n'
            )
            assert process.wait(timeout=15) == 0
        assert (ledger.read_bytes(), subject.compiled.read_bytes()) == before


def first_connection(path: str) -> socket.socket:
    """A connection to whoever listens there, as soon as there is somebody."""
    ends = time.monotonic() + 15
    while True:
        client = socket.socket(socket.AF_UNIX)
        try:
            client.connect(path)
        except OSError:
            client.close()
            assert time.monotonic() < ends
            time.sleep(0.002)
        else:
            return client
