"""A listening socket that a service manager bound and passed."""

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

from fabricd.ipc.socket_file import inherited
from tests.harness import ROOT

# What systemd does between fork and exec: the descriptor becomes 3, the pid is named.
PASS = """
import os, sys
os.dup2(int(sys.argv[1]), 3, inheritable=True)
os.environ["LISTEN_PID"] = str(os.getpid())
os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
"""
TAKE = """
import os, sys
from pathlib import Path
from fabricd.ipc.socket_file import WrongSocket, inherited
try:
    bound = inherited(Path(sys.argv[1]), os.environ)
except WrongSocket as error:
    print("wrong:", error)
else:
    if bound is None:
        print("none")
    else:
        print("took", bound.raw.fileno(), bound.is_ours(), bound.raw.getblocking(),
              os.get_inheritable(3))
        bound.raw.accept()[0].sendall(b"hello")
        bound.unlink()
"""


@contextmanager
def manager(path: Path, kind: int = socket.SOCK_STREAM) -> Generator[socket.socket, None, None]:
    """A socket as systemd would bind it."""
    with socket.socket(socket.AF_UNIX, kind) as raw:
        raw.bind(str(path))
        if kind == socket.SOCK_STREAM:
            raw.listen(8)
        yield raw


def taken(descriptor: int, path: Path, **environment: str) -> str:
    """What a process says that was passed a descriptor."""
    command = [sys.executable, "-S", "-c", PASS, str(descriptor), "-c", TAKE, str(path)]
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "LISTEN_FDS": "1", **environment},
        pass_fds=(descriptor,),
        capture_output=True,
        text=True,
        timeout=20,
    )
    return done.stdout + done.stderr


def test_a_passed_socket_is_taken_served_and_left(place: Path) -> None:
    path = place / "s"
    with manager(path) as raw, socket.socket(socket.AF_UNIX) as client:
        # Who knocked before anybody ran is answered as well.
        client.connect(str(path))
        assert taken(raw.fileno(), path) == "took 3 True False False\n"
        assert client.recv(10) == b"hello"
        assert stat.S_ISSOCK(path.stat().st_mode)
        with socket.socket(socket.AF_UNIX) as later:
            later.connect(str(path))


def test_the_same_place_by_another_name_is_the_same(place: Path) -> None:
    (place / "real").mkdir()
    (place / "link").symlink_to("real")
    with manager(place / "real" / "s") as raw, socket.socket(socket.AF_UNIX) as client:
        client.connect(str(place / "real" / "s"))
        assert taken(raw.fileno(), place / "link" / "s").startswith("took 3 True")


def test_a_socket_elsewhere_is_refused(place: Path) -> None:
    with manager(place / "s") as raw:
        said = taken(raw.fileno(), place / "other")
    assert "where no client looks" in said and "fabricd service install" in said


@pytest.mark.parametrize("count", ["2", "x", "-1"])
def test_anything_but_one_socket_is_refused(place: Path, count: str) -> None:
    with manager(place / "s") as raw:
        assert "instead of one" in taken(raw.fileno(), place / "s", LISTEN_FDS=count)


def test_another_kind_of_socket_is_refused(place: Path) -> None:
    with manager(place / "s", socket.SOCK_DGRAM) as raw:
        assert "another kind" in taken(raw.fileno(), place / "s")
    with socket.socket(socket.AF_UNIX) as silent:
        assert "does not listen" in taken(silent.fileno(), place / "s")
    with (place / "file").open("wb") as file:
        assert "no socket" in taken(file.fileno(), place / "s")


def test_what_was_passed_to_another_process_is_not_ours(place: Path) -> None:
    for pid in ("1", str(os.getppid()), "", "x"):
        assert inherited(place / "s", {"LISTEN_PID": pid, "LISTEN_FDS": "1"}) is None
    for count in ("", "0"):
        environment = {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": count}
        assert inherited(place / "s", environment) is None
    assert inherited(place / "s", {"LISTEN_PID": str(os.getpid())}) is None
