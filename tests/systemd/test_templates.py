"""The service files parse, say what the daemon does, and know their own text."""

from __future__ import annotations

import configparser
import plistlib
import shutil
import subprocess
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.daemon.exits import BAD_CONFIG, OK, REPLACED, STALE
from fabricd.daemon.service.unit_files import agent, author, serves, socket_unit, unit

PROGRAM = "/home/me/.local/bin/fabricd"
PLACES: Mapping[str, str] = {"FABRICD_HOME": "/home/me/fabric", "XDG_STATE_HOME": "/home/me/s"}

# No NUL, which no path and no variable can hold, and no lone surrogate, which a test file cannot.
words = st.text(st.characters(exclude_characters="\0\r", exclude_categories=["Cs"]), max_size=30)
# What XML can carry at all.
plain = st.text(st.characters(exclude_categories=["Cs", "Cc", "Co", "Cn"]), max_size=30)


class Unit(configparser.ConfigParser):
    """Keys as they are spelt."""

    def optionxform(self, optionstr: str) -> str:
        return optionstr


def parsed(text: str) -> Unit:
    found = Unit(interpolation=None, strict=False)
    found.read_string(text)
    return found


def test_the_unit_waits_for_readiness_and_is_final_where_restarting_is_no_help() -> None:
    service = parsed(unit(PROGRAM, {}, with_socket=False))["Service"]
    assert (service["Type"], service["NotifyAccess"]) == ("notify", "main")
    assert service["ExecStart"] == f'"{PROGRAM}" run'
    assert service["Restart"] == "on-failure"
    final = set(map(int, service["RestartPreventExitStatus"].split()))
    assert final == {OK, STALE, BAD_CONFIG}
    assert service["RestartForceExitStatus"] == service["SuccessExitStatus"] == str(REPLACED)
    assert service["RestrictAddressFamilies"] == "AF_UNIX"
    assert int(service["WatchdogSec"].removesuffix("s")) >= 60


def test_attempts_end_before_they_go_on_for_ever() -> None:
    text = parsed(unit(PROGRAM, {}, with_socket=False))
    pause = float(text["Service"]["RestartSec"].removesuffix("s"))
    interval, burst = (int(text["Unit"][f"StartLimit{name}"]) for name in ("IntervalSec", "Burst"))
    assert burst * pause < interval


def test_with_a_socket_the_unit_comes_behind_it() -> None:
    text = parsed(unit(PROGRAM, {}, with_socket=True))["Unit"]
    assert (text["Wants"], text["After"]) == ("fabricd.socket", "fabricd.socket")
    listening = parsed(socket_unit("/run/user/1000/fabricd/control.sock", "/run/user/1000"))
    assert listening["Socket"]["ListenStream"] == "%t/fabricd/control.sock"
    assert listening["Socket"]["SocketMode"] == "0600"
    assert listening["Socket"]["DirectoryMode"] == "0700"
    elsewhere = parsed(socket_unit("/home/me/50 %/s.sock", "/run/user/1000"))
    assert elsewhere["Socket"]["ListenStream"] == "/home/me/50 %%/s.sock"


def test_the_agent_runs_in_the_foreground_and_restarts_only_failures() -> None:
    found = plistlib.loads(agent(PROGRAM, PLACES, "/tmp/errors").encode())
    assert found["ProgramArguments"] == [PROGRAM, "run"]
    assert found["KeepAlive"] == {"SuccessfulExit": False}
    assert found["SoftResourceLimits"]["NumberOfFiles"] == 4096
    assert found["EnvironmentVariables"] == PLACES
    assert found["StandardErrorPath"] == "/tmp/errors"
    assert found["Label"] == "dev.fabricd"


@given(program=plain, value=plain)
def test_any_text_comes_back_out_of_the_agent(program: str, value: str) -> None:
    text = agent(program, {"FABRICD_HOME": value}, value)
    found = plistlib.loads(text.encode())
    assert found["ProgramArguments"][0] == program
    assert found["EnvironmentVariables"] == {"FABRICD_HOME": value}
    assert author(text) == "ours" and serves(text, {"FABRICD_HOME": value})


@given(program=words, value=words, with_socket=st.booleans())
def test_any_text_stays_one_word_of_the_unit(program: str, value: str, with_socket: bool) -> None:
    text = unit(program, {"FABRICD_HOME": value}, with_socket)
    assert author(text) == "ours"
    assert serves(text, {"FABRICD_HOME": value})
    lines = text.split("\n")
    assert len(lines) == len(unit("", {"X": ""}, with_socket).split("\n"))
    (exec_start,) = [line for line in lines if line.startswith("ExecStart=")]
    word = exec_start.removeprefix('ExecStart="').removesuffix('" run')
    unescaped = word.replace("%%", "\1").replace("\\\\", "\2")
    assert "%" not in unescaped
    assert '"' not in unescaped.replace('\\"', "")


@given(at=st.integers(0, 10_000), char=st.characters(exclude_categories=["Cs"]))
def test_every_edit_is_noticed(at: int, char: str) -> None:
    for text in (unit(PROGRAM, PLACES, True), socket_unit("/s", ""), agent(PROGRAM, PLACES, "/e")):
        at %= len(text)
        edited = text[:at] + char + text[at + 1 :]
        assert author(edited) == ("ours" if edited == text else author(edited))
        assert edited == text or author(edited) in ("edited", "foreign")


def test_texts_of_others_are_foreign() -> None:
    assert author("") == author("[Service]\nExecStart=/bin/true\n") == "foreign"
    template = (files("fabricd") / "systemd" / "fabricd.service").read_text()
    assert author(template) == "foreign"


@pytest.mark.parametrize(
    "make", [lambda p: unit(PROGRAM, p, False), lambda p: agent("/f", p, "/e")]
)
def test_a_service_serves_the_places_it_names_and_no_others(make: object) -> None:
    assert callable(make)
    text = str(make(PLACES))
    assert serves(text, PLACES)
    for others in ({}, {"FABRICD_HOME": "/x"}, {**PLACES, "FABRICD_SOCKET": "/s"}):
        assert not serves(text, others)
    assert serves(str(make({})), {})


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")
def test_systemd_has_nothing_to_complain_about(tmp_path: Path) -> None:
    program = tmp_path / "a b 50% $HOME ü" / "fabricd"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    places = {"FABRICD_HOME": '/tmp/a b "c" \\ 100% $x', "XDG_STATE_HOME": "/tmp/ü"}
    (tmp_path / "fabricd.service").write_text(unit(str(program), places, with_socket=True))
    (tmp_path / "fabricd.socket").write_text(socket_unit("/run/user/0/fabricd/c.sock", ""))
    done = subprocess.run(
        ["systemd-analyze", "--user", "verify", "--man=no", "fabricd.service", "fabricd.socket"],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=50,
    )
    ours = [line for line in done.stderr.splitlines() if "fabricd" in line]
    assert (done.returncode, ours) == (0, []), done.stderr
