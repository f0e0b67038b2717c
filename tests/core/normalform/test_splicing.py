"""Edits in the bytes that were sent: the result means what the repair says, the rest stays."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.jsontext.members import NotRead
from fabricd.core.mcp.repairing import Conventions, Tool
from fabricd.core.normalform.extended import Edit
from fabricd.core.normalform.splicing import spliced

SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "maxResults": {"type": "integer"},
        "isOpen": {"type": "boolean"},
        "order": {"enum": ["newest", "bestMätch"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "note": {"type": "string"},
        "ids": {"type": "array", "items": {"type": "number"}},
        "inner": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"pageSize": {"type": "integer"}, "to": {"type": "string"}},
        },
    },
}
_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "maxResults": st.sampled_from([5, "5", "-1", None]),
    "max_results": st.sampled_from([7, "7", None]),
    "is_open": st.sampled_from([True, "TRUE", "false"]),
    "order": st.sampled_from(["newest", "NEWEST", None]),
    "tags": st.sampled_from([["é"], '["a",\n"b"]', " [ ] ", None]),
    "note": st.sampled_from(["\u2028 é \U0001f600", None]),
    "ids": st.lists(st.sampled_from([1, "2", "2.5"]), max_size=4),
    "inner": st.fixed_dictionaries(
        {},
        optional={
            "pageSize": st.sampled_from([1, "1", None]),
            "page-size": st.sampled_from([2, "2", None]),
            "to": st.sampled_from(["x", None]),
        },
    ),
}


@given(
    st.permutations(sorted(_VALUES)).flatmap(
        lambda keys: st.fixed_dictionaries({}, optional={key: _VALUES[key] for key in keys})
    ),
    st.sampled_from([None, 2, "\t"]),
    st.booleans(),
    st.sampled_from(["extended", "classic"]),
)
def test_the_bytes_mean_what_the_repair_says(
    args: dict[str, Any], indent: Any, escaped: bool, conventions: Conventions
) -> None:
    repair = Tool("mcp.x.y", SCHEMA, conventions).repair(args)
    if repair is None:
        return
    raw = json.dumps(args, indent=indent, ensure_ascii=escaped).encode()
    line = b'{"x":' + raw + b"}\n"
    done = spliced(line, (5, 5 + len(raw)), repair.edits)
    assert json.loads(done) == {"x": repair.args}
    assert done.startswith(b'{"x":') and done.endswith(b"}\n")
    assert done.count(b"\n") <= line.count(b"\n")


def edited(raw: bytes, *edits: Edit) -> bytes:
    """A text with edits."""
    return spliced(raw, (0, len(raw)), edits)


def test_members_go_with_one_comma() -> None:
    raw = b'{ "a" : 1 , "b" : 2 , "c" : 3 }'
    for gone, left in (
        ("a", b'{ "b" : 2 , "c" : 3 }'),
        ("b", b'{ "a" : 1 , "c" : 3 }'),
        ("c", b'{ "a" : 1 , "b" : 2 }'),
        ("ab", b'{ "c" : 3 }'),
        ("bc", b'{ "a" : 1 }'),
        ("ac", b'{ "b" : 2 }'),
        ("abc", b"{  }"),
    ):
        assert edited(raw, *(Edit((key,), "drop", "") for key in gone)) == left


def test_a_member_may_change_its_name_and_its_value() -> None:
    raw = b'{"a_b":"1","c":[{"d":"2"}]}'
    edits = (
        Edit(("a_b",), "rename", "aB"),
        Edit(("a_b",), "replace", "1"),
        Edit(("c", 0, "d"), "replace", "2"),
    )
    assert edited(raw, *edits) == b'{"aB":1,"c":[{"d":2}]}'


def test_a_message_stays_one_line() -> None:
    assert edited(b'"[1,\\n2]"', Edit((), "replace", "[1,\r\n2]")) == b"[1,  2]"


@pytest.mark.parametrize(
    ("raw", "edit"),
    [
        (b'{"a":"1","a":"1"}', Edit(("a",), "replace", "1")),
        (b'{"a":"1","b":{"c":1,"c":2}}', Edit(("a",), "replace", "1")),
        ('{"a":"1","é":1,"\\u00e9":2}'.encode(), Edit(("a",), "replace", "1")),
        (b'{"a":"1","b":"\xff"}', Edit(("a",), "replace", "1")),
        (b'{"b":"1"}', Edit(("a",), "replace", "1")),
        (b"[1]", Edit((1,), "replace", "1")),
        (b"1", Edit((1,), "replace", "1")),
        (b'{"a":1}', Edit(("a",), "replace", '"\ud800"')),
    ],
)
def test_what_is_not_there_once_is_not_edited(raw: bytes, edit: Edit) -> None:
    with pytest.raises(NotRead):
        edited(raw, edit)


def test_an_edit_may_stand_deeper_than_the_interpreter_calls() -> None:
    levels = 400
    raw = b'[{"a":' * levels + b'"1"' + b"}]" * levels
    path = (0, "a") * levels
    done = edited(raw, Edit(path, "replace", "1"), Edit((0, "a"), "rename", "b"))
    assert done == b'[{"b":' + raw[6:].replace(b'"1"', b"1")
