from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import platformdirs
import pytest

from fabricd.store.homes import BadHome, agent_dir, find, require_closed, require_private


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, "/h/.pi/agent"),
        ("", "/h/.pi/agent"),
        ("/x", "/x"),
        ("~", "/h"),
        ("~/x/", "/h/x"),
        ("file:///x/y", "/x/y"),
        ("file:///a%20b/%C3%A9", "/a b/é"),
        ("file://localhost/x", "/x"),
        ("file://", "/h/.pi/agent"),
    ],
)
def test_the_agent_directory_is_a_path_or_a_file_url(given: str | None, expected: str) -> None:
    env = {"HOME": "/h"} | ({} if given is None else {"PI_CODING_AGENT_DIR": given})
    assert agent_dir(env) == Path(expected)


def test_a_home_of_our_own_holds_everything_but_the_agents_files(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "FABRICD_HOME": "~/own", "FABRICD_STATE_DIR": "/elsewhere"}
    (tmp_path / ".pi" / "agent").mkdir(parents=True)
    homes = find(env)
    own = tmp_path / "own"
    assert not homes.is_pi_home
    assert (homes.home, homes.state, homes.lock) == (own, own / "state", own / "fabricd.lock")
    assert homes.compiled == own / "entropy" / "compiled.json"
    assert homes.artifact == own / "entropy" / "artifact.json"
    assert homes.surface == own / "entropy" / "surface.json"
    assert homes.checkpoints == own / "state" / "checkpoints.msgpack"
    assert homes.sessions == tmp_path / ".pi" / "agent" / "sessions"
    assert not own.exists()


def test_an_existing_agent_directory_is_shared(tmp_path: Path) -> None:
    env = {"HOME": "/h", "PI_CODING_AGENT_DIR": str(tmp_path), "FABRICD_STATE_DIR": "/s"}
    homes = find(env)
    assert homes.is_pi_home
    assert (homes.home, homes.state) == (tmp_path / "fabric", Path("/s"))
    assert os.listdir(tmp_path) == []


def test_without_an_agent_directory_the_home_is_the_users_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in list(os.environ):
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".pi").mkdir()
    (tmp_path / ".pi" / "agent").touch()
    homes = find(os.environ)
    assert not homes.is_pi_home
    assert homes.home == Path(platformdirs.user_data_dir("fabricd", appauthor=False))
    assert homes.home.is_relative_to(tmp_path)


@pytest.mark.parametrize("require", [require_private, require_closed])
def test_a_missing_directory_is_made_private(tmp_path: Path, require: Any) -> None:
    before = os.umask(0o000)
    try:
        require(tmp_path / "a" / "b", "the home")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o700
    require(tmp_path / "a" / "b", "the home")


@pytest.mark.parametrize(
    ("path", "words"), [("file", "is not a directory"), ("file/b", "lies below a file")]
)
def test_a_file_is_no_home(tmp_path: Path, path: str, words: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadHome, match=f"the home .*{words}"):
        require_private(tmp_path / path, "the home")


def test_a_directory_of_somebody_else_is_no_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uid = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: uid + 1)
    with pytest.raises(BadHome, match=f"belongs to uid {uid}, not to you"):
        require_private(tmp_path, "the home")


@pytest.mark.parametrize("mode", [0o710, 0o701, 0o755, 0o740, 0o777])
def test_a_socket_directory_is_closed_to_others(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "run"
    path.mkdir()
    path.chmod(mode)
    require_private(path, "the socket directory")
    with pytest.raises(BadHome, match=f"has mode {mode:04o}, expected 0700: chmod 700 it"):
        require_closed(path, "the socket directory")
    path.chmod(0o700)
    require_closed(path, "the socket directory")


def test_a_linked_directory_serves(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to("real")
    require_closed(tmp_path / "link", "the home")
