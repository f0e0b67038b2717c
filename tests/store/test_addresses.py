from __future__ import annotations

import os
import sys
from pathlib import Path

import platformdirs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.store.addresses import (
    SOCKET_BYTES,
    SocketPathTooLong,
    absolute,
    socket_path,
    state_dir,
)

paths = st.sampled_from(["", "/a", "/a/", "/a b/é", "~", "~/x", "relative", "/a/../b"])
linux = pytest.mark.skipif(sys.platform != "linux", reason="the XDG variables mean nothing here")


@given(paths)
def test_state_is_where_platformdirs_says(given_state: str) -> None:
    for home in ("/home/me", "/root/"):
        env = {"HOME": home, "XDG_STATE_HOME": given_state}
        with pytest.MonkeyPatch.context() as patch:
            for name in list(os.environ):
                patch.delenv(name)
            for name, value in env.items():
                patch.setenv(name, value)
            expected = platformdirs.user_state_dir("fabricd", appauthor=False)
        assert os.path.normpath(state_dir(env)) == os.path.normpath(expected)


@given(paths.filter(bool), paths, paths)
def test_a_home_of_our_own_holds_the_state(home: str, state: str, xdg: str) -> None:
    env = {"HOME": "/h", "FABRICD_HOME": home, "FABRICD_STATE_DIR": state, "XDG_STATE_HOME": xdg}
    assert state_dir(env) == os.path.join(absolute(home, env), "state")


@given(paths.filter(bool), paths)
def test_a_state_folder_may_be_named(state: str, xdg: str) -> None:
    env = {"HOME": "/h", "FABRICD_HOME": "", "FABRICD_STATE_DIR": state, "XDG_STATE_HOME": xdg}
    assert state_dir(env) == absolute(state, env)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("~", "/h"),
        ("~/x/../y", "/h/y"),
        ("/~/x", "/~/x"),
        ("/a//b/", "/a/b"),
        ("~other/x", os.path.join(os.getcwd(), "~other/x")),
        ("x", os.path.join(os.getcwd(), "x")),
    ],
)
def test_paths_are_made_absolute(path: str, expected: str) -> None:
    assert absolute(path, {"HOME": "/h"}) == expected


def test_without_a_home_variable_the_system_knows_the_home() -> None:
    assert absolute("~/x", {}) == os.path.expanduser("~") + "/x"
    assert absolute("~/x", {"HOME": ""}) == os.path.expanduser("~") + "/x"


def test_the_socket_is_the_named_one_before_any_other(tmp_path: Path) -> None:
    env = {
        "HOME": "/h",
        "FABRICD_SOCKET": "~/s",
        "FABRICD_HOME": "/f",
        "XDG_RUNTIME_DIR": str(tmp_path),
    }
    assert socket_path(env) == "/h/s"
    del env["FABRICD_SOCKET"]
    assert socket_path(env) == "/f/run/control.sock"
    del env["FABRICD_HOME"]
    assert socket_path(env) == f"{tmp_path}/fabricd/control.sock"


@pytest.mark.parametrize("runtime", ["", "relative", "/nonexistent/run", "/dev/null"])
def test_without_a_runtime_folder_the_socket_is_with_the_state(runtime: str) -> None:
    env = {"HOME": "/h", "FABRICD_STATE_DIR": "/s", "XDG_RUNTIME_DIR": runtime}
    assert socket_path(env) == "/s/run/control.sock"


@linux
def test_without_any_variable_the_socket_is_below_the_home() -> None:
    assert socket_path({"HOME": "/h"}) == "/h/.local/state/fabricd/run/control.sock"


@pytest.mark.parametrize("char", ["x", "é", os.fsdecode(b"\xff")])
def test_a_socket_path_has_at_most_103_bytes(char: str) -> None:
    size = len(os.fsencode(char))
    fits = "/" + "a" * ((SOCKET_BYTES - 1) % size) + char * ((SOCKET_BYTES - 1) // size)
    assert len(os.fsencode(fits)) == SOCKET_BYTES == 103
    assert socket_path({"FABRICD_SOCKET": fits}) == fits
    with pytest.raises(SocketPathTooLong, match="104 bytes, at most 103") as caught:
        socket_path({"FABRICD_SOCKET": fits + "x"})
    assert "FABRICD_SOCKET" in str(caught.value)
    str(caught.value).encode()
