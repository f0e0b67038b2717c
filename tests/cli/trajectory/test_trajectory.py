"""`fabricd trajectory`: profile, validate, compare, conformance, show, diff and gate."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fabricd.core.identity import canonical_line
from fabricd.core.trajectory.measurement import Measurement
from tests.cli.running import Cli
from tests.core.trajectory.making import (
    asked,
    measured,
    missed,
    packet,
    raw,
    shown,
    trajectory,
    written,
)

LINE = (
    "[Trajectory Profiler] run-1 | 400 B initially visible | 410 B final | 1 escalation fulfilled"
)


def some() -> dict[str, Any]:
    """A sound trajectory."""
    return trajectory(packet("a"), raw("b"), asked("a"), shown("a"))


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    """A file with it."""
    path = tmp_path / "t.json"
    path.write_bytes(written(some()))
    return path


@pytest.fixture
def faulty(tmp_path: Path) -> Path:
    """A file with three faults, one of them twice, and an id that is more than a line."""
    value = trajectory(5, 6, asked("x"))
    value["run"]["run_id"] = "r\n\x1b[31m"
    path = tmp_path / "bad.json"
    path.write_bytes(written(value))
    return path


def test_profile(cli: Cli, sound: Path) -> None:
    found = cli("trajectory", "profile", sound)
    assert (found.code, found.err) == (0, LINE + "\n")
    assert found.json == json.loads(json.dumps(measured(some()).value()))
    assert found.out.count(b"\n") == 1
    assert cli("trajectory", "profile", "-", stdin=written(some())).out == found.out
    pretty = cli("trajectory", "profile", "--pretty", "--quiet", sound)
    assert pretty.json == found.json and pretty.out.count(b"\n") > 100 and pretty.err == ""


def test_validate_explains_each_code_once(cli: Cli, faulty: Path) -> None:
    found = cli("trajectory", "validate", faulty)
    assert found.code == 1
    assert len(found.json["violations"]) == 3
    lines = found.err.splitlines()
    assert lines[0] == (
        "[Trajectory Profiler] r\\n\\x1b[31m | trajectory rejected | 3 violation(s)"
    )
    heads = [line for line in lines[1:] if not line.startswith("  ")]
    assert [head.split(":")[0] for head in heads] == [
        "EVENT_OBJECT_REQUIRED, 2 times, first at /events/0",
        "UNKNOWN_OPERATION_ID, first at /events/2/operation_id",
    ]
    assert all(len(line) <= 96 for line in lines if line.startswith("  "))
    assert cli("trajectory", "validate", "--quiet", faulty).err == ""


def test_compare(cli: Cli, sound: Path, faulty: Path) -> None:
    found = cli("trajectory", "compare", sound, sound)
    assert (found.code, found.json["comparable"]) == (0, True)
    assert cli("trajectory", "compare", "--pretty", sound, sound).json == found.json
    found = cli("trajectory", "compare", sound, faulty)
    assert (found.code, found.json["reason"]) == (1, "invalid-measurement")
    cli("trajectory", "compare", sound).complains(2, "two files")


@pytest.mark.parametrize(
    ("data", "words"),
    [(b"{", "is no trajectory: it is not JSON"), (b"null", "it is null"), (b"\xff", "not JSON")],
)
def test_what_is_no_trajectory(cli: Cli, tmp_path: Path, data: bytes, words: str) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(data)
    for command in ("profile", "validate", "show"):
        cli("trajectory", command, path).complains(2, "x.json", words)
        cli("trajectory", command, "-", stdin=data).complains(2, "standard input", words)


def test_what_cannot_be_read(cli: Cli, tmp_path: Path, sound: Path) -> None:
    cli("trajectory", "profile", tmp_path / "gone").complains(2, "gone does not exist")
    cli("trajectory", "profile", tmp_path).complains(2, "is a directory")
    small = ("trajectory", "profile", "--max-bytes", "100")
    cli(*small, sound).complains(2, "larger than 100 bytes", "--max-bytes")
    cli(*small, "-", stdin=written(some())).complains(2, "larger than 100 bytes", "--max-bytes")
    size = sound.stat().st_size
    assert cli("trajectory", "profile", "--max-bytes", str(size), sound).code == 0


def test_more_than_256_mib_is_refused_unread(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(256 * 1024 * 1024 + 1)
    cli("trajectory", "profile", path).complains(2, "larger than 256 MiB", "--max-bytes")


def test_conformance(cli: Cli, tmp_path: Path) -> None:
    from tests.core.trajectory.test_views import fixture_folder

    manifest, files = fixture_folder(some())
    folder = tmp_path / "cases"
    folder.mkdir()
    (tmp_path / "context-firewall-manifest.json").write_bytes(written(manifest))
    for name, data in files.items():
        (folder / name).write_bytes(data)
    found = cli("trajectory", "conformance", folder)
    assert (found.code, found.json["conformance"]) == (0, "PASS")
    assert found.err == "[Trajectory Profiler] 1 fixtures checked | PASS\n"
    (folder / "one.json").write_bytes(files["one.json"] + b"\n")
    assert cli("trajectory", "conformance", folder).code == 1
    (folder / "one.json").write_bytes(b"{")
    cli("trajectory", "conformance", folder).complains(2, "not JSON")
    cli("trajectory", "conformance", tmp_path / "gone").complains(2, "gone")


def test_show(cli: Cli, sound: Path, faulty: Path) -> None:
    found = cli("trajectory", "show", sound, "--limit", "1")
    assert (found.code, found.err) == (0, LINE + "\n")
    text = found.out.decode()
    assert "run run-1 · task task-1 · arm arm-a" in text
    for words in ("in all", "1,100 B", "690 B never shown (62.7%)", "1 other"):
        assert words in text
    assert "\nb " not in text
    found = cli("trajectory", "show", faulty)
    assert (found.code, found.out) == (1, b"")


def test_what_was_more_than_there_is_and_what_was_missed(cli: Cli) -> None:
    value = trajectory(packet("a", 10, 300), asked("a"), missed("a"))
    text = cli("trajectory", "show", "-", stdin=written(value)).out.decode()
    assert "290 B more than there were (-2900.0%); 1 escalation unavailable" in text
    empty = cli("trajectory", "show", "-", stdin=written(trajectory()))
    assert empty.code == 0 and b"0 B never shown" in empty.out


def test_a_page_quotes_what_it_shows(cli: Cli, tmp_path: Path) -> None:
    value = trajectory(raw("<script>&"), raw("b"))
    page = tmp_path / "p.html"
    arguments = ("trajectory", "show", "-", "--html", page)
    found = cli(*arguments, stdin=written(value))
    assert (found.code, found.out) == (0, b"")
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "&lt;script&gt;&amp;" in text and "<script" not in text
    assert "http" not in text
    assert cli(*arguments, stdin=written(value)).code == 0
    direct = cli("trajectory", "show", "-", "--html", "-", stdin=written(value))
    assert direct.out.decode() == text
    page.write_text("mine")
    cli(*arguments, stdin=written(value)).complains(2, "is no page")
    assert page.read_text() == "mine"


def test_diff(cli: Cli, sound: Path, faulty: Path, tmp_path: Path) -> None:
    other = tmp_path / "o.json"
    other.write_bytes(written(trajectory(packet("a", visible=250), raw("c"))))
    found = cli("trajectory", "diff", sound, other)
    assert found.code == 0
    rows = [line.split() for line in found.out.decode().splitlines()]
    assert ["final", "model", "visible", "bytes", "410", "350", "-60"] in rows
    assert ["a", "310", "250", "-60"] in rows and ["c", "-", "100", "-"] in rows
    told = cli("trajectory", "diff", "--json", sound, other).json
    assert told["totals"]["final_model_visible_bytes"]["delta"] == -60
    found = cli("trajectory", "diff", sound, faulty)
    assert (found.code, found.out) == (1, b"")
    assert "not comparable: invalid-measurement" in found.err


def test_gate(cli: Cli, sound: Path, faulty: Path) -> None:
    passed = cli("trajectory", "gate", "--min-effective-reduction", "62%", sound)
    assert (passed.code, passed.json["pass"]) == (0, True)
    assert passed.err == f"pass {sound}: every limit is kept\n"
    arguments = ("trajectory", "gate", "--min-effective-reduction", "63", "--no-unavailable")
    found = cli(*arguments, sound, faulty)
    assert found.code == 1
    assert [row["pass"] for row in found.json["files"]] == [False, False]
    assert "62.7273 %, less than 63 %" in found.err and "no figures (3 violations)" in found.err
    assert cli("trajectory", "gate", "--max-final-bytes", "409", sound).code == 1
    cli("trajectory", "gate").complains(2, "At least one file")
    for bad in ("much", "nan", "inf%"):
        arguments = ("trajectory", "gate", "--min-effective-reduction", bad)
        cli(*arguments, sound).complains(2, "percentage")


def deep_event(name: str) -> dict[str, Any]:
    """A raw event of which a member that is passed through nests deep."""
    deep: Any = 1
    for _ in range(1000):
        deep = {"a": deep}
    event = raw("a")
    return {**event, name: {**event[name], "locator_present": deep} if name in event else deep}


@pytest.mark.parametrize("name", ["source", "validation", "raw_evidence"])
def test_what_is_passed_through_may_nest_deep(cli: Cli, tmp_path: Path, name: str) -> None:
    path = tmp_path / "deep.json"
    path.write_bytes(canonical_line(trajectory(deep_event(name))))
    for command in (("profile",), ("profile", "--pretty"), ("compare", path)):
        found = cli("trajectory", *command, path)
        assert found.code == 0
        assert found.out.endswith(b"}\n") and found.out.count(b"\n") == 1
        assert found.out.count(b"{") == found.out.count(b"}") > 1000
    assert cli("trajectory", "show", path).code == 0
    assert cli("trajectory", "diff", path, path).code == 0


def test_a_result_that_cannot_be_written_is_one_sentence(
    cli: Cli, sound: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pieces(measurement: Measurement) -> Iterator[bytes]:
        raise RecursionError("too deep")
        yield b""

    monkeypatch.setattr(Measurement, "pieces", pieces)
    for words in (("profile", sound), ("compare", sound, sound)):
        found = cli("trajectory", *words)
        assert (found.code, found.err.count("\n")) == (2, 1)
        found.says("a result cannot be written: too deep")


def test_flags_of_the_other_command_line_are_taken(cli: Cli, sound: Path) -> None:
    for words in (("profile", sound), ("validate", sound), ("compare", sound, sound)):
        found = cli("trajectory", *words, "--summary", "--cumulative")
        assert (found.code, found.out) == (0, cli("trajectory", *words).out)
