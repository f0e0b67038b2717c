"""The library as its users meet it."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from decimal import Decimal
from enum import StrEnum
from types import MappingProxyType
from typing import Any, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fabricd
from fabricd import Normalizer, Result
from fabricd.core.normalform.apply import Normalizer as Classic
from fabricd.core.normalform.extended import ExtendedNormalizer, ExtendedWitness
from fabricd.core.normalform.given import copied, is_plain
from fabricd.core.validation import Unjudgeable
from tests.core.making import Json
from tests.core.strategies import json_values
from tests.harness import ROOT


def repr_of(value: object) -> str | None:
    """A short name for a test; none of what would be endless."""
    return None if isinstance(value, (dict, list)) else str(value)[:30]


SCHEMA: Json = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}},
    "required": ["path"],
    "additionalProperties": False,
}
TOOLS: list[Json] = [
    {"name": "read", "title": "Read", "inputSchema": SCHEMA},
    {"name": "look", "parameters": SCHEMA},
    {"name": "say", "inputSchema": {"type": "string"}},
]


@pytest.mark.parametrize("name", ["read", "look"])
def test_a_call_is_repaired_with_a_witness(name: str) -> None:
    args = {"Path": "x", "limit": "5"}
    result = Normalizer(TOOLS).apply(name, args)
    direct = ExtendedNormalizer(name, SCHEMA)
    assert result.args == {"path": "x", "limit": 5}
    assert result.changed and isinstance(result.witness, ExtendedWitness)
    assert result.witness == direct.witness(args, direct.apply(args))
    assert args == {"Path": "x", "limit": "5"}


def test_the_classic_conventions_are_those_of_the_artifact() -> None:
    normalizer = Normalizer(TOOLS, conventions="classic")
    args = {"path": "x", "limit": "5"}
    direct = Classic("read", SCHEMA)
    result = normalizer.apply("read", args)
    assert (result.args, result.witness) == (
        {"path": "x", "limit": 5},
        direct.witness(args, direct.apply(args)),
    )
    assert normalizer.plan("read") == direct.plan
    assert normalizer.apply("read", ["x"]).args == ["x"]


@pytest.mark.parametrize(
    "args",
    [
        {"path": "x"},
        {"path": "x", "limit": 5},
        {"limit": "x"},
        '{"path": "x", "limit": 5}',
        '{"path": "x", "limit": 5',
        '{"path": "x", "path": "x", "limit": "5"}',
        "",
        None,
        5,
        ["x"],
    ],
)
@pytest.mark.parametrize("name", ["read", "gone", "say"])
@pytest.mark.parametrize("conventions", ["classic", "extended"])
def test_what_is_not_repaired_is_the_very_object_that_was_given(
    name: str, args: Any, conventions: Any
) -> None:
    result = Normalizer(TOOLS, conventions).apply(name, args)
    assert result.args is args
    assert (result.witness, result.changed) == (None, False)


@pytest.mark.parametrize(
    ("text", "args"),
    [
        ('{"path": "x", "limit": "5"}', {"path": "x", "limit": 5}),
        (' {"PATH": "x"}', {"path": "x"}),
        ('"{\\"path\\": \\"x\\"}"', {"path": "x"}),
        ('{"path": "x", "limit": "12345678901234567890"}', None),
    ],
)
def test_text_is_read_as_the_json_that_a_model_wrote(text: str, args: Json | None) -> None:
    result = Normalizer(TOOLS).apply("read", text)
    assert result.args == (text if args is None else args)


def test_numbers_of_a_text_stay_exact_beside_a_repair() -> None:
    schema: Json = {
        "type": "object",
        "properties": {"id": {"type": "integer"}, "b": {"type": "boolean"}},
    }
    normalizer = Normalizer([{"name": "t", "parameters": schema}])
    text = '{"id": 1234567890123456789, "b": "true"}'
    assert normalizer.apply("t", text).args == {"id": 1234567890123456789, "b": True}
    lossy = '{"x": 0.10000000000000000001, "b": "true"}'
    assert normalizer.apply("t", lossy).args is lossy


def deep(levels: int) -> Json:
    args: Json = {}
    for _ in range(levels):
        args = {"a": args}
    return args


@pytest.mark.parametrize(
    "args",
    [
        {"path": "x", "limit": date(2026, 1, 1)},
        {"path": "x", 5: "5"},
        {"path": "x", "limit": float("nan")},
        {"path": "x", "limit": {"5"}},
        {"path": "x", "limit": ("5",)},
        {"path": "x", "limit": b"5"},
        {"path": "\ud800", "limit": "5"},
        {"path": "x", "limit": [object()]},
        deep(255),
        deep(100_000),
        object(),
    ],
)
@pytest.mark.parametrize("conventions", ["classic", "extended"])
def test_what_is_no_json_is_given_back(args: Any, conventions: Any) -> None:
    open_schema: Json = {
        "type": "object",
        "properties": {"a": {"$ref": "#"}, "limit": {"type": "null"}},
    }
    for tools in (TOOLS, [{"name": "read", "inputSchema": open_schema}]):
        assert Normalizer(tools, conventions).apply("read", args).args is args


def twice(value: Any, times: int) -> Any:
    """A value that holds itself so often that nobody can visit it all."""
    for _ in range(times):
        value = [value, value]
    return value


def endless() -> list[Any]:
    value: list[Any] = []
    value += [value, value]
    return value


@pytest.mark.parametrize(
    "odd",
    [
        float("nan"),
        float("inf"),
        [-float("inf")],
        {"b": [{"c": float("nan")}]},
        10**400,
        [-(10**400)],
        twice(1, 40),
        endless(),
        [1] * 1_000_001,
        deep(255),
        date(2026, 1, 1),
        {5: 5},
        [{"a": [{5: 5}]}],
        deep(9) | {"b": (1,)},
    ],
    ids=repr_of,
)
@pytest.mark.parametrize("conventions", ["classic", "extended"])
def test_nothing_is_repaired_beside_what_is_no_json(odd: Any, conventions: Any) -> None:
    properties = {"n": {"type": "integer"}, "x": {}}
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    normalizer = Normalizer([{"name": "t", "parameters": schema}], conventions)
    args = {"n": "5", "x": odd}
    result = normalizer.apply("t", args)
    assert result.args is args and not result.changed
    assert normalizer.apply("t", {"n": "5", "x": [10**300, {"a": -0.0}, deep(200)]}).changed


@given(json_values(), st.integers(0, 12))
def test_plain_is_what_json_gives(value: Any, levels: int) -> None:
    for _ in range(levels):
        value = [value, {"a": value}]
    assert is_plain(value)
    assert is_plain([value, object()]) is False
    assert is_plain({"a": [value, {"b": b""}]}) is False


def test_levels_are_counted_to_the_last() -> None:
    assert is_plain(deep(255)) and not is_plain(deep(256))
    assert copied(deep(63)) == deep(63)
    with pytest.raises(Unjudgeable, match="64 levels"):
        copied(deep(64))


@given(json_values())
def test_no_arguments_make_it_raise(args: Any) -> None:
    result = Normalizer(TOOLS).apply("read", args)
    assert result.changed or result.args is args


@pytest.mark.parametrize(
    ("tools", "word"),
    [
        ([{"inputSchema": {}}], r"tools\[0\]: expected a name"),
        ([{"name": ""}], "expected a name"),
        ([{"name": 5, "parameters": {}}], "expected a name"),
        ([TOOLS[0], {"name": "x"}], r"tools\[1\]: expected inputSchema or parameters"),
        ([TOOLS[0], {"name": "read", "parameters": {}}], "another schema"),
        ([5], "expected a mapping, found int"),
    ],
)
def test_a_listing_that_cannot_be_meant_is_refused(tools: Any, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        Normalizer(tools)


@pytest.mark.parametrize("tools", [None, 5, "x", b"x"])
def test_what_is_no_listing_is_refused(tools: Any) -> None:
    with pytest.raises(ValueError, match="tools: expected a list of tools"):
        Normalizer(tools)


class Order(StrEnum):
    """Names as a program may declare them."""

    NEWEST = "newest"


ODD_SCHEMAS: list[tuple[Any, str]] = [
    ({"default": date(2026, 1, 1)}, "date, which is no JSON value"),
    ({"default": Decimal(1)}, "Decimal"),
    ({"default": b"x"}, "bytes"),
    ({"enum": {1, 2}}, "set"),
    ({"properties": {1: {}}}, "a name in it is no text but int"),
    ({"x": threading.Lock()}, "lock"),
    ({"minimum": float("nan")}, "no double"),
    ({"maximum": 10**400}, "no double"),
    ({"x": deep(100_000)}, "64 levels"),
    ({"x": endless()}, "64 levels"),
    ({"x": twice(1, 40)}, "a million"),
    (None, "not an object"),
]


@pytest.mark.parametrize(("schema", "word"), ODD_SCHEMAS, ids=repr_of)
@pytest.mark.parametrize("conventions", ["classic", "extended"])
def test_a_schema_that_is_no_json_is_no_reason_to_raise(
    schema: Any, word: str, conventions: Any
) -> None:
    rest = SCHEMA if schema is not None else {}
    tools = [TOOLS[0], {"name": "odd", "inputSchema": schema and {**rest, **schema}}]
    normalizer = Normalizer([*tools, tools[1]], conventions)
    args = {"path": "x", "limit": "5"}
    assert normalizer.apply("odd", args).args is args
    assert normalizer.plan("odd") is None
    assert conventions == "classic" or word in (normalizer.reason("odd") or "")
    assert normalizer.apply("read", args).changed


def test_a_schema_may_be_written_in_tuples_mappings_and_enumerations() -> None:
    order = {"type": "string", "enum": (Order.NEWEST, "oldest")}
    schema = MappingProxyType({**SCHEMA, "required": ("path",), "properties": {"order": order}})
    normalizer = Normalizer([{"name": "t", "inputSchema": schema}])
    assert normalizer.apply("t", {"path": 1, "order": "NEWEST"}).changed is False
    open_one = {"type": "object", "properties": {"order": order}}
    again = Normalizer([{"name": "t", "inputSchema": open_one}])
    repaired = again.apply("t", {"order": "NEWEST"}).args
    assert repaired == {"order": "newest"} and type(repaired["order"]) is str


@pytest.mark.parametrize("name", [None, 5, [], {}, {"a"}, b"read", ("read",)])
def test_a_name_that_is_no_text_was_not_listed(name: Any) -> None:
    normalizer = Normalizer(TOOLS)
    args = {"path": "x", "limit": "5"}
    assert normalizer.apply(name, args).args is args
    assert normalizer.plan(name) is None
    assert normalizer.reason(name) == "it was not listed"


@pytest.mark.parametrize(("one", "two"), [(1, True), (1, 1.0), (0, False), (2**53, 2**53 + 1)])
def test_schemas_that_python_takes_for_equal_are_two(one: Any, two: Any) -> None:
    tools: list[Json] = [
        {"name": "t", "parameters": {"type": "object", "properties": {"n": {"const": value}}}}
        for value in (one, two)
    ]
    with pytest.raises(ValueError, match=r"tools\[1\]: 't' was listed with another schema"):
        Normalizer(tools)
    turned = dict(reversed(list(tools[0]["parameters"].items())))
    assert Normalizer([tools[0], {"name": "t", "parameters": turned}]).reason("t") is None


@pytest.mark.parametrize("conventions", ["classic", "extended"])
def test_a_repair_costs_no_compilation_however_many_tools_there_are(
    conventions: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = [{"name": f"u{n}", "parameters": {**SCHEMA, "title": str(n)}} for n in range(140)]
    normalizer = Normalizer(tools, conventions)
    args = {"path": "x", "limit": "5"}
    assert all(normalizer.apply(f"u{n}", args).changed for n in range(140))

    def compiled(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("fabricd.core.validation._views_of", compiled)
    assert all(normalizer.apply(f"u{n}", args).changed for n in range(140))


def test_unknown_conventions_are_refused() -> None:
    unknown: Any = "guess"
    with pytest.raises(ValueError, match="classic or extended"):
        Normalizer(TOOLS, conventions=unknown)


def test_a_tool_tells_its_plan_or_why_it_has_none() -> None:
    normalizer = Normalizer([*TOOLS, {"name": "bad", "parameters": {"type": "nothing"}}])
    assert normalizer.plan("read") == ExtendedNormalizer("read", SCHEMA).plan
    assert normalizer.reason("read") is None
    for name, word in [("say", "no convention"), ("bad", "cannot be judged"), ("x", "not listed")]:
        assert normalizer.plan(name) is None
        assert word in (normalizer.reason(name) or "")


def test_a_schema_that_changes_later_changes_nothing() -> None:
    tools = json.loads(json.dumps(TOOLS))
    normalizer = Normalizer(tools)
    tools[0]["inputSchema"]["properties"]["limit"]["type"] = "string"
    assert normalizer.apply("read", {"path": "x", "limit": "5"}).args["limit"] == 5


def test_threads_share_one_normalizer() -> None:
    # More schemas than are kept at hand, so that threads drop what others look up.
    tools = [{"name": f"t{n}", "parameters": {**SCHEMA, "description": str(n)}} for n in range(140)]
    normalizer = Normalizer(tools)

    def call(number: int) -> Result:
        return normalizer.apply(f"t{number % 140}", {"path": "x", "limit": str(number)})

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(call, range(1400)))
    assert [result.args["limit"] for result in results] == list(range(1400))


def test_the_package_gives_the_library_alone_and_only_when_asked() -> None:
    code = """
import sys, fabricd
assert not any(name.startswith("fabricd.core") for name in sys.modules)
from fabricd import Normalizer, Result
heavy = {"anyio", "asyncio", "click", "orjson", "pydantic", "rapidfuzz", "rich", "structlog"}
print(sorted(heavy & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert (done.stdout, done.stderr) == ("[]\n", "")
    with pytest.raises(AttributeError, match="no attribute 'Guess'"):
        _ = getattr(fabricd, "Guess")  # noqa: B009 - the point is that the name is asked for
    assert get_type_hints(Normalizer.plan)
