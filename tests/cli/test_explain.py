"""`fabricd explain`: what a repair changed, each rule, and the schema it rests on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fabricd.core.canonical import digest
from fabricd.core.mcp.conversation import Called, Conversation, Event, Surfaced
from fabricd.core.mcp.records import Audits, call_record, session_record, surface_record
from fabricd.store.gateway_logs import GatewayLog
from tests.cli.running import SCHEMA, Cli

CALLS: list[dict[str, Any]] = [
    {"query": "secret", "max_results": "5", "note": None},
    {"query": "secret", "order": "NEWEST"},
]


def log_of(place: Path, audits: Audits, at: int = 0) -> list[dict[str, Any]]:
    """A log with two repaired calls; gives their witnesses."""
    events: list[Event] = []
    talk = Conversation("demo", "repair", "extended", events.append, lambda: 1_700_000_000_000)
    talk.asked(b'{"id":0,"method":"tools/list"}')
    tools = {"tools": [{"name": "search", "inputSchema": SCHEMA}]}
    talk.heard(json.dumps({"id": 0, "result": tools}).encode())
    for ident, args in enumerate(CALLS, 1):
        params = {"name": "search", "arguments": args}
        asked = {"id": ident, "method": "tools/call", "params": params}
        talk.asked(json.dumps(asked).encode())
        talk.heard(json.dumps({"id": ident, "result": {}}).encode())
    log = GatewayLog(str(place / "home" / "state"), "demo", at)
    log.append(session_record(log.ident, at, {}))
    witnesses: list[dict[str, Any]] = []
    for event in events:
        match event:
            case Called():
                log.append(call_record(event, "demo", audits))
                assert event.asked.repair is not None
                witnesses.append(event.asked.repair.witness())
            case Surfaced():
                log.append(surface_record(event))
    return witnesses


def test_a_repair_is_shown_by_types_with_its_rules(cli: Cli, place: Path) -> None:
    first, second = log_of(place, "projected")
    found = cli("explain", digest(first)[:8], "--json")
    assert found.code == 0
    value = found.json
    assert (value["witness"], value["ref"], value["id"]) == (digest(first), "mcp.demo.search", 1)
    assert value["before"] == {"query": "string", "*": "string", "note": "null"}
    assert value["after"] == {"query": "string", "maxResults": "number"}
    rules = [(r["kind"], r["at"], r["before"], r["after"], r["schema"]) for r in value["rules"]]
    integer = {"type": "integer"}
    assert rules == [
        ("key-form", "/properties/maxResults", "another spelling", "maxResults", integer),
        ("numeric-string", "/properties/maxResults", "string", "integer", integer),
        ("optional-null", "/properties/note", "null", "left out", {"type": "string"}),
    ]
    assert value["values"]["kept"] == "projected" and "secret" not in json.dumps(value)
    text = cli("explain", "--last").out.decode()
    assert digest(second) in text and "enum-form" in text and "/properties/order" in text
    assert '"enum":["newest","bestMatch"]' in text


def test_values_are_shown_where_they_were_kept(cli: Cli, place: Path) -> None:
    first, _ = log_of(place, "full")
    text = cli("explain", digest(first)).out.decode()
    assert 'before   {"query":"secret","max_results":"5","note":null}' in text
    assert 'after    {"query":"secret","maxResults":5}' in text


def test_the_newest_log_speaks_last(cli: Cli, place: Path) -> None:
    log_of(place, "projected")
    assert cli("explain", "--last", "--json").json["at"] == "2023-11-14T22:13:20.000Z"


def test_a_witness_may_lie_in_a_file(cli: Cli, place: Path) -> None:
    first, _ = log_of(place, "projected")
    file = place / "witness.json"
    for value in (first, {"args": {}, "witness": first}):
        file.write_text(json.dumps(value))
        assert cli("explain", file, "--json").json["id"] == 1
    # One that was never logged still rests on a schema that was.
    unheard = {**first, "afterShape": "0" * 64}
    file.write_text(json.dumps(unheard))
    value = cli("explain", file, "--json").json
    assert (value["log"], value["before"]) == (None, None)
    assert value["rules"][0]["schema"] == {"type": "integer"}
    assert b"not kept" in cli("explain", file).out


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], 2, "--last"),
        (["0123456789", "--last"], 2, "--last"),
        (["0123456"], 2, "8 hexadecimal"),
        (["not-hex-at-all"], 2, "8 hexadecimal"),
        (["01234567"], 1, "no repaired call"),
    ],
)
def test_what_cannot_be_explained_is_said(
    cli: Cli, place: Path, words: list[str], code: int, said: str
) -> None:
    log_of(place, "projected")
    cli("explain", *words).complains(code, said)


def test_without_logs_there_is_no_last_one(cli: Cli) -> None:
    cli("explain", "--last").complains(1, "no repaired call")


def test_a_file_that_holds_no_witness_is_said(cli: Cli, place: Path) -> None:
    file = place / "w.json"
    for text in ("{", "[]", "{}", '{"version": 2}'):
        file.write_text(text)
        cli("explain", file).complains(2, "witness")
