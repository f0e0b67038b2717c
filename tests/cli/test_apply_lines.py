"""Lines that are no calls: an error in their place, and the others are applied."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import SCHEMA, Cli

DEEP = b'{"a":' * 600 + b"1" + b"}" * 600
HEAD = b'{"ref":"a","schema":' + json.dumps(SCHEMA).encode()
GOOD = HEAD + b',"args":{"Query":"a"}}\n'


def with_args(args: bytes) -> bytes:
    return HEAD + b',"args":' + args + b"}\n"


BAD = {
    "no JSON": (b"hello\n", "not JSON"),
    "cut": (GOOD[:-3] + b"\n", "not JSON"),
    "two objects": (GOOD[:-1] + GOOD, "not JSON"),
    "not UTF-8": (with_args(b'{"query":"\xff"}'), "not UTF-8"),
    "a list": (b"[]\n", "object"),
    "a text": (b'"x"\n', "object"),
    "null": (b"null\n", "object"),
    "no ref": (b'{"schema":{},"args":{}}\n', "ref"),
    "ref is no text": (b'{"ref":5,"schema":{},"args":{}}\n', "ref"),
    "no schema": (b'{"ref":"a","args":{}}\n', "expected schema"),
    "no args": (HEAD + b"}\n", "args"),
    "args are a list": (with_args(b"[]"), "args"),
    "args are a text": (with_args(b'"{}"'), "args"),
    "unknown member": (HEAD + b',"args":{},"argz":1}\n', "argz"),
    "NaN": (with_args(b'{"maxResults":NaN}'), "NaN"),
    "-Infinity": (with_args(b'{"maxResults":-Infinity}'), "Infinity"),
    "1e400": (with_args(b'{"maxResults":1e400}'), "1e400"),
    "10^400": (with_args(b'{"maxResults":1' + b"0" * 400 + b"}"), "401 digits"),
    "10^5000": (with_args(b'{"maxResults":1' + b"0" * 5000 + b"}"), "5001 digits"),
    "10^310": (with_args(b'{"maxResults":1' + b"0" * 310 + b"}"), "double"),
    "10,000 levels": (with_args(b'{"x":' + b"[" * 10_000 + b"]" * 10_000 + b"}"), "512"),
    "10,000 open levels": (b'{"a":' * 10_000 + b"\n", "512"),
    "deep schema": (b'{"ref":"a","args":{},"schema":' + DEEP + b"}\n", "512"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_line_is_an_error_in_its_place_and_exit_1(cli: Cli, name: str) -> None:
    bad, word = BAD[name]
    found = cli("apply", stdin=GOOD + bad + GOOD)
    assert (found.code, found.err) == (1, "")
    first, error, last = found.lines
    assert list(error) == ["error"]
    assert error["error"].startswith("line 2: ") and word in error["error"]
    assert error["error"].isprintable() and len(error["error"]) <= 600
    assert first == last and first["args"] == {"query": "a"}


def test_lines_are_counted_as_an_editor_counts_them(cli: Cli) -> None:
    found = cli("apply", stdin=b"\n" + GOOD + b"\n\nbad\n")
    assert found.lines[1]["error"].startswith("line 5: ")


def test_control_characters_of_a_bad_line_do_not_reach_the_terminal(cli: Cli) -> None:
    found = cli("apply", stdin=HEAD + b',"args":{},"\\u001b[31m\\ud800":1}\n')
    assert b"\x1b" not in found.out and found.code == 1
    assert "[31m" in found.lines[0]["error"]


def test_a_line_beyond_the_cap_says_so_and_the_next_is_applied(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fabricd.daemon.cli.apply._MAX_LINE", len(GOOD))
    long = with_args(b'{"query":"' + b"x" * 3 * len(GOOD) + b'"}')
    found = cli("apply", stdin=GOOD + long + GOOD)
    first, error, last = found.lines
    assert found.code == 1 and first == last and "witness" in first
    assert "line 2" in error["error"] and "32 MiB" in error["error"]


def test_levels_of_a_schema_beyond_64_cannot_harm(cli: Cli) -> None:
    inner = b'{"items":' * 400 + b"{}" + b"}" * 400
    schema = b'{"type":"object","additionalProperties":false,"properties":{"a":' + inner + b"}}"
    found = cli("apply", stdin=b'{"ref":"a","schema":' + schema + b',"args":{"A":[]}}\n' + GOOD)
    assert found.code in (0, 1) and found.err == ""
    assert [list(line) for line in found.lines][1] == ["args", "witness"]
    assert "query" in found.lines[1]["args"]


@pytest.mark.parametrize("name", ["missing.jsonl", ".", "file/below"])
def test_a_file_that_cannot_be_read_is_one_sentence(cli: Cli, place: Path, name: str) -> None:
    (place / "file").write_text("{}")
    cli("apply", place / name).complains(2, str(place))
