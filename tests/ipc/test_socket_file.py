from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fabricd.ipc.socket_file import BoundSocket, LiveSocket, NotASocket, bind, is_stale, peer_uid
from tests.ipc.listeners import deaf

DIE = "import socket, sys, os; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); "


@contextmanager
def bound(path: Path) -> Generator[BoundSocket, None, None]:
    found = bind(path)
    try:
        yield found
    finally:
        found.raw.close()


def leave_stale(path: Path) -> None:
    """What a killed process leaves behind."""
    subprocess.run([sys.executable, "-S", "-c", DIE + "s.listen(); os._exit(9)", path], check=False)
    assert stat.S_ISSOCK(path.stat().st_mode)


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077, 0o777])
def test_the_socket_is_ours_alone_whatever_the_umask(place: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        with bound(place / "s"):
            assert stat.S_IMODE((place / "s").stat().st_mode) == 0o600
            assert os.umask(mask) == mask
    finally:
        os.umask(before)


def test_a_bound_socket_listens_and_does_not_block(place: Path) -> None:
    with bound(place / "s") as found, socket.socket(socket.AF_UNIX) as client:
        assert not found.raw.getblocking()
        client.connect(str(place / "s"))
        with found.raw.accept()[0] as accepted:
            assert peer_uid(accepted) == peer_uid(client) == os.getuid()


def test_the_socket_of_a_dead_process_is_replaced(place: Path) -> None:
    leave_stale(place / "s")
    assert is_stale(place / "s")
    with bound(place / "s") as found, socket.socket(socket.AF_UNIX) as client:
        client.connect(str(place / "s"))
        assert found.is_ours()


def test_a_live_listener_is_never_stolen(place: Path) -> None:
    with bound(place / "s") as first:
        with pytest.raises(LiveSocket, match="listens at"):
            bind(place / "s")
        assert first.is_ours()
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(place / "s"))
            # The probe before it waits in the queue too.
            first.raw.accept()[0].close()
            first.raw.accept()[0].close()


def test_a_listener_that_accepts_nothing_is_live(place: Path) -> None:
    with deaf(place / "s"):
        with pytest.raises(LiveSocket):
            bind(place / "s")
        assert (place / "s").is_socket()


def test_a_socket_of_another_kind_is_left_alone(place: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other:
        other.bind(str(place / "s"))
        with pytest.raises(LiveSocket):
            bind(place / "s")
        assert (place / "s").is_socket()


def test_a_regular_file_is_left_alone(place: Path) -> None:
    (place / "s").write_text("precious")
    with pytest.raises(NotASocket, match="is not a socket"):
        bind(place / "s")
    assert (place / "s").read_text() == "precious"


def test_a_directory_is_left_alone(place: Path) -> None:
    (place / "s").mkdir()
    with pytest.raises(NotASocket):
        bind(place / "s")
    assert (place / "s").is_dir()


def test_a_link_is_left_alone_even_where_it_leads_to_a_stale_socket(place: Path) -> None:
    leave_stale(place / "real")
    (place / "s").symlink_to(place / "real")
    with pytest.raises(NotASocket):
        bind(place / "s")
    assert (place / "s").is_symlink() and (place / "real").is_socket()


def test_a_missing_directory_is_an_error_and_not_made(place: Path) -> None:
    with pytest.raises(FileNotFoundError):
        bind(place / "missing" / "s")
    assert not (place / "missing").exists()


def test_unlink_removes_our_socket_and_may_be_repeated(place: Path) -> None:
    with bound(place / "s") as found:
        found.unlink()
        assert not (place / "s").exists()
        assert not found.is_ours()
        found.unlink()


def test_unlink_leaves_the_socket_of_a_successor(place: Path) -> None:
    with bound(place / "s") as first:
        (place / "s").unlink()
        with bound(place / "s") as second:
            assert not first.is_ours()
            first.unlink()
            assert second.is_ours()


def test_unlink_leaves_a_file_that_took_the_path(place: Path) -> None:
    with bound(place / "s") as found:
        (place / "s").unlink()
        (place / "s").write_text("precious")
        found.unlink()
    assert (place / "s").read_text() == "precious"


def test_a_socket_that_was_moved_away_is_not_ours_at_the_old_path(place: Path) -> None:
    with bound(place / "s") as found:
        (place / "s").rename(place / "elsewhere")
        found.unlink()
        assert (place / "elsewhere").is_socket()


def test_a_missing_socket_is_not_stale(place: Path) -> None:
    assert not is_stale(place / "s")


def test_the_peer_of_a_socket_without_one_is_not_us() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        assert peer_uid(other) != os.getuid()
