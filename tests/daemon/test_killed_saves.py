"""A few kills in the middle of saves; `make soak` does hundreds."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.harness import ROOT


def test_kills_in_the_middle_of_saves_tear_lose_and_double_nothing() -> None:
    # In a process of its own: it forks, and whoever runs the tests may have threads.
    done = subprocess.run(
        [sys.executable, "-m", "tests.kill_saves", "10", "5"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok: 10 kills" in done.stdout
