from __future__ import annotations

import errno
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from fabricd.store import durable
from fabricd.store.durable import Damaged, Missing, read_bounded, shown


def test_a_file_is_read_up_to_its_limit_and_no_further(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    assert read_bounded(path, 5) == b"12345"
    assert read_bounded(path, 6) == b"12345"
    assert read_bounded(path, 4) == Damaged(path, "it is larger than 0 MiB")


def test_an_empty_file_is_there(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    assert read_bounded(tmp_path / "a", 5) == b""


def test_a_limit_is_told_in_mebibytes(tmp_path: Path) -> None:
    with (tmp_path / "a").open("wb") as file:
        file.truncate(2 * 1024 * 1024 + 1)
    found = read_bounded(tmp_path / "a", 2 * 1024 * 1024)
    assert found == Damaged(tmp_path / "a", "it is larger than 2 MiB")


def test_what_is_not_there_is_missing(tmp_path: Path) -> None:
    (tmp_path / "dangling").symlink_to("nowhere")
    for path in ("a", "a/b", "dangling"):
        assert read_bounded(tmp_path / path, 5) == Missing()


def test_a_file_in_place_of_its_folder_gives_no_bytes(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert not isinstance(read_bounded(tmp_path / "file" / "a", 5), bytes)


def test_a_pipe_that_says_nothing_or_too_much_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(durable, "_PIPE_SECONDS", 0.05)
    reader, writer = os.pipe()
    path = Path(f"/dev/fd/{reader}")
    try:
        found = read_bounded(path, 9, pipes=True)
        assert isinstance(found, Damaged)
        assert "nothing was written" in found.reason
        os.write(writer, b"1234567890")
        found = read_bounded(path, 9, pipes=True)
        assert isinstance(found, Damaged)
        assert "larger" in found.reason
    finally:
        os.close(reader)
        os.close(writer)


def _write_and_close(descriptor: int, data: bytes) -> None:
    os.write(descriptor, data)
    os.close(descriptor)


def test_a_pipe_that_a_person_named_is_read_to_its_end() -> None:
    reader, writer = os.pipe()
    path = Path(f"/dev/fd/{reader}")
    try:
        assert isinstance(read_bounded(path, 9), Damaged)
        late = threading.Timer(0.05, _write_and_close, (writer, b"12345"))
        late.start()
        assert read_bounded(path, 9, pipes=True) == b"12345"
        late.join()
    finally:
        os.close(reader)


def test_a_directory_in_its_place_is_damage(tmp_path: Path) -> None:
    found = read_bounded(tmp_path, 5)
    assert isinstance(found, Damaged)
    assert (found.path, found.reason[:6]) == (tmp_path, "it is ")


def test_damage_leaves_no_descriptor_open(tmp_path: Path) -> None:
    before = len(os.listdir("/dev/fd"))
    for _ in range(5):
        read_bounded(tmp_path, 5)
    assert len(os.listdir("/dev/fd")) == before


def test_a_fifo_in_its_place_is_damage_at_once(tmp_path: Path) -> None:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    began = time.monotonic()
    assert isinstance(read_bounded(path, 5), Damaged)
    writer = os.open(path, os.O_RDWR)
    try:
        assert isinstance(read_bounded(path, 5), Damaged)
        os.write(writer, b"{}")
        assert isinstance(read_bounded(path, 5), Damaged)
    finally:
        os.close(writer)
    assert time.monotonic() - began < 1


@pytest.mark.parametrize("code", [errno.EACCES, errno.ELOOP, errno.EIO, errno.EMFILE])
def test_a_file_that_cannot_be_opened_is_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def refuse(*_: Any, **__: Any) -> int:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        found = read_bounded(tmp_path / "a", 5)
    assert found == Damaged(tmp_path / "a", f"it is unreadable: {os.strerror(code)}")


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unreadable for root")
def test_a_file_that_may_not_be_read_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.touch(mode=0o000)
    assert read_bounded(path, 5) == Damaged(path, "it is unreadable: Permission denied")


@pytest.mark.skipif(sys.platform != "linux", reason="needs a file whose first byte cannot be read")
def test_a_file_that_fails_while_it_is_read_is_damaged() -> None:
    path = Path("/proc/self/mem")
    assert read_bounded(path, 5) == Damaged(path, "it is unreadable: Input/output error")


def test_damage_names_its_cure() -> None:
    assert Damaged(Path("/a/b.json"), "it is odd").cure == "move /a/b.json aside; it is rebuilt"


def test_any_path_can_be_shown() -> None:
    assert shown(b"/a/\xff\xc3\xa9") == "/a/\\xff\u00e9"
    assert shown("/a/\udcff") == "/a/\\xff"
    assert shown(Path("/a/b")) == "/a/b"
    shown(b"\xff").encode()
