"""Daemon, lock and socket: every combination that a person can meet."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from fabricd.daemon.doctor.checks import Check
from fabricd.daemon.doctor.running import (
    Entry,
    entry,
    judge_daemon,
    judge_degraded,
    judge_directory,
    judge_lock,
    judge_socket,
)
from fabricd.ipc.client import NeedsRestart, NotRunning, Probe, Ready, Reply, Unreachable
from fabricd.store.locks import Holder

SOCKET = Path("/run/user/7/fabricd/control.sock")
LOCK = Path("/home/fabricd.lock")
READY = Ready(Reply({"pid": 7, "state": "ready"}, "0.1.0", 1))
OTHER = NeedsRestart("it is version 0.0.9, this command 0.1.0", Reply({}, "0.0.9", 1))
SILENT = Unreachable("no reply within 2 s")
HELD = Holder(7, b"")
FILE = Entry(stat.S_IFSOCK, 0o600, 1000)


def is_sound(check: Check) -> bool:
    """A finding in one line; a cure wherever something is not as it should be, and only there."""
    one_line = "\n" not in check.found and bool(check.found)
    return one_line and (check.cure is not None) == (check.state in ("warning", "wrong"))


@pytest.mark.parametrize(
    ("probe", "holder", "state", "words"),
    [
        (READY, HELD, "ok", "pid 7"),
        (OTHER, HELD, "wrong", "0.0.9"),
        (SILENT, HELD, "wrong", "no reply"),
        (NotRunning(), None, "warning", "none runs"),
        (NotRunning(), HELD, "wrong", "pid 7"),
        (NotRunning(), Holder(None, b""), "wrong", "a process"),
    ],
)
def test_a_daemon_is_judged_by_its_answer_and_its_lock(
    probe: Probe, holder: Holder | None, state: str, words: str
) -> None:
    found = judge_daemon(probe, holder)
    assert is_sound(found)
    assert (found.id, found.state) == ("daemon", state) and words in found.found


@pytest.mark.parametrize(
    ("holder", "elsewhere", "state", "words"),
    [
        (None, None, "ok", "free"),
        (HELD, None, "ok", "pid 7"),
        (Holder(None, b""), None, "warning", "another host"),
        (HELD, Path("/other/control.sock"), "wrong", "/other/control.sock"),
        (Holder(None, b""), Path("/other/control.sock"), "wrong", "/other/control.sock"),
    ],
)
def test_a_lock_is_judged_by_who_holds_it_and_where_that_listens(
    holder: Holder | None, elsewhere: Path | None, state: str, words: str
) -> None:
    found = judge_lock(holder, LOCK, elsewhere)
    assert is_sound(found)
    assert (found.id, found.state) == ("lock", state) and words in found.found


@pytest.mark.parametrize("type", [stat.S_IFDIR, stat.S_IFIFO, stat.S_IFLNK])
def test_a_lock_that_is_no_file_is_moved_away(type: int) -> None:
    found = judge_lock(None, LOCK, None, Entry(type, 0o700, 1000), 7)
    assert is_sound(found) and found.state == "wrong" and "regular" in found.found
    assert found.cure == "mv /home/fabricd.lock /home/fabricd.lock.damaged"


def test_a_free_lock_is_wrong_where_a_daemon_of_the_home_answers() -> None:
    lies = Entry(stat.S_IFREG, 0o600, 1000)
    found = judge_lock(None, LOCK, None, None, 7)
    assert is_sound(found) and found.state == "wrong" and "pid 7" in found.found
    assert judge_lock(None, LOCK, None, lies, None).state == "ok"


def test_the_cure_of_a_silent_daemon_does_not_ask_it() -> None:
    for found in (judge_daemon(SILENT, HELD), judge_socket(SOCKET, FILE, SILENT, HELD)):
        assert found.cure == "fabricd restart --force"


def test_the_cure_of_a_daemon_elsewhere_can_be_pasted() -> None:
    found = judge_lock(HELD, LOCK, Path("/with a 'space/s"))
    assert found.cure == """export 'FABRICD_SOCKET=/with a '"'"'space/s'"""


@pytest.mark.parametrize(
    ("found", "probe", "holder", "state", "words"),
    [
        (FILE, READY, HELD, "ok", "is answered"),
        (FILE, OTHER, HELD, "ok", "is answered"),
        (FILE, READY, Holder(None, b""), "ok", "is answered"),
        (FILE, READY, Holder(8, b""), "wrong", "pid 7"),
        (FILE, SILENT, HELD, "warning", "not answered"),
        (FILE, NotRunning(), None, "warning", "left behind"),
        (None, NotRunning(), None, "ok", "is free"),
        (None, NotRunning(), HELD, "wrong", "is gone"),
        (Entry(stat.S_IFREG, 0o600, 1000), NotRunning(), None, "wrong", "no socket"),
        (Entry(stat.S_IFSOCK, 0o666, 1000), READY, HELD, "warning", "0666"),
    ],
)
def test_a_socket_is_judged_by_what_lies_there_and_who_answers(
    found: Entry | None, probe: Probe, holder: Holder | None, state: str, words: str
) -> None:
    check = judge_socket(SOCKET, found, probe, holder)
    assert is_sound(check)
    assert (check.id, check.state) == ("socket", state) and words in check.found
    assert f"({len(os.fsencode(SOCKET))} of 103 bytes)" in check.found


@pytest.mark.parametrize(
    ("found", "state", "cure"),
    [
        (None, "ok", None),
        (Entry(stat.S_IFDIR, 0o700, 1000), "ok", None),
        (Entry(stat.S_IFDIR, 0o755, 1000), "wrong", "chmod 700 /run/user/7/fabricd"),
        (Entry(stat.S_IFDIR, 0o710, 1000), "wrong", "chmod 700 /run/user/7/fabricd"),
        (Entry(stat.S_IFDIR, 0o700, 0), "wrong", "export FABRICD_SOCKET="),
        (Entry(stat.S_IFREG, 0o600, 1000), "wrong", "mv /run/user/7/fabricd "),
    ],
)
def test_the_directory_of_the_socket_is_yours_alone(
    found: Entry | None, state: str, cure: str | None
) -> None:
    check = judge_directory(SOCKET.parent, found, 1000)
    assert is_sound(check) and check.state == state
    assert check.cure is None if cure is None else (check.cure or "").startswith(cure)


@pytest.mark.parametrize("path", ["/tmp", "/etc", "/", "/run", "/home/me"])
def test_a_folder_that_others_use_is_never_to_be_closed(path: str) -> None:
    check = judge_directory(Path(path), Entry(stat.S_IFDIR, 0o1777, 1000), 1000)
    assert is_sound(check) and check.state == "wrong"
    assert (check.cure or "").startswith("export FABRICD_SOCKET=")


def test_an_entry_is_what_lies_at_the_path_or_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir(mode=0o700)
    (tmp_path / "l").symlink_to(tmp_path / "d")
    direct, followed = entry(tmp_path / "l"), entry(tmp_path / "l", follow=True)
    assert direct is not None and direct.type == stat.S_IFLNK
    assert followed == Entry(stat.S_IFDIR, 0o700, os.getuid())
    assert entry(tmp_path / "missing") is None


def test_each_ailment_of_the_daemon_is_a_check_with_its_cure() -> None:
    ailments = [
        {"what": "pool", "why": "it is not JSON", "cure": "move it aside"},
        {"what": "watch", "why": "no watches left", "cure": "sysctl"},
    ]
    found = [*judge_degraded({"degraded": ailments})]
    assert [(check.id, check.state, check.cure) for check in found] == [
        ("degraded-pool", "wrong", "move it aside"),
        ("degraded-watch", "wrong", "sysctl"),
    ]


@pytest.mark.parametrize("status", [{}, {"degraded": 5}, {"degraded": [None]}])
def test_a_status_that_tells_no_ailments_gives_no_check(status: dict[str, Any]) -> None:
    assert [*judge_degraded(status)] == []


def test_a_healthy_daemon_has_nothing_to_complain_of() -> None:
    [found] = judge_degraded({"degraded": []})
    assert found.state == "ok"
