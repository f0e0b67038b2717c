"""Discovery, reading and measuring a directory give the oracle's report."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import cast

import pytest
from fixtures import make_sessions
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricd.core.entropy.meter import report_text
from fabricd.daemon.offline import measuring as offline
from fabricd.store import surfaces
from fabricd.store.durable import Loaded
from tests.core.making import Json
from tests.core.strategies import common_lines, logs
from tests.oracle import naive

FILES = ["b/2.jsonl", "a/1.jsonl", "top.jsonl", "a.jsonl"]


def ours(directory: Path, surface: Path | None) -> Json:
    found = None if surface is None else surfaces.load(surface)
    loaded = found.value if isinstance(found, Loaded) else None
    return cast(
        Json, json.loads(report_text(offline.report_of(offline.measure(directory), loaded)))
    )


@settings(max_examples=20)
@given(sessions=st.lists(logs(most=4, of=common_lines), min_size=4, max_size=4))
def test_generated_directories(
    tmp_path_factory: pytest.TempPathFactory, sessions: list[bytes]
) -> None:
    directory = tmp_path_factory.getbasetemp() / "generated"
    shutil.rmtree(directory, ignore_errors=True)
    for name, data in zip(FILES, sessions, strict=True):
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_bytes(data)
    assert ours(directory, None) == naive.measure(directory, None)


@pytest.mark.parametrize("seed", [7, 8])
def test_the_bundled_kind_of_sessions(tmp_path: Path, seed: int) -> None:
    agent = make_sessions.write(tmp_path / "agent", seed)
    surface = agent / "fabric" / "entropy" / "surface.json"
    there = naive.measure(agent / "sessions", surface)
    assert ours(agent / "sessions", surface) == there
    assert cast(Json, there["totals"])["invocationRejections"] > 0


@pytest.mark.parametrize("window", [1, 3, 8, 100])
def test_a_window_is_the_newest_files_summed_by_path(tmp_path: Path, window: int) -> None:
    sessions = make_sessions.write(tmp_path / "agent") / "sessions"
    files = sorted(sessions.glob("*/*.jsonl"), key=lambda path: -path.stat().st_mtime_ns)
    for path in files[window:]:
        path.rename(path.with_suffix(".aside"))
    alone = offline.measure(sessions)
    for path in files[window:]:
        path.with_suffix(".aside").rename(path)
    measured = offline.measure(sessions, window)
    assert measured.evidence == alone.evidence
    assert [file.path for file, _ in measured.sessions] == [file.path for file, _ in alone.sessions]
