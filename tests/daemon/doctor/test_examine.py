"""All looks together: bounded, in order, none able to take the others along."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from fabricd.daemon.doctor.checks import Check, aside, command, fine, nearest
from fabricd.daemon.doctor.examine import LOOKS, examine, looked
from fabricd.daemon.doctor.subject import Subject, subject
from tests.ipc.listeners import listening, silent


@pytest.fixture
def env(tmp_path: Path) -> Mapping[str, str]:
    return {
        "HOME": str(tmp_path),
        "FABRICD_HOME": str(tmp_path / "home"),
        "FABRICD_CONFIG": str(tmp_path / "config.toml"),
        "PI_CODING_AGENT_DIR": str(tmp_path / "agent"),
        "FABRICD_SOCKET": "/tmp/no-such-socket-of-ours",
    }


def test_what_breaks_or_hangs_could_not_be_checked_and_the_others_are_told_in_order(
    env: Mapping[str, str],
) -> None:
    def sound(_: Subject) -> Iterator[Check]:
        yield fine("sound", "all is well")

    def broken(_: Subject) -> Iterator[Check]:
        yield fine("before", "this was seen")
        raise KeyError("gone")

    def hanging(_: Subject) -> Iterator[Check]:
        time.sleep(20)
        yield fine("never", "")

    looks = (("hanging", hanging), ("broken", broken), ("sound", sound))
    started = time.monotonic()
    found = looked(looks, subject(env, "0.1.0", 0.1), 0.3)
    assert time.monotonic() - started < 15
    assert [(check.id, check.state) for check in found] == [
        ("hanging", "unknown"),
        ("before", "ok"),
        ("broken", "unknown"),
        ("sound", "ok"),
    ]
    assert "0.3 s" in found[0].found and "KeyError" in found[2].found


def test_everything_is_looked_at_and_nothing_is_made(
    env: Mapping[str, str], tmp_path: Path
) -> None:
    found = examine(env, "0.1.0")
    assert [check.found for check in found if check.state == "unknown"] == []
    ids = [check.id for check in found]
    assert len(ids) == len(set(ids))
    for id in (
        "daemon lock socket socket-directory version libraries configuration home state modes "
        "file-compiled space-home filesystem-sessions open-files clock"
    ).split():
        assert id in ids
    assert [*tmp_path.iterdir()] == []
    assert len({name for name, _ in LOOKS}) == len(LOOKS)


def test_a_silent_daemon_does_not_make_it_long(env: Mapping[str, str]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory(prefix="fd-", dir="/tmp") as folder:
        path = Path(folder) / "s"
        with listening(path, silent):
            started = time.monotonic()
            found = examine({**env, "FABRICD_SOCKET": str(path)}, "0.1.0")
            assert time.monotonic() - started < 9
    [daemon] = [check for check in found if check.id == "daemon"]
    assert daemon.state == "wrong" and "does not answer" in daemon.found


def test_a_socket_path_that_is_too_long_is_one_wrong_check(env: Mapping[str, str]) -> None:
    found = examine({**env, "FABRICD_SOCKET": "/tmp/" + "x" * 200}, "0.1.0")
    [check] = [check for check in found if check.id == "socket"]
    assert check.state == "wrong" and "103" in check.found


def test_commands_can_be_pasted_whatever_a_path_holds(tmp_path: Path) -> None:
    path = Path("/a b/$(rm -rf x)/'")
    assert command("chmod", "700", path) == """chmod 700 '/a b/$(rm -rf x)/'"'"''"""
    assert aside(Path("/a/b.json")) == "mv /a/b.json /a/b.json.damaged"
    assert nearest(tmp_path / "a" / "b") == tmp_path
