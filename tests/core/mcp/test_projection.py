"""What is kept of arguments: keys, numbers, booleans, nulls, declared members, no free text."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.mcp.projection import Projection

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "order": {"$ref": "#/$defs/order"},
        "mode": {"anyOf": [{"const": "fast"}, {"enum": ["slow", 3]}, {"type": "null"}]},
        "list": {"type": "array", "items": {"properties": {"to": {"enum": ["me"]}}}},
        "pair": {"prefixItems": [{"enum": ["a"]}, {"enum": ["b"]}]},
        "map": {"type": "object", "additionalProperties": {"enum": ["x"]}},
        "deep": {"$ref": "#"},
    },
    "$defs": {"order": {"enum": ["newest"]}},
}


def projected(args: Any) -> Any:
    """Projected arguments."""
    return Projection(SCHEMA).of(args)


def test_declared_members_stay_and_free_text_goes() -> None:
    assert projected(
        {
            "text": "newest",
            "order": "newest",
            "mode": "slow",
            "list": [{"to": "me"}, {"to": "you"}, "me", 1, True, None],
            "pair": ["a", "a", "b"],
            "map": {"secret": "x"},
            "deep": {"order": "newest", "other": {"order": "newest"}},
        }
    ) == {
        "text": "",
        "order": "newest",
        "mode": "slow",
        "list": [{"to": "me"}, {"to": ""}, "", 1, True, None],
        "pair": ["a", "", ""],
        "map": {"*": ""},
        "deep": {"order": "newest", "*": {"*": ""}},
    }


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(0, 99) | st.text("s3cret", min_size=1),
        lambda inner: st.lists(inner) | st.dictionaries(st.text("s3cret", min_size=1), inner),
    )
)
def test_nothing_that_was_written_remains(args: Any) -> None:
    kept = json.dumps(projected({"text": args, "undeclared": args}))
    assert not set("secr") & set(kept.replace("text", "").replace("true", "").replace("false", ""))


def test_what_is_large_is_cut_and_counted() -> None:
    projection = Projection(SCHEMA)
    nested: Any = 1
    for _ in range(60):
        nested = [nested]
    found = projection.of({"list": list(range(5000)), "text": nested, "text2": "x"})
    assert len(found["list"]) == 100 and projection.truncated == 2
    wide = Projection(SCHEMA).of({"list": [[[0] * 100] * 100] * 100})
    assert len(json.dumps(wide)) < 60_000
    assert Projection(None).of("text") == {}
