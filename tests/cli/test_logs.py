"""`fabricd logs`: the end of the log, and what follows, whatever happens to the file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.daemon.telemetry.logfile import LogReader
from fabricd.daemon.telemetry.rotating import RotatingFile, older
from tests.cli.running import Cli
from tests.daemon.starting import background
from tests.harness import ROOT


def line(number: int, **fields: object) -> str:
    event = {"event": "it_happened", "number": number, "level": "info", "timestamp": "T", **fields}
    return json.dumps(event) + "\n"


@pytest.fixture
def log(place: Path) -> Path:
    path = place / "home" / "state" / "fabricd.log"
    path.parent.mkdir(parents=True)
    return path


def numbers(text: str) -> list[int]:
    """The numbers of the events in lines for people."""
    return [int(part.split("number=")[1].split()[0]) for part in text.splitlines()]


def test_the_last_lines_are_shown_as_on_a_terminal(cli: Cli, log: Path) -> None:
    log.write_text("".join(line(number) for number in range(120)))
    found = cli("logs")
    assert (found.code, found.err) == (0, "")
    assert numbers(found.out.decode()) == list(range(70, 120))
    assert found.out.splitlines()[-1] == b"T [info     ] it_happened number=119"
    assert numbers(cli("logs", "-n", "3").out.decode()) == [117, 118, 119]
    assert cli("logs", "-n", "0").out == b""
    assert len(cli("logs", "-n", "1000").out.splitlines()) == 120


def test_lines_that_moved_aside_count_as_well(cli: Cli, log: Path) -> None:
    older(log).write_text(line(1) + line(2) + line(3))
    log.write_text(line(4))
    assert numbers(cli("logs", "-n", "3").out.decode()) == [2, 3, 4]


def test_json_lines_come_as_they_are_and_words_become_lines(cli: Cli, log: Path) -> None:
    log.write_bytes(line(1).encode() + b"Fatal \xff error\n[1]\n" + line(2).encode()[:-5])
    found = cli("logs", "--json")
    assert found.out.startswith(line(1).encode())
    assert [value.get("text") for value in found.lines[1:]] == [
        "Fatal \\xff error",
        "[1]",
        line(2)[:-5],
    ]


def test_whatever_is_in_the_file_no_terminal_is_harmed(cli: Cli, log: Path) -> None:
    log.write_bytes(
        line(1, path="\x1b[31mred\r\u202e").encode()
        + b"\x1b]0;title\x07 raw \xff\n"
        + line(2, **{"\x1b[2J": ["\x1b[2J", {"a": "\x9b"}]}).encode()
        + line(3, exception="Traceback\n  x\x1b[1m\n").encode()
    )
    found = cli("logs")
    assert found.code == 0
    assert all(char.isprintable() or char == "\n" for char in found.out.decode())
    assert b"\\x1b[31mred\\r\\u202e" in found.out


def test_no_log_is_a_sentence(cli: Cli, place: Path) -> None:
    cli("logs").complains(1, "fabricd.log", "does not exist", "fabricd start")
    cli("logs", "-f").complains(1, "does not exist")
    (place / "home" / "state" / "fabricd.log").mkdir(parents=True)
    cli("logs").complains(1, "not a regular file")


def test_the_configured_file_is_read(cli: Cli, place: Path) -> None:
    (place / "config.toml").write_text(f'[log]\nfile = "{place}/other.log"\n')
    cli("logs").complains(1, "other.log")
    (place / "other.log").write_text(line(5))
    assert numbers(cli("logs").out.decode()) == [5]


def test_a_bad_configuration_hides_no_log(cli: Cli, place: Path, log: Path) -> None:
    (place / "config.toml").write_text("log = 5\n")
    log.write_text(line(6))
    found = cli("logs")
    assert (found.code, numbers(found.out.decode())) == (0, [6])
    found.says("config.toml")


@given(
    blocks=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 200_000)), max_size=6),
    count=st.integers(0, 12),
)
def test_the_end_of_a_file_is_what_reading_it_whole_would_give(
    tmp_path_factory: pytest.TempPathFactory, blocks: list[tuple[int, int]], count: int
) -> None:
    path = tmp_path_factory.mktemp("end") / "a.log"
    data = b"".join(b"%d\n" % size * repeated + b"x" * size for repeated, size in blocks)
    path.write_bytes(data)
    *whole, begun = data.split(b"\n")
    reader = LogReader(path)
    try:
        assert reader.last(count) == whole[max(0, len(whole) - count) :]
        assert reader.begun() == begun
        with path.open("ab") as file:
            file.write(b"more\nand")
        assert reader.more() == [begun + b"more"]
        assert (reader.more(), reader.begun()) == ([], b"and")
    finally:
        reader.close()


@given(steps=st.lists(st.sampled_from(["write", "write", "look", "cut", "remove"]), max_size=40))
def test_a_reader_that_looks_often_enough_misses_nothing(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str]
) -> None:
    path = tmp_path_factory.mktemp("follow") / "a.log"
    log = RotatingFile(path, str, 200)
    reader = LogReader(path)
    written: list[bytes] = []
    seen: list[bytes] = []
    since_look = 0
    try:
        for number, step in enumerate([*steps, "look"]):
            if step == "look" or since_look == 3 or step in ("cut", "remove"):
                seen += reader.more()
                since_look = 0
            if step == "write":
                text = f"line {number} " + "x" * 40
                log.write(text + "\n")
                written.append(text.encode())
                since_look += 1
            elif step == "cut":
                # A file that has grown as long again when it is looked at looks as if never cut.
                os.truncate(path, 0) if path.exists() else None
                seen += reader.more()
            elif step == "remove":
                path.unlink(missing_ok=True)
        seen += reader.more()
    finally:
        reader.close()
        log.close()
    assert seen == written


class Follower:
    """`fabricd logs -f` in a process of its own, and what it has printed."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.lines: list[bytes] = []
        self._thread = threading.Thread(target=self._collect)
        self._thread.start()

    def _collect(self) -> None:
        assert self.process.stdout is not None
        for part in self.process.stdout:
            self.lines.append(part)

    def until(self, condition: Callable[[], bool]) -> None:
        ends = time.monotonic() + 15
        while not condition():
            assert time.monotonic() < ends, self.lines
            time.sleep(0.02)

    def close(self) -> None:
        self.process.kill()
        self._thread.join()
        self.process.communicate()


