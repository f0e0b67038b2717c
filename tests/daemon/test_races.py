"""Many daemons at once on one home: exactly one lives, and every other says why it does not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.daemon.starting import at_once, background


@pytest.mark.parametrize("count", [2, 20])
def test_simultaneous_runs_leave_exactly_one(tmp_path: Path, count: int) -> None:
    with background(tmp_path) as subject:
        runs = at_once(subject, count, "run")
        subject.log.touch()
        try:
            subject.until(lambda: subject.status()["state"] == "ready", 40.0)
            pid = subject.status()["pid"]
            inode = os.stat(subject.socket).st_ino
            (winner,) = [run for run in runs if run.pid == pid]
            for loser in runs:
                if loser is winner:
                    continue
                out, said = loser.communicate(timeout=40)
                # 4 only where the winner took longer than 2 s to answer.
                assert loser.returncode in (0, 4), said
                assert (out, said.count("\n")) == ("", 1), said
            assert winner.poll() is None
            assert os.stat(subject.socket).st_ino == inode
            assert subject.status()["pid"] == pid
            assert subject.run("stop").returncode == 0
            assert winner.wait(15) == 0
            winner.communicate()
        finally:
            for run in runs:
                run.kill()
