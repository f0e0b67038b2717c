"""`fabricd surface`: what calls are judged by, kept with the time it was in force."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import Cli
from tests.core.history.tables import lines

SERVER = Path(__file__).parents[2] / "ipc" / "mcp_server.py"
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


@pytest.fixture
def listing(place: Path) -> Path:
    """A tools/list result."""
    path = place / "tools.json"
    path.write_text(json.dumps({"tools": [{"name": "count", "inputSchema": SCHEMA}]}))
    return path


@pytest.fixture
def tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A zone that is ahead of UTC."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        yield
    time.tzset()


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


@pytest.mark.parametrize("mode", ["nan", "infinite", "long"])
def test_what_could_not_be_read_again_is_not_kept(cli: Cli, mode: str) -> None:
    found = cli("surface", "capture", "--agent", "pi", "--", sys.executable, str(SERVER), mode)
    found.complains(1, "the server's answer cannot be used")
    assert cli("surface", "list").code == 0


def test_a_time_limit_that_is_no_number(cli: Cli) -> None:
    found = cli("surface", "capture", "--agent", "pi", "--timeout", "nan", "--", "true")
    found.complains(2, "--timeout")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_what_ends_a_capture_ends_its_server(place: Path, number: signal.Signals) -> None:
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("it is ignored here, and so by what is started here")
    noted = place / "pid"
    words = ["surface", "capture", "--agent", "pi", "--"]
    server = [sys.executable, str(SERVER), "stays", str(noted)]
    with subprocess.Popen([sys.executable, "-m", "fabricd", *words, *server]) as process:
        while not noted.exists() or not noted.read_text():
            time.sleep(0.01)
        process.send_signal(number)
        assert process.wait(10) == 128 + number
    with pytest.raises(ProcessLookupError):
        os.kill(int(noted.read_text()), 0)


def test_more_tools_than_are_read_back_are_refused(
    cli: Cli, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fabricd.daemon.cli.surface.keeping._MAX_TOOLS", 1)
    path = place / "x.json"
    path.write_text(json.dumps([{"name": name, "inputSchema": {}} for name in "ab"]))
    cli("surface", "add", path, "--agent", "pi").complains(2, "more than 1 tools")


def test_a_version_cannot_paint_the_terminal(cli: Cli, listing: Path) -> None:
    found = cli("surface", "add", listing, "--agent", "pi", "--agent-version", "1\x1b[31m")
    assert b"version 1\\x1b[31m are judged" in found.out


def test_a_listing_is_removed_by_its_digest_alone(cli: Cli, listing: Path) -> None:
    key = add(cli, listing)["digest"]
    cli("surface", "remove", key[:7]).complains(2, "too short")
    cli("surface", "remove", "0" * 16).complains(2, "0 listings")
    assert cli("surface", "remove", key[:8], "--json").json == {
        "version": 1, "outcome": "removed", "agent": "claude-code", "digest": key
    }  # fmt: skip
    assert "No schemas" in cli("surface", "list", "--agent", "claude-code").out.decode()
    cli("surface", "remove", key[:8]).complains(2, "0 listings")


def test_what_was_seen_once_judges_nothing_yet(cli: Cli, listing: Path) -> None:
    words = [cli("surface", "add", listing, "--agent", "pi").out.decode() for _ in range(2)]
    assert "It was seen once" in words[0] and "are judged by it" in words[1]


def test_a_listing_without_tools_is_one(cli: Cli, place: Path) -> None:
    path = place / "x.json"
    path.write_text("[]")
    key = cli("surface", "add", path, "--agent", "pi", "--complete", "--json").json["digest"]
    assert cli("surface", "show", key[:8]).out == b"no tools\n"
    cli("surface", "show", key[:8], "read").complains(2, "there is no tool read")


@pytest.mark.usefixtures("tokyo")
def test_a_time_without_end_is_shown(cli: Cli, listing: Path) -> None:
    added = add(cli, listing)
    path = Path(added["path"])
    text = path.read_text()
    path.write_text(text.replace(added["lastSeen"], "9999-12-29T23:59:59.000Z"))
    words = cli("surface", "list", "--agent", "claude-code").out.decode()
    assert "to 9999-12-30  1 tool, added" in words
    assert b"9999-12-30 08:59" in cli("surface", "show", "claude-code").out
    path.write_text(text.replace(added["lastSeen"], "9999-12-31T23:59:59.000Z"))
    assert "expected an RFC 3339 time" in cli("surface", "list").err


def test_the_list_names_the_versions_that_are_known(cli: Cli, listing: Path) -> None:
    add(cli, listing, "--agent-version", "2.1.0")
    rows = {
        row["agent"]: row["versions"] for row in cli("surface", "list", "--json").json["surfaces"]
    }
    assert rows["claude-code"] == ["2.1.0", "2.1.0"] and rows["gemini-cli"] is None
    first, last = rows["codex"]
    assert f" of versions {first} to {last}, shipped" in cli("surface", "list").out.decode()


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
