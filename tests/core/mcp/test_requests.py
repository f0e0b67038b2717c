"""Client lines: what is read of them, and which are left alone."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.mcp.limits import HEAD, MAX_LINE
from fabricd.core.mcp.requests import may_be_call, read_request

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)  # fmt: skip


def call(arguments: Any, **more: Any) -> bytes:
    """A call as a client writes it."""
    params = {"name": "search", "arguments": arguments, **more}
    return json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, ensure_ascii=False
    ).encode("utf-8", "surrogatepass")


@given(JSON, st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_arguments_are_found_where_they_stand(args: Any, escaped: bool, indent: Any) -> None:
    params = {"_meta": {"é": [args]}, "arguments": args, "name": "né"}
    value = {"params": params, "method": "tools/call", "id": "é", "é": 1}
    try:
        line = json.dumps(value, ensure_ascii=escaped, indent=indent).encode()
    except UnicodeEncodeError:
        return
    found = read_request(line)
    assert found is not None and (found.tool, found.id) == ("né", "é")
    assert found.arguments == args
    assert json.loads(line[found.span[0] : found.span[1]]) == args


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\n",
        b"null",
        b"[]",
        b"{}",
        b"{",
        call({}) + b"x",
        call({})[:-1],
        call({}).replace(b'"id": 1', b'"id": true'),
        call({}).replace(b'"id": 1', b'"id": {}'),
        call({}).replace(b'"id": 1, ', b""),
        call({}).replace(b'"id": 1', b'"id": 1, "result": 1'),
        call({}).replace(b'"id": 1', b'"id": 1, "i\\u0064": 2'),
        call({}).replace(b'"name": "search"', b'"name": "search", "n\\u0061me": "x"'),
        call({}).replace(b'"name": "search"', b'"name": 1'),
        call({}).replace(b"search", b"\xff"),
        call({}).replace(b"search", b"\xed\xa0\x80"),
        call({}).replace(b"search", b"a\tb"),
        call({}).replace(b"{}", b"NaN"),
        call({}).replace(b"{}", b"1e999"),
        call({}).replace(b"{}", b"01"),
        call({}).replace(b"{}", b"{,}"),
        call({}).replace(b"{}", b'{"a" 1}'),
        call({}).replace(b"{}", b"9" * 500),
        call({}).replace(b"{}", b"[" * 5000 + b"]" * 5000),
        call({}).replace(b'{"name"', b'[{"name"').replace(b"}}", b"}]}"),
        b"\xef\xbb\xbf" + call({}),
        b'{"method":"tools/list/x","id":1}',
        b'{"method":["tools/call"],"id":1}',
    ],
)
def test_what_is_no_plain_request_is_left_alone(line: bytes) -> None:
    assert read_request(line) is None


def test_every_spelling_of_a_method_is_understood() -> None:
    for spelling in ("tools/call", "tools\\/call", "\\u0074ools/call"):
        line = call({"a": 1}).replace(b"tools/call", spelling.encode())
        found = read_request(line)
        assert found is not None and found.arguments == {"a": 1}
    listed = read_request(b'{"method":"tools/list","id":"x","params":{"cursor":"\\u0061"}}\r\n')
    assert listed is not None and (listed.id, listed.cursor) == ("x", "a")
    gone = read_request(b'{"method":"notifications/cancelled","params":{"requestId":7}}')
    assert gone is not None and gone.cancelled == 7


def test_duplicates_inside_the_arguments_do_not_keep_a_line_from_being_read() -> None:
    found = read_request(call({}).replace(b"{}", b'{"a":1,"a":2}'))
    assert found is not None and found.arguments == {"a": 2}


def test_a_line_that_is_too_long_or_too_dense_is_left_alone() -> None:
    assert read_request(call("x" * MAX_LINE)) is None
    dense = call({}).replace(b"{}", b"[" + b"{}," * 700_000 + b"{}]")
    assert read_request(dense) is None
    assert read_request(call("x" * 3_000_000)) is not None
    assert read_request(call("x" * 3_000_000 + "é")) is None


@given(JSON, st.data())
def test_the_start_of_a_call_may_always_be_one(args: Any, data: Any) -> None:
    value = {"params": {"arguments": args}, "method": "tools/call"}
    line = json.dumps(value).encode()
    assert may_be_call(line[: data.draw(st.integers(0, len(line)))])


@pytest.mark.parametrize(
    ("head", "verdict"),
    [
        (b"", True),
        (b"  {", True),
        (b'{"met', True),
        (b'{"method":"tools/c', True),
        (b'{"method":"tools/call",', True),
        (b'{"method":"tools/list",', True),
        (b'{"a":"' + b"x" * HEAD, True),
        (b"x", False),
        (b"[", False),
        (b"{x", False),
        (b'{"a"x', False),
        (b'{"a":1x', False),
        (b'{"method":"ping"', True),
        (b'{"method":"ping",', False),
        (b'{"method":"resources/read","params":{"a":', False),
        (b'{"id":1,"result":{', False),
        (b'{"id":1,"error":', False),
    ],
)
def test_the_start_of_a_line_tells_soon_what_it_is_not(head: bytes, verdict: bool) -> None:
    assert may_be_call(head) is verdict
