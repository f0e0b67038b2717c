from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fabricd.store.locks import AlreadyHeld, hold

HOLDER = """
import sys
from pathlib import Path
from fabricd.store.locks import AlreadyHeld, hold
try:
    held = hold(Path(sys.argv[1]), b"told by a child")
except AlreadyHeld as error:
    print("held", error.told.decode(), flush=True)
else:
    print("mine", flush=True)
    sys.stdin.readline()
"""


@contextmanager
def child(path: Path) -> Generator[subprocess.Popen[bytes], None, None]:
    """Another process that tries to take the lock and keeps it until its input ends."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def first_line(process: subprocess.Popen[bytes]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().decode().strip()


def test_a_held_lock_is_refused_and_tells_its_holder(tmp_path: Path) -> None:
    path = tmp_path / "run" / "a.lock"
    held = hold(path, b"/run/control.sock")
    for _ in range(2):
        with pytest.raises(AlreadyHeld, match=r"another process holds .*a\.lock") as caught:
            hold(path)
        assert (caught.value.told, caught.value.path) == (b"/run/control.sock", path)
    assert path.read_bytes() == f"{os.getpid()}\n/run/control.sock\n".encode()
    held.close()


def test_a_lock_is_refused_in_another_process_too(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    held = hold(path, b"here")
    with child(path) as other:
        assert first_line(other) == "held here"
    held.close()
    with child(path) as other:
        assert first_line(other) == "mine"
        with pytest.raises(AlreadyHeld) as caught:
            hold(path)
    assert caught.value.told == b"told by a child"


def test_a_killed_holder_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    with child(path) as other:
        assert first_line(other) == "mine"
        other.send_signal(signal.SIGKILL)
        other.wait()
        hold(path).close()


def test_the_lock_file_is_never_unlinked(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    held = hold(path)
    inode = path.stat().st_ino
    held.close()
    held.close()
    again = hold(path)
    assert path.stat().st_ino == inode
    again.close()
    assert path.stat().st_ino == inode


def test_closing_late_takes_nothing_from_the_next_holder(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    first = hold(path)
    first.close()
    second = hold(path, b"second")
    first.close()
    with pytest.raises(AlreadyHeld) as caught:
        hold(path)
    assert caught.value.told == b"second"
    second.close()


@pytest.mark.parametrize(
    "garbage",
    [b"", b"1\nlive\n", b"\xff" * 9000, f"{os.getpid()}\n".encode()],
    ids=["empty", "pid 1", "garbage", "our own pid"],
)
def test_what_a_dead_holder_left_means_nothing(tmp_path: Path, garbage: bytes) -> None:
    path = tmp_path / "a.lock"
    path.write_bytes(garbage)
    held = hold(path, b"x")
    assert path.read_bytes() == f"{os.getpid()}\nx\n".encode()
    held.close()


@pytest.mark.parametrize("partial", [b"", b"123", b"123\n/run/contr", b"\xff\n\xfe\n"])
def test_a_holder_that_did_not_get_far_tells_nothing_wrong(tmp_path: Path, partial: bytes) -> None:
    path = tmp_path / "a.lock"
    held = hold(path)
    path.write_bytes(partial)
    with pytest.raises(AlreadyHeld) as caught:
        hold(path)
    assert caught.value.told == (b"\xfe" if partial.endswith(b"\xfe\n") else b"")
    held.close()


def test_a_lock_that_cannot_be_written_is_given_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.lock"

    def full(*_: Any) -> int:
        raise OSError("No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space left"):
            hold(path)
    hold(path).close()


def test_a_directory_in_its_place_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.lock").mkdir()
    with pytest.raises(OSError, match="directory"):
        hold(tmp_path / "a.lock")


def test_lock_and_folder_are_private(tmp_path: Path) -> None:
    path = tmp_path / "run" / "a.lock"
    hold(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_lock_with_a_name_that_is_no_text_is_told_in_ascii(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"\xff.lock")
    held = hold(path)
    with pytest.raises(AlreadyHeld) as caught:
        hold(path)
    assert "\\xff.lock" in str(caught.value)
    held.close()
