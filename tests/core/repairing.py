"""Generated repair rows and tables, sound and damaged."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from fabricd.core.model import Surface
from fabricd.core.repairs import ActionAlias, KeyAlias, Row, Table, row_value, table_of
from fabricd.core.steps import finish
from fabricd.core.surface import surface_steps
from tests.cli.running import action, surface_of
from tests.core.making import Json
from tests.core.strategies import json_values

OWNERS = ["mcp.a", "mcp.a.b", "pi.read", "é.\U0001f600", "\ud800"]
WORDS = ["limit", "LIMIT", "max_results", "maxResults", "x"]

rows: SearchStrategy[Row] = st.builds(
    lambda kind, owner, given, meant: kind(owner, given, meant),
    st.sampled_from([KeyAlias, ActionAlias]),
    st.sampled_from(OWNERS),
    st.sampled_from(WORDS),
    st.sampled_from(WORDS),
)
row_lists: SearchStrategy[list[Row]] = st.lists(rows, max_size=12)
strange: SearchStrategy[Json] = st.fixed_dictionaries(
    {"kind": st.sampled_from(["valueAlias", "", None, 5, ["keyAlias"]])},
    optional={"ref": json_values(2)},
)
blanks = st.sampled_from(["", " ", "\ufeff", "\n\u2028"])


@st.composite
def written_rows(draw: st.DrawFn) -> Json:
    """A row as another program may have written it."""
    value = row_value(draw(rows))
    more: Json = draw(st.dictionaries(st.sampled_from(["hits", "since"]), json_values(2)))
    padded = {name: draw(blanks) + text + draw(blanks) for name, text in value.items()}
    return {**more, **padded, "kind": value["kind"]}


@st.composite
def tables(draw: st.DrawFn) -> Json:
    """A sound table."""
    entries = st.lists(st.one_of(written_rows(), written_rows(), strange), max_size=8)
    value: Json = {"version": draw(st.sampled_from([1, 1.0]))}
    value["catalogDigest"] = draw(st.sampled_from(["a" * 64, " pi's own ", "x"]))
    value["repairs"] = draw(entries)
    for name in ("createdAt", "updatedAt", "note"):
        if draw(st.booleans()):
            value[name] = draw(json_values(2))
    return value


def table(*entries: Any, catalog: str = "c", **more: Any) -> Table:
    """A table of ready rows or of entries as they are written."""
    values = [row_value(e) if isinstance(e, (KeyAlias, ActionAlias)) else e for e in entries]
    return table_of({"version": 1, "catalogDigest": catalog, "repairs": values, **more})


def surface(**schemas: Any) -> Surface:
    """A surface of actions by ref, `__` standing for a dot."""
    actions = [action(ref.replace("__", "."), schema) for ref, schema in schemas.items()]
    return finish(surface_steps(surface_of(*actions)))
