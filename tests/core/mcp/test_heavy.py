"""Which long lines are read: those whose values take no more room than their text."""

from __future__ import annotations

import json

import pytest

from fabricd.core.mcp.requests import read_request
from fabricd.core.mcp.weighing import is_heavy


def line(text: object) -> bytes:
    """A call with one argument."""
    params = {"name": "write", "arguments": {"text": text}}
    return json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    ).encode()


@pytest.mark.parametrize("text", ['"[{,\n', '{"a": [1, "b"]}', "\\", 'prose, "quoted" [1]'])
def test_what_stands_in_a_text_makes_it_no_heavier(text: str) -> None:
    found = read_request(line(text * (1_500_000 // len(text))))
    assert found is not None and found.tool == "write"


@pytest.mark.parametrize("value", [[[]], [{}], ["a"], [1]])
def test_what_would_fill_the_memory_passes_unread(value: list[object]) -> None:
    assert is_heavy(line(value * 400_000))
