"""The repairs table: its guard, its bytes, and merging."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.documents import BadDocument, strict_json
from fabricd.core.entropy.meter import lexicon_of
from fabricd.core.model import Action, RepairRow, Surface
from fabricd.core.repairs import (
    MAX_ROWS,
    ActionAlias,
    KeyAlias,
    Row,
    catalog_digest,
    merged,
    meter_row,
    row_value,
    table_bytes,
    table_of,
)
from tests.core.making import Json
from tests.core.repairing import row_lists, rows, surface, table, tables

KEY = KeyAlias("mcp.a.b", "LIMIT", "limit")
ACTION = ActionAlias("mcp.a", "createIssue", "create_issue")
WRITTEN: Json = {"kind": "keyAlias", "ref": "mcp.a.b", "from": "LIMIT", "to": "limit"}
OURS = ("version", "catalogDigest", "repairs")
DISTINCT = st.lists(rows, max_size=12, unique_by=lambda row: (type(row), row_value(row)["from"]))


def numbered(count: int) -> list[Row]:
    return [KeyAlias("a.b", f"n{number}", "n") for number in range(count)]


def document(*entries: Any, **more: Any) -> Json:
    return {"version": 1, "catalogDigest": "c", "repairs": list(entries), **more}


def test_rows_of_both_kinds_are_read() -> None:
    assert table(KEY, ACTION).rows == (KEY, ACTION)
    assert row_value(KEY) == WRITTEN


def test_strings_are_trimmed_as_javascript_does_and_duplicates_collapse() -> None:
    padded = {**WRITTEN, "ref": "\ufeff mcp.a.b\u2028", "to": "limit\n"}
    assert table(padded, WRITTEN, KEY).rows == (KEY,)


def test_unknown_kinds_are_skipped_and_carried_along() -> None:
    strange = {"kind": "valueAlias", "ref": 5}
    found = table(strange, KEY, {"ref": "no kind"})
    assert found.rows == (KEY,)
    stored = json.loads(table_bytes(found, 1))
    assert stored["repairs"] == [strange, WRITTEN, {"ref": "no kind"}]


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        document() | {"version": 2},
        document() | {"version": True},
        document() | {"version": "1"},
        document() | {"catalogDigest": 5},
        document() | {"catalogDigest": " \ufeff"},
        document() | {"repairs": {}},
        document(5),
        document(None),
        *(document({**WRITTEN, name: bad}) for name in ("ref", "from", "to") for bad in ("", 5)),
        document({"kind": "keyAlias", "ref": "a", "from": "b"}),
        document({"kind": "keyAlias", "provider": "a", "from": "b", "to": "c"}),
        document({"kind": "actionAlias", "ref": "a", "from": "b", "to": "c"}),
        document(*map(row_value, numbered(MAX_ROWS + 1))),
    ],
)
def test_what_is_no_table_is_refused_with_a_reason(value: object) -> None:
    with pytest.raises(BadDocument, match=r"\w+ \w+"):
        table_of(value)


def test_as_many_rows_as_are_allowed_are_read_however_often_they_are_repeated() -> None:
    most = numbered(MAX_ROWS)
    assert table(*most, *most).rows == tuple(most)


@given(tables())
def test_what_was_written_is_read_again(value: Json) -> None:
    found = table_of(value)
    data = table_bytes(found, 5)
    again = table_of(strict_json(data))
    assert (again.catalog_digest, again.rows) == (found.catalog_digest, found.rows)
    assert table_bytes(again, 5) == data
    assert data.endswith(b"}\n") and data.startswith(b'{\n  "version": 1,\n  "catalogDigest": ')


@given(tables())
def test_no_member_that_somebody_else_wrote_is_lost(value: Json) -> None:
    read = table_of(value)
    assert dict(read.members) == {n: value[n] for n in value if n not in OURS}
    found = json.loads(table_bytes(read, 5))
    assert list(found)[:5] == ["version", "catalogDigest", "repairs", "createdAt", "updatedAt"]
    assert found.keys() >= value.keys()
    for entry in read.entries:
        assert any(entry.value.items() >= other(item).items() for item in value["repairs"])


def other(item: Json) -> Json:
    """What an entry says beside the row."""
    return {name: text for name, text in item.items() if name in ("hits", "since", "kind")}


@pytest.mark.parametrize("moment", [5, 1.5, "2025-01-01", None, True, {"seconds": [1]}])
def test_the_time_of_creation_stays_whatever_it_is(moment: object) -> None:
    found = json.loads(table_bytes(table(createdAt=moment), 7))
    assert (found["createdAt"], found["updatedAt"]) == (moment, 7)


def test_new_times_are_milliseconds_or_texts_where_texts_stand() -> None:
    plain = json.loads(table_bytes(table(), 1_700_000_000_123))
    assert (plain["createdAt"], plain["updatedAt"]) == (1_700_000_000_123, 1_700_000_000_123)
    textual = table(createdAt="yesterday", updatedAt="today")
    found = json.loads(table_bytes(textual, 1_700_000_000_123))
    assert found["createdAt"] == "yesterday"
    assert found["updatedAt"] == "2023-11-14T22:13:20.123Z"


def test_the_catalog_is_the_set_of_providers() -> None:
    text = '{"captured":[],"providers":["mcp.a","memory","pi"],"v":1}'
    expected = hashlib.sha256(text.encode()).hexdigest()
    assert catalog_digest(surface(pi__read={}, memory__x={}, mcp__a__b={}, mcp__a__c=5)) == expected
    assert catalog_digest(surface(memory__y={}, mcp__a__z={}, pi__ls={}, alone={})) == expected
    assert catalog_digest(surface()) != expected


def test_providers_are_ordered_by_code_unit() -> None:
    text = '{"captured":[],"providers":["\U0001f600","\uff01"],"v":1}'
    found = catalog_digest(Surface((Action("\uff01.a"), Action("\U0001f600.a")), ""))
    assert found == hashlib.sha256(text.encode()).hexdigest()


def test_the_meter_counts_rows_by_the_ref_they_lead_to() -> None:
    found = tuple(map(meter_row, (KEY, ACTION, ActionAlias("mcp.a", "x", "b"))))
    assert found[:2] == (
        RepairRow("keyAlias", "mcp.a.b"),
        RepairRow("actionAlias", "mcp.a.create_issue"),
    )
    assert lexicon_of(found) == {"mcp.a.b": 2, "mcp.a.create_issue": 1}


@given(row_lists, row_lists)
def test_merging_keeps_what_stands_and_is_idempotent(standing: list[Row], new: list[Row]) -> None:
    first = merged((), standing)
    found = merged(first, new)
    assert found[: len(first)] == first
    assert merged(found, new) == merged(found, found) == found
    assert len(set(found)) == len(found) <= MAX_ROWS
    assert set(found) <= {*standing, *new}


@given(DISTINCT, st.data())
def test_the_order_of_processes_does_not_matter(all_rows: list[Row], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(all_rows)))
    left, right = all_rows[:cut], all_rows[data.draw(st.integers(0, cut)) :]
    one = merged(merged((), left), right)
    other = merged(merged((), right), left)
    assert set(one) == set(other) == set(all_rows)


def test_a_row_that_conflicts_is_not_taken() -> None:
    other = KeyAlias("mcp.a.b", "LIMIT", "Limit")
    elsewhere = KeyAlias("mcp.a.c", "LIMIT", "Limit")
    twin = ActionAlias("mcp.a.b", "LIMIT", "Limit")
    assert merged([KEY], [other, elsewhere, twin]) == (KEY, elsewhere, twin)
    assert merged([], [other, KEY]) == (other,)
    assert merged([KEY, other], []) == (KEY, other)


def test_rows_beyond_the_limit_find_no_room() -> None:
    many = numbered(MAX_ROWS + 9)
    assert merged(many[:5], many) == tuple(many[:MAX_ROWS])
    assert merged(many[:5], many, 6) == tuple(many[:6])
    assert merged(many[:5], many, 2) == tuple(many[:5])
