"""The log file: bounded, whole lines only, and never an error of the daemon's."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.daemon.telemetry.logging import lines_lost
from fabricd.daemon.telemetry.rotating import CAP, RotatingFile, older
from tests.harness import ROOT


def now() -> str:
    return "2026-01-01T00:00:00Z"


def logged(path: Path) -> list[str]:
    return path.read_text().splitlines()


def test_lines_are_appended_whole_however_they_come(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "a.log"
    log = RotatingFile(path, now)
    for piece in ("one", "\n", "tw", "o\nthree\nfo"):
        log.write(piece)
    assert path.read_text() == "one\ntwo\nthree\n"
    log.write("ur\n")
    log.close()
    again = RotatingFile(path, now)
    again.write("five\n")
    again.close()
    assert logged(path) == ["one", "two", "three", "four", "five"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert CAP == 8 * 1024 * 1024


def test_text_without_a_utf8_form_is_spelt_out(tmp_path: Path) -> None:
    log = RotatingFile(tmp_path / "a.log", now)
    log.write("\ud800 ü\n")
    log.close()
    assert (tmp_path / "a.log").read_bytes() == "\\ud800 ü\n".encode()


@given(lengths=st.lists(st.integers(0, 150), max_size=60), cap=st.integers(1, 300))
def test_no_file_outgrows_the_cap_and_the_newest_lines_are_all_there(
    tmp_path_factory: pytest.TempPathFactory, lengths: list[int], cap: int
) -> None:
    path = tmp_path_factory.mktemp("rotating") / "a.log"
    log = RotatingFile(path, now, cap)
    lines = [f"{number:04d}" + "x" * length for number, length in enumerate(lengths)]
    for line in lines:
        log.write(line + "\n")
    log.close()
    held = (logged(older(path)) if older(path).exists() else []) + logged(path)
    assert held == lines[len(lines) - len(held) :]
    assert sorted(os.listdir(path.parent)) in (["a.log"], ["a.log", "a.log.1"])
    longest = max((len(line) + 1 for line in lines), default=0)
    for file in (path, older(path)):
        assert not file.exists() or file.stat().st_size <= max(cap, longest)
    # A file moves aside only when the next line does not fit.
    if len(held) < len(lines):
        assert older(path).stat().st_size + longest > cap


def test_a_file_that_was_moved_removed_or_cut_is_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    log = RotatingFile(path, now)
    log.write("one\n")
    path.rename(tmp_path / "moved")
    log.write("two\n")
    path.unlink()
    log.write("three\n")
    path.write_bytes(b"")
    log.write("four\n")
    (tmp_path / "moved").unlink()
    os.truncate(path, 0)
    log.write("five\n")
    path.unlink()
    tmp_path.rename(tmp_path.with_name("elsewhere"))
    log.write("six\n")
    log.close()
    assert logged(path) == ["six"]


def test_standard_streams_that_lead_to_the_log_move_with_it(tmp_path: Path) -> None:
    script = (
        "import os; from pathlib import Path\n"
        "from fabricd.daemon.telemetry.rotating import RotatingFile\n"
        "log = RotatingFile(Path('a.log'), str, 60)\n"
        "for n in range(4):\n"
        "    log.write('x' * 30 + '\\n'); os.write(2, b'said %d\\n' % n)\n"
    )
    with (tmp_path / "a.log").open("ab") as file:
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            cwd=tmp_path,
            stderr=file,
            check=True,
            timeout=20,
        )
    assert logged(tmp_path / "a.log") == ["x" * 30, "said 3"]
    assert logged(tmp_path / "a.log.1") == ["x" * 30, "said 2"]


class Disk:
    """A disk with so much room; what is beyond it is not written."""

    def __init__(self, room: int) -> None:
        self.room = room
        self._write = os.write

    def write(self, descriptor: int, data: bytes) -> int:
        if self.room <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = self._write(descriptor, bytes(data[: self.room]))
        self.room -= written
        return written


@given(
    rooms=st.lists(st.integers(0, 60), min_size=1, max_size=12), cap=st.sampled_from([50, 10**6])
)
def test_a_full_disk_costs_whole_lines_and_says_how_many(
    tmp_path_factory: pytest.TempPathFactory, rooms: list[int], cap: int
) -> None:
    path = tmp_path_factory.mktemp("full") / "a.log"
    log = RotatingFile(path, now, cap)
    disk = Disk(0)
    before = lines_lost()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "write", disk.write)
        for number, room in enumerate(rooms):
            disk.room = room
            log.write(f"line {number} xxxxxxxxxxxx\n")
        disk.room = 10**6
        log.write("room again\n")
    log.close()
    lost = 0
    said = 0
    for line in (logged(older(path)) if older(path).exists() else []) + logged(path):
        if line.startswith("{"):
            event: dict[str, Any] = json.loads(line)
            assert event["event"] == "log_lines_lost"
            lost += event["count"]
        else:
            assert line == "room again" or line.endswith(" xxxxxxxxxxxx")
            said += 1
    assert logged(path)[-1] == "room again"
    assert log.dropped == 0
    if cap > 50:
        assert lost + said == len(rooms) + 1
        assert lines_lost() - before == lost


def test_where_no_second_file_can_be_made_the_first_grows_to_twice_the_cap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.log"
    log = RotatingFile(path, now, 100)

    def refused(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no room in the directory")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", refused)
        for number in range(30):
            log.write(f"{number:09d}\n")
    assert logged(path) == [f"{number:09d}" for number in range(20)]
    assert log.dropped == 10
    log.write("goes on\n")
    log.close()
    assert len(logged(older(path))) == 20
    assert [json.loads(line)["count"] for line in logged(path)[:1]] == [10]
    assert logged(path)[1:] == ["goes on"]


def test_a_log_that_cannot_be_opened_is_an_error_at_the_start_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        RotatingFile(tmp_path / "file" / "a.log", now)
    path = tmp_path / "a.log"
    log = RotatingFile(path, now)
    path.unlink()
    path.mkdir()
    log.write("lost\n")
    path.rmdir()
    log.write("here\n")
    log.close()
    assert [json.loads(line)["count"] for line in logged(path)[:1]] == [1]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no full device")
def test_devices_are_written_to_and_otherwise_left_alone() -> None:
    before = os.stat("/dev/full").st_mode
    log = RotatingFile(Path("/dev/full"), now, 1)
    log.write("one\ntwo\n")
    log.close()
    assert log.dropped == 2
    assert os.stat("/dev/full").st_mode == before
    assert not Path("/dev/full.1").exists()
