"""Session logs that are none, or are hostile: counted or named, never crashed over."""

from __future__ import annotations

import json
import os
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import Cli, Outcome, process
from tests.harness import trace_line
from tests.oracle import naive

GOOD = trace_line(random.Random(1), 3)


@pytest.fixture
def logs(place: Path) -> Path:
    """An empty directory for session logs."""
    folder = place / "agent" / "sessions"
    folder.mkdir(parents=True)
    return folder


def measured(cli: Cli, logs: Path) -> dict[str, Any]:
    found = cli("measure", "--sessions", logs, "--json")
    assert (found.code, found.err) == (0, "")
    assert found.json == naive.measure(logs, None)
    value: dict[str, Any] = found.json
    return value


def skipped(cli: Cli, logs: Path, data: bytes) -> dict[str, int]:
    """What a report says of a log with one good line before and one after these bytes."""
    project = logs / "p"
    project.mkdir(exist_ok=True)
    (project / "a.jsonl").write_bytes(GOOD + b"\n" + data + b"\n" + GOOD + b"\n")
    found = cli("report", "--json")
    assert found.code == 0 and found.json["metric3"]["totals"]["traces"] >= 2
    reasons: dict[str, int] = found.json["metric3"]["skipped"]
    return reasons


def unusable(place: Path) -> dict[str, Path]:
    (place / "file").write_bytes(GOOD)
    os.mkfifo(place / "fifo")
    os.symlink(place / "loop", place / "loop")
    return {
        "missing": place / "missing",
        "a file": place / "file",
        "below a file": place / "file" / "below",
        "a fifo": place / "fifo",
        "a loop": place / "loop",
        "an odd name": place / "\udcff\n\x1b[31m",
        "too long a name": place / ("x" * 300),
    }


@pytest.mark.parametrize(
    "name",
    ["missing", "a file", "below a file", "a fifo", "a loop", "an odd name", "too long a name"],
)
def test_a_directory_that_cannot_be_read_is_one_sentence(
    cli: Cli, place: Path, surface: Path, name: str
) -> None:
    path = unusable(place)[name]
    cli("measure", "--sessions", path, "--json").complains(2, "cannot be read")
    cli("compile", "--sessions", path, "--surface", surface).complains(2, "cannot be read")


@pytest.mark.skipif(os.getuid() == 0, reason="root reads everything")
def test_a_directory_without_permission_is_one_sentence(cli: Cli, logs: Path) -> None:
    logs.chmod(0)
    try:
        cli("measure", "--sessions", logs).complains(2, str(logs))
    finally:
        logs.chmod(0o700)