@contextmanager
def following(
    *arguments: str, environment: dict[str, str] | None = None
) -> Generator[Follower, None, None]:
    process = subprocess.Popen(
        [sys.executable, "-m", "fabricd", "logs", "-f", *arguments],
        env={**(environment or os.environ), "PYTHONPATH": str(ROOT / "src")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    follower = Follower(process)
    try:
        yield follower
    finally:
        follower.close()


def test_following_goes_on_across_rotation_truncation_and_removal(log: Path) -> None:
    writer = RotatingFile(log, str, 400)
    writer.write(line(0))
    with following("--json") as follower:
        follower.until(lambda: len(follower.lines) == 1)
        for number in range(1, 13):
            if number == 8:
                os.truncate(log, 0)
            elif number == 10:
                log.unlink()
            writer.write(line(number))
            follower.until(lambda: len(follower.lines) == number + 1)  # noqa: B023
        assert [json.loads(part)["number"] for part in follower.lines] == list(range(13))
        assert older(log).exists()
        follower.process.send_signal(signal.SIGINT)
        assert follower.process.wait(10) == 0
        assert follower.process.stderr is not None and follower.process.stderr.read() == b""
    writer.close()


def test_following_ends_with_its_reader_though_nothing_is_logged(log: Path) -> None:
    log.write_text(line(1))
    command = '"$0" -m fabricd logs -f | head -n 1'
    done = subprocess.run(
        ["sh", "-c", command, sys.executable],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        timeout=20,
    )
    assert (done.stdout, done.stderr) == (b"T [info     ] it_happened number=1\n", b"")


def test_following_sees_a_daemon_that_is_restarted(place: Path) -> None:
    with background(place) as subject:
        subject.run("start")
        with following("-n", "100", environment=subject.env) as follower:
            follower.until(lambda: b"daemon_started" in b"".join(follower.lines))
            subject.run("restart")
            follower.until(lambda: b"".join(follower.lines).count(b"daemon_started") == 2)
            assert b"daemon_stopped" in b"".join(follower.lines)
