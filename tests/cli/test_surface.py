"""`fabricd surface`: what calls are judged by, kept with the time it was in force."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import Cli
from tests.core.history.tables import lines

SERVER = Path(__file__).parents[1] / "ipc" / "mcp_server.py"
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


@pytest.fixture
def listing(place: Path) -> Path:
    """A tools/list result."""
    path = place / "tools.json"
    path.write_text(json.dumps({"tools": [{"name": "count", "inputSchema": SCHEMA}]}))
    return path


def add(cli: Cli, listing: Path, *more: str) -> Any:
    """Add it for Claude Code."""
    found = cli("surface", "add", listing, "--agent", "claude-code", "--json", *more)
    assert found.code == 0, found.err
    return found.json


def call(call_id: str, tool: str, given: object, failed: bool, time: str) -> bytes:
    """A call and its result."""
    item = {"type": "tool_use", "id": call_id, "name": tool, "input": given}
    result = {"type": "tool_result", "tool_use_id": call_id, "is_error": failed}
    told = {"sessionId": "s", "uuid": call_id, "timestamp": time, "version": "2.1.0"}
    return lines(
        {"type": "assistant", **told, "message": {"content": [item]}},
        {"type": "user", **told, "message": {"content": [result]}},
    )


def replayed(cli: Cli, place: Path) -> Any:
    """The replayed rejections of a log with calls now and long ago."""
    folder = place / "logs"
    folder.mkdir(exist_ok=True)
    (folder / "a.jsonl").write_bytes(
        call("1", "mcp__x__count", {"n": "5"}, True, "2026-11-15T00:00:00Z")
        + call("2", "mcp__x__count", {"n": 5}, True, "2026-11-15T00:00:00Z")
        + call("3", "mcp__x__other", {}, True, "2026-11-15T00:00:00Z")
        + call("4", "mcp__x__count", {"n": "5"}, True, "2025-01-01T00:00:00Z")
    )
    return cli("report", "--all", "--json", "--path", folder).json["agents"][0]


def test_what_is_added_judges_the_calls_of_its_time(cli: Cli, place: Path, listing: Path) -> None:
    assert replayed(cli, place)["rejections"]["replayed"] == {"rejected": 0, "calls": 0}
    add(cli, listing, "--prefix", "mcp__x__", "--since", "2026-11-01")
    found = replayed(cli, place)
    assert found["rejections"]["replayed"] == {"rejected": 1, "calls": 2}
    assert found["noSchema"] == 2
    add(cli, listing, "--prefix", "mcp__x__", "--since", "2026-11-01", "--complete")
    found = replayed(cli, place)
    assert found["rejections"]["replayed"] == {"rejected": 2, "calls": 3}
    assert found["malformations"]["unknown-tool"] == {"calls": 1, "repairable": 0}


def test_added_again_it_holds_for_the_time_between(cli: Cli, listing: Path) -> None:
    first = add(cli, listing, "--since", "2026-11-10")
    again = add(cli, listing, "--since", "2026-11-01")
    assert (first["outcome"], again["outcome"]) == ("written", "widened")
    assert again["digest"] == first["digest"] and again["firstSeen"] < first["firstSeen"]
    words = cli("surface", "add", listing, "--agent", "claude-code").out.decode()
    assert "kept before" in words and "are judged by it" in words


def test_with_a_version_it_says_whose_calls_it_judges(cli: Cli, listing: Path) -> None:
    found = cli("surface", "add", listing, "--agent", "codex", "--agent-version", "0.150.0")
    assert b"Calls of version 0.150.0 are judged by it" in found.out


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{}", "expected a Fabric surface"),
        ("[", "is no listing"),
        ('{"tools": []}', "no tools"),
        ('{"tools": [{"name": 5}]}', "tools[0]"),
    ],
)
def test_what_is_no_listing_is_said(cli: Cli, place: Path, content: str, words: str) -> None:
    path = place / "x.json"
    path.write_text(content)
    found = cli("surface", "add", path, "--agent", "pi")
    assert found.code == 2 and words in found.err and "Traceback" not in found.err


def test_the_future_and_the_distant_past_are_refused(cli: Cli, listing: Path) -> None:
    for when in ("2099-01-01", "1960-01-01"):
        found = cli("surface", "add", listing, "--agent", "pi", "--since", when)
        assert found.code == 2 and "future" in found.err


def test_a_schema_that_cannot_be_judged_is_counted(cli: Cli, place: Path) -> None:
    path = place / "x.json"
    path.write_text(json.dumps([{"name": "a", "inputSchema": {"type": "no-such"}}]))
    assert add(cli, path)["notJudged"] == 1


def test_capture_keeps_what_a_server_lists(cli: Cli, place: Path) -> None:
    command = ["--", sys.executable, str(SERVER), "pages"]
    found = cli(
        "surface", "capture", "--agent", "claude-code", "--prefix", "mcp__t__", "--json", *command
    )
    assert found.code == 0, found.err
    assert (found.json["tools"], found.json["covers"]) == (6, "mcp__t__")
    shown = cli("surface", "show", found.json["digest"][:8], "mcp__t__tool_3", "--json")
    assert shown.json["tools"][0]["inputSchema"] == SCHEMA


@pytest.mark.parametrize(
    ("mode", "code", "words"),
    [("dies", 1, "no licence key"), ("refuses", 1, "not today"), ("unnamed", 1, "cannot be used")],
)
def test_a_capture_that_fails_says_why(cli: Cli, mode: str, code: int, words: str) -> None:
    found = cli("surface", "capture", "--agent", "pi", "--", sys.executable, str(SERVER), mode)
    assert found.code == code and words in found.err and "\x1b" not in found.err


def test_a_command_that_is_not_there(cli: Cli) -> None:
    found = cli("surface", "capture", "--agent", "pi", "--", "/nonexistent/server")
    assert found.code == 2 and "cannot be started" in found.err


def test_the_list_has_what_ships_and_what_was_added(cli: Cli, place: Path, listing: Path) -> None:
    add(cli, listing)
    value = cli("surface", "list", "--json").json
    origins = [(row["agent"], row["origin"]) for row in value["surfaces"]]
    assert ("codex", "shipped") in origins and ("claude-code", "added") in origins
    words = cli("surface", "list", "--agent", "claude-code").out.decode()
    assert "1 tool, added" in words and "shipped" not in words
    assert b"read" in cli("surface", "show", "pi").out
    nothing = cli("surface", "show", "ffffffff")
    assert nothing.code == 2 and "no listing" in nothing.err


def test_a_damaged_file_is_named_and_never_overwritten(
    cli: Cli, place: Path, listing: Path
) -> None:
    path = Path(add(cli, listing)["path"])
    path.write_text("{}")
    found = cli("surface", "list")
    assert found.code == 1 and str(path) in found.err and "move it away" in found.err
    again = cli("surface", "add", listing, "--agent", "claude-code")
    assert again.code == 1 and path.read_text() == "{}"
    report = cli("report", "--all", "--json")
    assert report.code == 0 and "damaged and left out" in report.err
