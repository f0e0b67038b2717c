"""Versions, clock, limits and configuration."""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path

import pytest

from fabricd.daemon.doctor import clocks, limits, settings, versions
from fabricd.daemon.doctor.clocks import Stamp, stamps
from fabricd.daemon.doctor.subject import Subject, subject


@pytest.fixture
def about(tmp_path: Path) -> Subject:
    env = {
        "HOME": str(tmp_path),
        "FABRICD_HOME": str(tmp_path / "home"),
        "FABRICD_CONFIG": str(tmp_path / "config.toml"),
        "PI_CODING_AGENT_DIR": str(tmp_path / "agent"),
        "FABRICD_SOCKET": "/tmp/no-such-socket-of-ours",
    }
    return subject(env, "0.1.0", 0.1)


def test_a_daemon_of_another_version_or_protocol_is_wrong() -> None:
    assert versions.judge("0.1.0 (protocol 1)", None).state == "ok"
    assert versions.judge("0.1.0 (protocol 1)", "0.1.0 (protocol 1)").state == "ok"
    for other in ("0.0.9 (protocol 1)", "0.1.0 (protocol 2)"):
        check = versions.judge("0.1.0 (protocol 1)", other)
        assert check.state == "wrong" and other in check.found and check.cure == "fabricd restart"


def test_libraries_are_named_with_their_versions_and_missing_ones_are_wrong() -> None:
    found = versions.libraries()
    assert {"Python", "SQLite", "jsonschema-rs", "msgspec", "watchfiles"} <= set(found)
    check = versions.judge_libraries(found)
    assert check.state == "ok" and f"msgspec {found['msgspec']}" in check.found
    lost = versions.judge_libraries({**found, "msgspec": None})
    assert lost.state == "wrong" and "msgspec" in lost.found


def test_files_of_the_future_are_told_by_the_one_furthest_ahead() -> None:
    now = 1_000_000.0
    near = [Stamp("/a", now), Stamp("/b", now - 1e6), Stamp("/c", now + 59)]
    assert clocks.judge(near, now).state == "ok"
    check = clocks.judge([*near, Stamp("/d", now + 100), Stamp("/it's", now + 3600)], now)
    assert check.state == "warning"
    assert check.found == "/it's and 1 more is 3600 s ahead of the clock"
    assert "touch '/it'" in (check.cure or "")


def test_the_clock_is_held_against_logs_and_kept_files(about: Subject) -> None:
    folder = about.homes.sessions / "--p--"
    folder.mkdir(parents=True)
    (folder / "s.jsonl").write_text("")
    [check] = clocks.look(about)
    assert check.state == "ok"
    os.utime(folder / "s.jsonl", (time.time() + 500, time.time() + 500))
    [check] = clocks.look(about)
    assert check.state == "warning" and "s.jsonl" in check.found
    assert [*stamps([folder / "missing"])] == []


@pytest.mark.parametrize(
    ("jumps", "state", "words"),
    [
        ({}, "ok", "none"),
        ({"ahead": 2, "stopped": 1}, "ok", "slept or set ahead 2, kept from running 1"),
        ({"back": 1, "ahead": 1}, "warning", "set back 1"),
    ],
)
def test_a_clock_that_was_set_back_is_doubtful(
    jumps: dict[str, object], state: str, words: str
) -> None:
    check = clocks.judge_jumps(jumps)
    assert (check.id, check.state) == ("clock-jumps", state) and words in check.found


@pytest.mark.parametrize(
    ("soft", "state"),
    [(resource.RLIM_INFINITY, "ok"), (1024, "ok"), (256, "ok"), (255, "warning"), (127, "wrong")],
)
def test_few_open_files_are_doubtful_and_too_few_wrong(soft: int, state: str) -> None:
    assert limits.judge("this shell", soft).state == state


def test_the_limit_of_a_process_is_read_from_its_table() -> None:
    table = (
        "Limit                     Soft Limit           Hard Limit           Units     \n"
        "Max processes             96505                96505                processes \n"
        "Max open files            1024                 1048576              files     \n"
    )
    assert limits.of_process(table) == 1024
    assert limits.of_process(table.replace("1024 ", "unlimited ")) == resource.RLIM_INFINITY
    assert limits.of_process("") is None


def test_without_a_daemon_the_limit_is_that_of_this_process(about: Subject) -> None:
    [check] = limits.look(about)
    assert "this shell" in check.found


def test_a_configuration_is_sound_missing_or_told_problem_by_problem(
    about: Subject, tmp_path: Path
) -> None:
    [check] = settings.look(about)
    assert check.state == "ok" and "defaults" in check.found
    (tmp_path / "config.toml").write_text('[log]\nlevel = "info"\n')
    [check] = settings.look(about)
    assert check.state == "ok" and "sound" in check.found
    (tmp_path / "config.toml").write_text('[log]\nlevel = "loud"\n')
    [check] = settings.look(about)
    assert check.state == "wrong" and "log.level" in check.found