@pytest.mark.skipif(os.getuid() == 0, reason="root reads everything")
def test_one_unreadable_log_is_named_and_the_others_are_measured(cli: Cli, logs: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        (logs / name).write_bytes(GOOD + b"\n")
    (logs / "a.jsonl").chmod(0)
    found = cli("measure", "--sessions", logs, "--json")
    assert (found.code, found.json["totals"]["traces"]) == (0, 1)
    found.says("skipped", "a.jsonl", "Permission denied")


@pytest.mark.skipif(sys.platform == "darwin", reason="the system knows no such names")
def test_a_file_name_that_is_not_utf8_is_counted(cli: Cli, logs: Path) -> None:
    for folder in (os.fsencode(logs), os.fsencode(logs) + b"/\xfe"):
        os.makedirs(folder, exist_ok=True)
        with open(folder + b"/\xff.jsonl", "wb") as file:
            file.write(GOOD + b"\n")
    assert measured(cli, logs)["totals"]["traces"] == 2
    words = cli("measure", "--sessions", logs)
    assert words.code == 0 and b"2 traces" in words.out
    files = [session["file"] for session in cli("report", "--json").json["metric3"]["sessions"]]
    assert any(file.endswith("\\xfe/\\xff.jsonl") for file in files)


def test_an_empty_file_counts_nothing(cli: Cli, logs: Path) -> None:
    (logs / "a.jsonl").write_bytes(b"")
    (logs / "b.jsonl").write_bytes(b"\n\n \n")
    assert measured(cli, logs)["totals"]["operations"] == 0


def test_a_line_of_40_mb_is_counted_as_overlong_and_its_neighbours_are_measured(
    cli: Cli, logs: Path
) -> None:
    long = GOOD[:-1] + b',"image":"' + b"x" * 40_000_000 + b'"}'
    assert skipped(cli, logs, long) == {"overlong-line": 1}
    words = cli("report").out.decode()
    assert "longer than 32 MiB" in words and "2 traces" in words


@pytest.mark.parametrize(
    "data",
    [
        GOOD[:-10],
        GOOD[: len(GOOD) // 2],
        GOOD.replace(b'"ref"', b"ref", 1),
        GOOD.replace(b'"sequence": 0', b'"sequence": NaN', 1),
        GOOD + b"]",
    ],
)
def test_a_trace_line_that_does_not_parse_is_a_counted_loss(
    cli: Cli, logs: Path, data: bytes
) -> None:
    assert skipped(cli, logs, data) == {"bad-line": 1}


def test_a_record_of_10000_levels_is_refused_by_name(cli: Cli, logs: Path) -> None:
    deep = GOOD[:-1] + b',"deep":' + b"[" * 10_000 + b"]" * 10_000 + b"}"
    assert skipped(cli, logs, deep) == {"too-deep": 1}


def test_a_trace_of_another_version_is_refused_by_name(cli: Cli, logs: Path) -> None:
    data = GOOD.replace(b'"version": 1', b'"version": 3', 1)
    assert data != GOOD and skipped(cli, logs, data) == {"version": 1}


@pytest.mark.parametrize("data", [b"hello", b"{", b"\xff\xfe\x00", b"[" * 100_000, b"null", b"\0"])
def test_other_lines_that_are_no_records_are_not_even_talked_about(
    cli: Cli, logs: Path, data: bytes
) -> None:
    assert skipped(cli, logs, data) == {}
    found = cli("measure", "--sessions", logs / "p", "--json")
    assert (found.err, found.json["totals"]["traces"]) == ("", 2)


def test_lone_surrogates_in_refs_come_back_as_escapes(cli: Cli, logs: Path) -> None:
    project = logs / "p"
    project.mkdir()
    odd = GOOD.replace(b"mcp.demo.", b"mcp.\\udead.").replace(b"pi.read", b"pi.\\udead")
    (project / "a.jsonl").write_bytes(odd + b"\n")
    refs = [row["ref"] for row in measured(cli, logs)["refs"]]
    assert refs and all("\udead" in ref for ref in refs)
    for found in (cli("measure", "--sessions", logs, "--json"), cli("report", "--json")):
        value = found.json.get("metric3", found.json)
        assert b"\\udead" in found.out and [row["ref"] for row in value["refs"]] == refs


def test_control_characters_of_logs_do_not_reach_the_terminal(cli: Cli, logs: Path) -> None:
    project = logs / "p"
    project.mkdir()
    operation = b'"failureStage": "validate", "outcome": "failed"'
    odd = GOOD.replace(b"mcp.demo.", b"\\u001b]0;\\u0007\\n").replace(
        b'"outcome": "succeeded"}', operation + b"}"
    )
    model = {"role": "assistant", "provider": "p", "model": "\x1b[31m\u202e"}
    head = json.dumps({"type": "message", "message": model}).encode()
    (project / "a.jsonl").write_bytes(head + b"\n" + odd + b"\n")
    found = cli("report")
    assert found.code == 0 and b"Worst actions" in found.out and b"Models" in found.out
    text = found.out.decode()
    assert all(char.isprintable() or char == "\n" for char in text)


def test_of_duplicate_keys_the_last_counts(cli: Cli, logs: Path) -> None:
    twice = GOOD.replace(b'"ref": "', b'"ref": "never.seen", "ref": "')
    (logs / "a.jsonl").write_bytes(twice + b"\n")
    found = measured(cli, logs)
    assert found["totals"]["operations"] == 3
    assert "never.seen" not in [row["ref"] for row in found["refs"]]


def test_a_byte_order_mark_and_crlf_are_no_obstacle(cli: Cli, logs: Path) -> None:
    (logs / "a.jsonl").write_bytes(b"\xef\xbb\xbf" + GOOD + b"\r\n")
    assert measured(cli, logs)["totals"]["traces"] == 1


def test_an_unfinished_last_line_counts_only_once_it_is_whole(cli: Cli, logs: Path) -> None:
    (logs / "a.jsonl").write_bytes(GOOD + b"\n" + GOOD[:-1])
    assert measured(cli, logs)["totals"]["traces"] == 1
    (logs / "a.jsonl").write_bytes(GOOD + b"\n" + GOOD)
    assert measured(cli, logs)["totals"]["traces"] == 2


def test_a_fifo_or_folder_among_the_logs_holds_nobody_up(place: Path, logs: Path) -> None:
    (logs / "a.jsonl").write_bytes(GOOD + b"\n")
    os.mkfifo(logs / "b.jsonl")
    os.mkfifo(logs / "c")
    (logs / "d.jsonl").mkdir()
    found = process("measure", "--sessions", logs, "--json", seconds=10)
    assert (found.code, found.json["totals"]["traces"]) == (0, 1)
    assert_nothing_new(place, found)


def assert_nothing_new(place: Path, found: Outcome) -> None:
    assert "Traceback" not in found.err
    assert {path.name for path in place.iterdir()} == {"agent"}
