"""The realistic logs beside the project, where they are: nothing unread, equal to a plain count."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.report.test_history import counted
from tests.harness import ROOT
from tests.oracle.naive_history import count

_ARCHIVE = ROOT.parent / "shared" / "corpora" / "sessions.tar.xz"

pytestmark = [
    pytest.mark.skipif(not _ARCHIVE.is_file(), reason="the realistic logs are not here"),
    pytest.mark.timeout(180),
]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The logs, unpacked."""
    folder = tmp_path_factory.mktemp("corpus")
    with tarfile.open(_ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    yield folder
    shutil.rmtree(folder)


def report(folder: Path, home: Path, *more: str, **variables: str) -> Any:
    """The report over a folder."""
    done = subprocess.run(
        [sys.executable, "-m", "fabricd", "report", "--all", "--json", *more],
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT / "src"), "HOME": str(home),
             "FABRICD_HOME": str(home / "fabricd"), **variables},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


def test_the_report_equals_the_plain_count(corpus: Path, tmp_path: Path) -> None:
    value = report(corpus, tmp_path, "--path", str(corpus))
    paths = sorted(path for path in corpus.rglob("*") if path.is_file())
    assert counted(value) == count(paths)
    assert len(value["agents"]) == 6 and value["skipped"] == []
    assert not any(value["losses"].values())
    replayed = [agent["rejections"]["replayed"] for agent in value["agents"]]
    assert sum(each["calls"] for each in replayed) >= 500
    assert sum(each["rejected"] for each in replayed) == 0


def test_growing_in_pieces_and_in_any_order_gives_the_same(corpus: Path, tmp_path: Path) -> None:
    rng = random.Random(9)
    place = tmp_path / "claude" / "projects"
    place.mkdir(parents=True)
    paths = [path for path in corpus.rglob("*.jsonl")]
    rng.shuffle(paths)
    value: Any = None
    for step in range(2):
        for number, path in enumerate(paths):
            data = path.read_bytes()
            cut = rng.randrange(len(data)) if step == 0 else len(data)
            (place / f"{number}.jsonl").write_bytes(data[:cut])
        value = report(place, tmp_path, CLAUDE_CONFIG_DIR=str(tmp_path / "claude"))
    again = report(place, tmp_path, CLAUDE_CONFIG_DIR=str(tmp_path / "claude"))
    fresh = report(place, tmp_path, "--path", str(place), "--processes", "2")
    assert value["agents"] == again["agents"] == fresh["agents"]
    assert value["losses"] == fresh["losses"]
