from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import fabricd
from tests.cli.running import Cli, process
from tests.harness import ROOT

COMMANDS = [
    "run", "status", "report", "measure", "derive", "apply", "compile", "trial", "certify", "lab",
    "export", "export-artifact", "import", "digest", "repairs", "config",
    "completions", "start", "stop", "restart", "logs", "metrics", "doctor", "service", "hook",
    "sources", "surface", "explain", "lint", "wrap", "trajectory", "value",
    "context", "mcp",
]  # fmt: skip


def test_version_is_that_of_the_package(cli: Cli) -> None:
    found = cli("--version")
    assert (found.code, found.out.decode()) == (0, f"fabricd {fabricd.__version__}\n")
    assert fabricd.__version__[0].isdigit()


def test_help_lists_every_command_with_a_line(cli: Cli) -> None:
    found = cli("--help")
    listed = found.out.decode().partition("Run and look:\n")[2].splitlines()
    lines = [line for line in listed if line.startswith("  ")]
    assert found.code == 0
    assert sorted(line.split()[0] for line in lines) == sorted(COMMANDS)
    assert all(len(line.split()) > 3 and line.endswith(".") for line in lines)
    # One line each: a wrapped one would be a command of no name.
    assert all(len(line) <= 80 for line in lines)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(cli: Cli, command: str) -> None:
    for option in ("--help", "-h"):
        found = cli(command, option)
        assert found.code == 0
        assert found.out.startswith(f"Usage: fabricd {command} ".encode())


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_reads_well_at_80_columns(
    cli: Cli, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    helps = [cli(command, "--help").out.decode()]
    inner = helps[0].partition("\nCommands:\n")[2].splitlines()
    helps += [cli(command, line.split()[0], "--help").out.decode() for line in inner]
    for text in helps:
        assert all(len(line) <= 80 for line in text.splitlines())
        # What click cuts, and what it prints where nobody said what a value is.
        for blemish in ("...\n", "TEXT", "RANGE", "  PATH"):
            assert blemish not in text.partition("\nOptions:")[2], text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["no-such"], "no-such"),
        (["--no-such"], "--no-such"),
        (["measure"], "--sessions"),
        (["measure", "--sessions"], "--sessions"),
        (["derive"], "SURFACE"),
        (["measure", "--sessions", ".", "--window", "x"], "--window"),
    ],
)
def test_wrong_usage_exits_2_and_says_what_is_wrong(
    cli: Cli, arguments: list[str], words: str
) -> None:
    cli(*arguments).complains(2, words)


def test_a_window_is_a_positive_number(cli: Cli, sessions: Path) -> None:
    for window in ("0", "-1", "x", "1.5"):
        assert cli("measure", "--sessions", sessions, "--window", window).code == 2


def test_the_package_runs_as_a_module(sessions: Path) -> None:
    found = process("measure", "--sessions", sessions, "--json")
    assert (found.code, found.err) == (0, "")
    assert found.json["metricVersion"] == 3


@pytest.mark.parametrize(
    "arguments", [["status"], ["report", "--json"], ["measure", "--sessions", ".", "--json"]]
)
def test_what_is_called_often_never_pays_for_the_configuration(
    place: Path, arguments: list[str]
) -> None:
    (place / "agent" / "sessions").mkdir(parents=True)
    script = (
        "import sys; from fabricd.daemon.cli.root import run; run(sys.argv[1:]); "
        "sys.exit('pydantic' in sys.modules or 'anyio' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        cwd=place,
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", ["measure --json --sessions", "measure --sessions", "digest"])
def test_a_reader_that_has_gone_is_no_error(sessions: Path, surface: Path, command: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    path = sessions if "sessions" in command else surface
    try:
        done = subprocess.run(
            [sys.executable, "-m", "fabricd", *command.split(), path],
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            stdout=writing,
            stderr=subprocess.PIPE,
            timeout=20,
            check=False,
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_pipe_into_head_leaves_one_byte_and_no_talk(sessions: Path) -> None:
    line = '"$0" -m fabricd measure --sessions "$1" --json | head -c 1'
    done = subprocess.run(
        ["sh", "-c", line, sys.executable, sessions],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        timeout=20,
        check=True,
    )
    assert (done.stdout, done.stderr) == (b"{", b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no full device")
@pytest.mark.parametrize("command", ["measure --json --sessions", "derive", "digest"])
def test_output_that_cannot_be_written_is_one_sentence(
    sessions: Path, surface: Path, command: str
) -> None:
    path = sessions if "sessions" in command else surface
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "fabricd", *command.split(), path],
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=20,
            check=False,
        )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr and "No space left" in done.stderr
    assert done.stderr.count("\n") == 1


def test_closed_standard_output_is_one_sentence(surface: Path) -> None:
    done = subprocess.run(
        ["sh", "-c", 'exec "$0" -m fabricd digest "$1" >&-', sys.executable, surface],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert done.returncode != 0
    assert "Traceback" not in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(("arguments", "title"), [([], "Run and look:"), (["config"], "Commands:")])
def test_without_a_command_the_help_is_shown_as_it_is_meant_to_be_read(
    cli: Cli, arguments: list[str], title: str
) -> None:
    found = cli(*arguments)
    lines = (found.out.decode() + found.err).splitlines()
    assert found.code in (0, 2)
    assert title in lines and "\\n" not in "".join(lines)
