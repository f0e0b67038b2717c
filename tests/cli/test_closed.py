"""Every command with one of its standard streams closed, and helps whose reader has gone."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.cli.test_root import COMMANDS
from tests.harness import ROOT

_WITHOUT_TRACEBACK = """
import os, sys
sys.excepthook = lambda *_: os._exit(99)
from fabricd.daemon.cli.root import run
sys.exit(run(sys.argv[1:]))
"""


def arguments(command: str, sessions: Path, surface: Path) -> list[str]:
    match command:
        case "measure" | "lab":
            return [command, "--sessions", str(sessions)]
        case "derive" | "digest":
            return [command, str(surface)]
        case "run":
            return [command, "--log-level", "loud"]
        case "completions":
            return [command, "bash"]
        case "hook":
            return [command, "list"]
        case "config":
            return [command, "show"]
        case "service":
            return [command, "status"]
        case _:
            return [command]


def closed(number: int, words: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", f'exec "$0" -c "$@" {number}>&-', sys.executable, _WITHOUT_TRACEBACK, *words],
        # No daemon shall be started.
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "FABRICD_WATCH_RESCAN_SECONDS": "0"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )


@pytest.mark.parametrize("number", [1, 2])
def test_a_closed_stream_is_no_traceback(number: int, sessions: Path, surface: Path) -> None:
    lines = [[], *(arguments(command, sessions, surface) for command in COMMANDS)]
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda words: closed(number, words), lines))
    for words, done in zip(lines, found, strict=True):
        assert done.returncode in (0, 1, 2, 3, 78), (words, done)
        assert "Traceback" not in done.stderr + done.stdout, words


@pytest.mark.parametrize("words", [["--help"], ["run", "--help"], ["hook", "install", "--help"]])
def test_a_help_whose_reader_has_gone_is_no_error(words: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "fabricd", *words],
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            stdout=writing,
            stderr=subprocess.PIPE,
            timeout=20,
            check=False,
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")
