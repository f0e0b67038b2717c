"""`fabricd lint`: findings as text, JSON and SARIF, and the exit code."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import fabricd
from tests.cli.running import Cli, surface_of
from tests.cli.surface.test_surface import SERVER

GOOD = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "additionalProperties": False,
    "properties": {"a": {"type": "string"}},
}
NOTED = {**GOOD, "additionalProperties": True, "required": ["a"]}
BAD = {**GOOD, "properties": {"order": {"type": "string", "enum": ["fit", "FIT"]}}}
# What a reader of the format relies on, in our own words; the published shape allows more.
_TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}
SARIF = {
    "type": "object",
    "required": ["version", "runs"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "additionalProperties": False,
                "properties": {
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "tool": {
                        "type": "object",
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "type": "object",
                                "required": ["name", "rules"],
                                "properties": {
                                    "rules": {
                                        "type": "array",
                                        "uniqueItems": True,
                                        "items": {
                                            "required": ["id"],
                                            "properties": {
                                                "shortDescription": _TEXT,
                                                "fullDescription": _TEXT,
                                                "help": _TEXT,
                                            },
                                        },
                                    }
                                },
                            }
                        },
                    },
                    "results": {
                        "type": "array",
                        "items": {
                            "required": ["message", "ruleId", "level", "locations"],
                            "properties": {
                                "message": _TEXT,
                                "level": {"enum": ["none", "note", "warning", "error"]},
                                "ruleIndex": {"type": "integer", "minimum": 0},
                            },
                        },
                    },
                },
            },
        },
    },
}


def listing(place: Path, name: str = "tools.json", **tools: object) -> Path:
    """A tools/list result."""
    path = place / name
    rows = [{"name": tool, "inputSchema": schema} for tool, schema in tools.items()]
    path.write_text(json.dumps({"tools": rows}))
    return path


@pytest.mark.parametrize(("schema", "code"), [(GOOD, 0), (NOTED, 0), (BAD, 1)])
def test_notes_alone_are_no_failure(cli: Cli, place: Path, schema: Any, code: int) -> None:
    path = listing(place, search=schema)
    for form in ((), ("--json",), ("--sarif",)):
        found = cli("lint", path, *form)
        assert (found.code, found.err) == (code, "")


def test_the_text_says_where_why_and_what_to_do(cli: Cli, place: Path) -> None:
    path = listing(place, search=BAD, other=NOTED)
    words = cli("lint", path).out.decode()
    assert "warning  colliding-members  search /properties/order/enum/1" in words
    assert "note     open-object  other" in words
    assert words.count("Fix: ") == 2 and words.endswith("2 tools: 1 warning, 1 note.\n")
    assert cli("lint", listing(place, a=GOOD)).out == b"1 tool: nothing found.\n"


def test_the_json_has_every_member(cli: Cli, place: Path) -> None:
    first, second = listing(place, "1.json", a=BAD), listing(place, "2.json", b=None, c=GOOD)
    second.write_bytes(surface_of({"ref": "b"}, {"ref": "c", "inputSchema": GOOD}))
    found = cli("lint", first, second, "--json").json
    assert found["version"] == 1
    assert found["sources"] == [
        {"source": str(first), "tools": 1},
        {"source": str(second), "tools": 2},
    ]
    assert found["counts"] == {"errors": 0, "warnings": 1, "notes": 1}
    assert [(each["source"], each["tool"], each["rule"]) for each in found["findings"]] == [
        (str(first), "a", "colliding-members"),
        (str(second), "b", "no-schema"),
    ]
    members = {"source", "tool", "pointer", "rule", "severity", "message", "why", "fix"}
    assert all(set(each) == members for each in found["findings"])


def test_sarif_names_the_file_and_the_place(
    cli: Cli, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    listing(place, "my tools:1.json", search=BAD)
    value = cli("lint", "--sarif", "my tools:1.json").json
    jsonschema.validate(value, SARIF)
    [run] = value["runs"]
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("fabricd", fabricd.__version__)
    [result] = run["results"]
    assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "colliding-members"
    assert result["level"] == "warning" and "Fix: " in result["message"]["text"]
    [location] = result["locations"]
    assert location["physicalLocation"]["artifactLocation"] == {"uri": "my%20tools%3A1.json"}
    [logical] = location["logicalLocations"]
    assert logical["fullyQualifiedName"] == "search#/properties/order/enum/1"
    absolute = cli("lint", "--sarif", listing(place, a=BAD)).json["runs"][0]["results"][0]
    uri = absolute["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == (place / "tools.json").as_uri()
    assert absolute["partialFingerprints"] != result["partialFingerprints"]


@pytest.mark.parametrize(
    ("lead", "name", "member", "tail"),
    [
        ("[", "name", "input_schema", "]"),
        ('{"tools": [', "name", "inputSchema", "]}"),
        ('{"id": 1, "result": {"tools": [', "name", "inputSchema", "]}}"),
        ('{"version": 1, "actions": [', "ref", "inputSchema", "]}"),
        ('[{"type": "function", "function":', "name", "parameters", "}]"),
    ],
)
def test_sarif_names_the_line(
    cli: Cli, place: Path, lead: str, name: str, member: str, tail: str
) -> None:
    schema = json.dumps(BAD).replace('"enum": ["fit", ', '\n"enum": [\n"fit",\n')
    path = place / "x.json"
    path.write_text(f'{lead}\n{{"{name}": "a",\n"{member}": {schema}}}{tail}')
    [result] = cli("lint", "--sarif", path).json["runs"][0]["results"]
    physical = result["locations"][0]["physicalLocation"]
    assert physical["region"] == {"startLine": 6}


def test_standard_input_is_no_file(cli: Cli) -> None:
    data = json.dumps([{"name": "a", "parameters": BAD}]).encode()
    found = cli("lint", "-", "--sarif", stdin=data)
    [location] = found.json["runs"][0]["results"][0]["locations"]
    assert found.code == 1 and list(location) == ["logicalLocations"]


def test_a_server_is_asked_itself(cli: Cli) -> None:
    found = cli("lint", "--json", "--", sys.executable, SERVER, "pages")
    assert found.code == 0, found.err
    assert found.json["sources"] == [{"source": f"{sys.executable} {SERVER} pages", "tools": 6}]
    assert {each["rule"] for each in found.json["findings"]} == {"open-object", "dialect-absent"}


def test_what_cannot_be_read_is_2(cli: Cli, place: Path) -> None:
    good = listing(place, a=GOOD)
    (place / "x.json").write_text("{}")
    for words in (
        (place / "none.json",), (place / "x.json",), (good, place / "x.json"), (place,), (),
        ("--",), (good, "--", "x"), (good, "--json", "--sarif"), ("--", str(place / "no-server")),
        ("--timeout", "nan", "--", sys.executable),
    ):  # fmt: skip
        found = cli("lint", *words)
        assert found.code == 2 and found.out == b"", words
        assert "Traceback" not in found.err and found.err
    odd = cli("lint", "--", sys.executable, SERVER, "odd")
    assert odd.code == 2 and "no list" in odd.err


def test_names_are_no_control_characters(cli: Cli, place: Path) -> None:
    odd: dict[str, Any] = {"a\x1b[31m": {**BAD, "required": ["\x07"]}}
    path = listing(place, "odd.json", **odd)
    for form in ((), ("--json",), ("--sarif",)):
        out = cli("lint", path, *form).out
        assert b"\x1b" not in out and b"\x07" not in out
