"""JSON texts as people and programs write them."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

NAMES = st.one_of(
    st.sampled_from(["a", "b", "hooks", "model", "Stop", "é", 'quo"ted', "// no comment", "{["]),
    st.text(max_size=3),
)
SCALARS: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=4),
    st.sampled_from(["/* no comment */", "},", "\u2028", "\ufeff"]),
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
OBJECTS: st.SearchStrategy[dict[str, Any]] = st.dictionaries(NAMES, VALUES, max_size=4)


def texts(values: st.SearchStrategy[Any]) -> st.SearchStrategy[str]:
    """The values, each in one of the layouts that programs write."""
    layouts = st.sampled_from([None, 0, 1, 2, 4, "\t", "tight"])
    around = st.tuples(st.sampled_from(["", "\ufeff", "\n"]), st.sampled_from(["", "\n", " \n\n"]))
    return st.builds(_written, values, layouts, around, st.sampled_from(["\n", "\r\n"]))


def _written(value: Any, layout: Any, around: tuple[str, str], newline: str) -> str:
    if layout == "tight":
        text = json.dumps(value, separators=(",", ":"))
    else:
        text = json.dumps(value, indent=layout, ensure_ascii=False)
        text = text.encode("utf-8", "replace").decode()
    return (around[0] + text + around[1]).replace("\n", newline)
