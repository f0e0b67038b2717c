"""Trajectories of the realistic logs beside the project: all valid, equal to a plain count."""

from __future__ import annotations

import os
import shutil
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from fabricd.core.trajectory.sessions.document import Named, pieces
from fabricd.core.trajectory.sessions.joining import run_of
from fabricd.daemon.cli.trajectory.session_reading import read_source
from fabricd.daemon.cli.trajectory.work import validated
from tests.core.trajectory.sessions.written import figures
from tests.harness import ROOT
from tests.oracle.naive_outputs import outputs_of, totals

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


def test_every_log_gives_a_valid_trajectory_of_the_same_bytes(corpus: Path) -> None:
    results: Counter[str] = Counter()
    for path in sorted(path for path in corpus.rglob("*") if path.is_file()):
        found = run_of([read_source(os.fsencode(path))])
        data = b"".join(pieces(found, Named("arm")))
        assert validated(data).violations == [], path
        assert figures(found) == totals(*outputs_of(path)), path
        results[found.agent] += len(found.results)
    assert len(results) == 6 and all(results.values())
