"""Generated closed schemas and the arguments that models make for them, right and wrong."""

from __future__ import annotations

import importlib
import json
import re
from functools import cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from fabricd.core.javascript import number_text
from tests.core.making import Json
from tests.core.strategies import json_values

# Untyped, and an oracle only: the product validates with another library.
_jsonschema: Any = importlib.import_module("jsonschema")

NAMES = ["maxResults", "max_results", "limit", "Limit", "note", "sort by", "x", "é", "10", "a-"]
SPELLINGS = [
    "MAX RESULTS",
    "max-results",
    "LIMIT",
    "Note",
    "sortBy",
    "X",
    "É",
    "toString",
    "A",
    "--",
]
MEMBERS = ["newest", "Newest", "best-match", "bestMatch", "oldest", "10", ""]

nullable: Json = {"anyOf": [{"type": "string"}, {"type": "null"}]}
PROPERTIES: list[Any] = [
    {"type": "string"},
    {"type": "integer"},
    {"type": "integer", "minimum": 0, "maximum": 100},
    {"type": "number"},
    {"type": "number", "exclusiveMinimum": 0},
    {"type": "boolean"},
    {"type": "string", "pattern": "^[0-9]+$"},
    {"type": ["integer", "string"]},
    {"type": ["string", "null"]},
    {"enum": [1, "1", None]},
    {"const": 5},
    {"type": "array", "items": {"type": "integer"}},
    {"type": "object", "properties": {"limit": {"type": "integer"}}},
    {"$ref": "#/$defs/maybe"},
    {"$ref": "#/$defs/count"},
    nullable,
    {"type": "integer", "not": {"const": 7}},
    {},
    True,
    False,
]
DEFS: Json = {"maybe": nullable, "count": {"type": "integer", "minimum": 1}}

enums: SearchStrategy[Json] = st.lists(st.sampled_from(MEMBERS), min_size=1, max_size=4).map(
    lambda members: {"type": "string", "enum": list(dict.fromkeys(members))}
)


@st.composite
def closed_schemas(draw: DrawFn) -> Json:
    """An object schema that admits nothing but its declared properties."""
    declared = st.one_of(st.sampled_from(PROPERTIES), enums)
    names = st.one_of(st.sampled_from(NAMES), st.sampled_from(NAMES[:4]))
    properties = draw(st.dictionaries(names, declared, min_size=1, max_size=5))
    schema: Json = {"type": "object", "properties": properties, "additionalProperties": False}
    if required := draw(st.lists(st.sampled_from(sorted(properties)), unique=True, max_size=2)):
        schema["required"] = required
    return schema | {"$defs": DEFS}


VALUES: SearchStrategy[Any] = st.one_of(
    st.sampled_from(
        [None, True, 0, 5, 7, 50, 101, 1.5, "", "x", "5", "[]", [], [1], {}, {"limit": 1}]
    ),
    st.sampled_from(MEMBERS),
    json_values(2),
)


@cache
def _fitting(declared: str) -> SearchStrategy[Any]:
    fitting: list[Any] = [None, True, 5, 50, 1.5, "x", "55", [1], {}, *MEMBERS]
    schema = {"$defs": DEFS, "allOf": [json.loads(declared)]}
    good = [value for value in fitting if judged(schema, value)]
    return st.sampled_from(good) if good else st.just(None)


def _valid_values(declared: Any) -> SearchStrategy[Any]:
    return _fitting(json.dumps(declared))


def misspelt(draw: DrawFn, value: Any) -> Any:
    """A value as a model may write it instead."""
    if isinstance(value, str):
        return draw(st.sampled_from([value.upper(), value.replace("-", "_"), value + " ", value]))
    if isinstance(value, int | float) and not isinstance(value, bool):
        text = number_text(value)
        return draw(st.sampled_from([text, text, text, f"{text}.0", f" {text}", f"0{text}"]))
    return draw(st.sampled_from([value, None, str(value)]))


@st.composite
def valid_calls(draw: DrawFn, schema: Json) -> Json:
    """Arguments that the schema accepts, wherever it accepts any."""
    needed = schema.get("required", ())
    return {
        name: draw(_valid_values(declared))
        for name, declared in schema["properties"].items()
        if name in needed or draw(st.booleans())
    }


@st.composite
def slips(draw: DrawFn, schema: Json) -> Json:
    """Right arguments with slips of the kinds that the conventions heal."""
    args = draw(valid_calls(schema))
    for name, declared in schema["properties"].items():
        heard = name if name in args else None
        if heard is None and declared not in (True, {}) and draw(st.booleans()):
            args[name] = None
        if heard is not None and draw(st.booleans()):
            args[name] = misspelt(draw, args[name])
        if name in args and draw(st.integers(0, 3)) == 0:
            spelt = draw(st.sampled_from([name.upper(), f"{name}_", name.replace("R", "-r")]))
            if spelt not in schema["properties"]:
                args[spelt] = args.pop(name)
    return args


@st.composite
def blunders(draw: DrawFn, schema: Json) -> Json:
    """Right arguments with anything put among them."""
    args = draw(valid_calls(schema))
    for _ in range(draw(st.integers(0, 3))):
        name = draw(st.sampled_from([*schema["properties"], *SPELLINGS]))
        args[name] = draw(VALUES)
    return args


@st.composite
def cases(draw: DrawFn) -> tuple[Json, Json]:
    """A schema and arguments for it, in any order."""
    schema = draw(closed_schemas())
    args = draw(st.one_of(slips(schema), slips(schema), blunders(schema)))
    return schema, dict(draw(st.permutations(list(args.items()))))


def judged(schema: Any, value: Any) -> bool:
    """The verdict of the independent validator, drafts and formats left at their defaults."""
    return bool(_jsonschema.Draft202012Validator(schema).is_valid(value))


def property_judged(schema: Json, name: str, value: Any) -> bool:
    """Its verdict on one property alone, with the root's definitions at hand."""
    return judged({"$defs": schema.get("$defs", {}), "allOf": [schema["properties"][name]]}, value)


def oracle_form(name: str) -> str | None:
    """The form of a name, by its definition."""
    if re.fullmatch("[a-zA-Z][a-zA-Z0-9 _-]*", name) is None:
        return None
    return "".join(char for char in name.lower() if char not in " _-")


def oracle_unique(names: list[str]) -> dict[str, str]:
    """Form → name, for the forms that one listed name has."""
    forms = [oracle_form(name) for name in names]
    pairs = zip(forms, names, strict=True)
    return {shape: name for shape, name in pairs if shape is not None and forms.count(shape) == 1}
