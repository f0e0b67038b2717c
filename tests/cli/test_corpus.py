"""`measure --json` on a synthetic corpus equals a plain script that shares no code with it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.corpus import surface, write

from fabricd.daemon.cli.root import run
from tests.oracle import naive

GENERATOR = Path(__file__).resolve().parents[3] / "shared" / "tools" / "gen_corpus.py"


def _agree(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    declared = folder / "surface.json"
    assert run(["measure", "--sessions", str(folder), "--surface", str(declared), "--json"]) == 0
    ours = json.loads(capfd.readouterr().out)
    theirs = naive.measure(folder, declared)
    assert ours == theirs
    assert ours["totals"]["operations"] > 500


def test_on_our_own_corpus(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, 3, 400, 0.15, 200)
    (tmp_path / "surface.json").write_text(json.dumps(surface()))
    _agree(tmp_path, capfd)


@pytest.mark.skipif(not GENERATOR.is_file(), reason="its generator is not at hand")
def test_on_the_common_corpus(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    command = [sys.executable, str(GENERATOR), str(tmp_path), "2", "600", "0.15", "200"]
    subprocess.run(command, check=True)
    _agree(tmp_path, capfd)
