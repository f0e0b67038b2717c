from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest

from tests.cli.running import Cli
from tests.harness import trace_line
from tests.oracle import naive


def newest(sessions: Path, count: int, into: Path) -> Path:
    """A copy of the newest logs alone, at the same places."""
    logs = sorted(sessions.glob("*/*.jsonl"), key=lambda path: path.stat().st_mtime_ns)
    for log in logs[-count:]:
        target = into / log.relative_to(sessions)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(log, target)
    return into


def test_json_equals_the_plain_oracle_without_a_surface(cli: Cli, sessions: Path) -> None:
    found = cli("measure", "--sessions", sessions, "--json")
    assert (found.code, found.err) == (0, "")
    assert found.json == naive.measure(sessions, None)
    assert found.json["totals"]["actionOperations"] > 500


def test_json_equals_the_plain_oracle_on_a_surface(cli: Cli, sessions: Path, surface: Path) -> None:
    found = cli("measure", "--sessions", sessions, "--surface", surface, "--json")
    assert (found.code, found.err) == (0, "")
    assert found.json == naive.measure(sessions, surface)


@pytest.mark.parametrize("count", [1, 5, 500])
def test_a_window_is_the_newest_sessions(cli: Cli, sessions: Path, place: Path, count: int) -> None:
    found = cli("measure", "--sessions", sessions, "--json", "--window", str(count))
    assert found.json == naive.measure(newest(sessions, count, place / "newest"), None)


def test_logs_in_the_directory_itself_count_and_deeper_ones_do_not(
    cli: Cli, sessions: Path, place: Path
) -> None:
    logs = sorted(sessions.glob("*/*.jsonl"))
    for log, name in zip(logs, ("b.jsonl", "p/a.jsonl", "p/q/c.jsonl", "p/d.txt"), strict=False):
        target = place / "logs" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(log, target)
    found = cli("measure", "--sessions", place / "logs", "--json")
    expected = naive.measure(place / "logs", None)
    assert found.json == expected
    (place / "logs" / "p" / "q" / "c.jsonl").unlink()
    assert naive.measure(place / "logs", None) == expected


def test_a_folder_named_like_a_log_is_still_a_folder(cli: Cli, sessions: Path, place: Path) -> None:
    folder = place / "logs" / "project.jsonl"
    folder.mkdir(parents=True)
    shutil.copy(min(sessions.glob("*/*.jsonl")), folder)
    found = cli("measure", "--sessions", place / "logs", "--json")
    assert found.json == naive.measure(place / "logs", None)
    assert found.json["totals"]["traces"] > 0


def test_words_give_counts_beside_the_rate_and_name_what_was_left_out(
    cli: Cli, sessions: Path, surface: Path
) -> None:
    found = cli("measure", "--sessions", sessions, "--surface", surface)
    totals = naive.measure(sessions, surface)["totals"]
    assert isinstance(totals, dict)
    rejected, calls = totals["invocationRejections"], totals["actionOperations"]
    text = found.out.decode()
    assert found.code == 0
    assert f"{rejected} of {calls} calls were refused" in text
    assert f"{100 * rejected / calls:.2f} %" in text
    assert "does not parse" in text and "has a field that version 1 does not know" in text
    assert "no plan for mcp.sql.query" in text and "the object is open" in text


def test_an_empty_directory_has_nothing_to_measure(cli: Cli, place: Path) -> None:
    (place / "logs").mkdir()
    words = cli("measure", "--sessions", place / "logs")
    assert words.code == 0 and "nothing to measure" in words.out.decode()
    found = cli("measure", "--sessions", place / "logs", "--json")
    assert found.json == naive.measure(place / "logs", None)


def test_a_directory_is_measured_the_same_twice_and_left_as_it_was(
    cli: Cli, sessions: Path
) -> None:
    def looks() -> list[tuple[str, int, int]]:
        found = [(path, path.stat()) for path in sorted(sessions.rglob("*"))]
        return [(str(path), stat.st_size, stat.st_mtime_ns) for path, stat in found]

    before = looks()
    first = cli("measure", "--sessions", sessions, "--json")
    assert cli("measure", "--sessions", sessions, "--json") == first
    assert looks() == before


def test_a_dangling_link_is_no_log(cli: Cli, place: Path) -> None:
    (place / "logs").mkdir()
    os.symlink("nowhere", place / "logs" / "a.jsonl")
    (place / "logs" / "b.jsonl").write_bytes(trace_line(random.Random(1), 3) + b"\n")
    found = cli("measure", "--sessions", place / "logs", "--json")
    assert (found.code, found.json["totals"]["operations"]) == (0, 3)
