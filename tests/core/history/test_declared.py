from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.documents import BadDocument
from fabricd.core.history.declared import declared

SCHEMA = {"type": "object", "properties": {"a": {"maximum": 2**63 + 1}}}
MCP = {"name": "t", "inputSchema": SCHEMA}


@pytest.mark.parametrize(
    "listing",
    [
        {"version": 1, "actions": [{"ref": "t", "inputSchema": SCHEMA}]},
        {"tools": [MCP]},
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [MCP], "nextCursor": None}},
        [MCP],
        [{"name": "t", "input_schema": SCHEMA}],
        [{"name": "t", "parameters": SCHEMA}],
        [{"type": "function", "name": "t", "parameters": SCHEMA}],
        [{"type": "function", "function": {"name": "t", "parameters": SCHEMA}}],
        [MCP, MCP],
    ],
)
def test_every_shape_says_the_same(listing: Any) -> None:
    data = json.dumps(listing).encode()
    assert declared(data) == {"t": SCHEMA}
    assert declared(data, "mcp__x__") == {"mcp__x__t": SCHEMA}


def test_a_function_without_parameters_has_no_schema() -> None:
    assert declared(b'[{"type":"function","function":{"name":"t"}}]') == {"t": None}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"5", "expected a Fabric surface .* found a number"),
        (b'{"a":1}', "expected a Fabric surface .* found an object with a"),
        (b'{"tools":{}}', "tools: expected a list of tools, found an object"),
        (b'{"tools":[5]}', r"tools\[0\]: expected a tool, found a number"),
        (b'[{"inputSchema":{}}]', r"\[0\]\.name: expected a name, found nothing"),
        (b'[{"name":"","inputSchema":{}}]', r"\[0\]\.name: expected a name, found an empty one"),
        (b'[{"name":"t"}]', r"\[0\]: expected inputSchema, input_schema or parameters"),
        (b'[{"name":"t","parameters":[]}]', r"\[0\]\.parameters: expected a JSON Schema object"),
        (b'[{"type":"function","function":1}]', r"\[0\]\.function: expected an object"),
        (b'{"version":2,"actions":[]}', "expected version 1"),
        (b"[" * 1000, "nested"),
        (b"{", "not JSON"),
        (b'[{"name":"t","parameters":{}},{"name":"t","parameters":{"a":1}}]', "each name once"),
        (b'[{"name":"t","parameters":' + b'{"a":' * 65 + b"1" + b"}" * 66 + b"]", "64 levels"),
    ],
)
def test_what_is_no_listing_is_refused_with_its_place(data: bytes, words: str) -> None:
    with pytest.raises(BadDocument, match=words):
        declared(data)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        declared(data)
    except BadDocument:
        pass
