"""Generated schemas of both drafts, with everything in them that the extended conventions meet."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from tests.core.making import Json
from tests.core.strategies import json_values
from tests.oracle.naive_extended import kind_of

NAMES = ["maxResults", "max_results", "limit", "note", "sort by", "a/b", "c~d", "é", "10", "x-"]
MEMBERS = ["newest", "Newest", "best-match", "oldest", "10", "true", "a b"]
DRAFT7 = "http://json-schema.org/draft-07/schema#"
DRAFT2020 = "https://json-schema.org/draft/2020-12/schema"

SCALARS: list[Any] = [
    {"type": "string"},
    {"type": "string", "format": "date"},
    {"type": "string", "pattern": "^[0-9]+$"},
    {"type": "integer"},
    {"type": "integer", "minimum": 0, "maximum": 100},
    {"type": "number", "exclusiveMinimum": 0},
    {"type": "boolean"},
    {"type": "null"},
    {"type": ["integer", "null"]},
    {"type": ["integer", "string"]},
    {"type": ["boolean", "number"]},
    {"type": ["array", "object", "null"]},
    {"type": "string", "enum": ["newest", "best-match", "a b"]},
    {"type": ["string", "null"], "enum": ["newest", "oldest"]},
    {"enum": ["newest", "Newest", "oldest"]},
    {"enum": ["true", "oldest"]},
    {"enum": ["TRUE"]},
    {"enum": [1, 2, None]},
    {"enum": ["10", 10]},
    {"const": "Best Match"},
    {"const": 5},
    {"const": True},
    {"type": "integer", "not": {"const": 7}},
    {"allOf": [{"type": "integer"}]},
    {},
    True,
    False,
]
DEFS: Json = {
    "count": {"type": "integer", "minimum": 1},
    "maybe": {"anyOf": [{"$ref": "@count"}, {"type": "null"}]},
    "mode": {"type": "string", "enum": ["newest", "best-match"]},
    "a/b~c": {"type": "number"},
    "node": {
        "type": "object",
        "properties": {
            "limit": {"$ref": "@count"},
            "mode": {"$ref": "@mode"},
            "kids": {"type": "array", "items": {"$ref": "@node"}},
        },
        "additionalProperties": False,
    },
}
REFS = ["@count", "@maybe", "@mode", "@node", "@a~1b~0c", "#"]


@st.composite
def _objects(draw: DrawFn, inner: SearchStrategy[Any]) -> Json:
    properties = draw(st.dictionaries(st.sampled_from(NAMES), inner, min_size=2, max_size=4))
    schema: Json = {"type": "object", "properties": properties}
    if draw(st.booleans()):
        schema["additionalProperties"] = False
    if required := draw(st.lists(st.sampled_from(sorted(properties)), unique=True, max_size=2)):
        schema["required"] = required
    match draw(st.integers(0, 11)):
        case 0:
            schema["patternProperties"] = {"^z": {}}
        case 1:
            schema["allOf"] = [{"minProperties": 1}]
        case 2:
            schema["anyOf"] = [{"required": [name]} for name in sorted(properties)]
        case 3:
            del schema["type"]
        case _:
            pass
    return schema


def _arrays(inner: SearchStrategy[Any]) -> SearchStrategy[Json]:
    items = st.builds(lambda item: {"type": "array", "items": item}, inner)
    tuples = st.builds(
        lambda first, rest: {"type": "array", "@first": first, "@rest": rest},
        st.lists(inner, min_size=1, max_size=2),
        inner,
    )
    return st.one_of(items, items, tuples)


def _unions(inner: SearchStrategy[Any]) -> SearchStrategy[Json]:
    branches = st.lists(inner, min_size=1, max_size=3)
    return st.builds(
        lambda word, listed: {word: listed}, st.sampled_from(["anyOf", "oneOf"]), branches
    )


_parts: SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.sampled_from(SCALARS),
        st.sampled_from(SCALARS),
        st.sampled_from(REFS).map(lambda ref: {"$ref": ref}),
    ),
    lambda inner: st.one_of(_objects(inner), _objects(inner), _arrays(inner), _unions(inner)),
    max_leaves=6,
)


def _spelt(part: Any, is_older: bool) -> Any:
    """A part in the words of its draft."""
    if isinstance(part, list):
        return [_spelt(item, is_older) for item in part]
    if not isinstance(part, dict):
        return part
    place = "definitions" if is_older else "$defs"
    first, rest = ("items", "additionalItems") if is_older else ("prefixItems", "items")
    words = {"@first": first, "@rest": rest}
    found = {words.get(key, key): _spelt(value, is_older) for key, value in part.items()}
    if isinstance(found.get("$ref"), str):
        found["$ref"] = found["$ref"].replace("@", f"#/{place}/")
    return found


@st.composite
def schemas(draw: DrawFn) -> Json:
    """The schema of a tool's arguments."""
    schema = draw(_objects(_parts))
    is_older = draw(st.booleans())
    schema |= {"definitions" if is_older else "$defs": DEFS}
    if is_older or draw(st.booleans()):
        schema["$schema"] = DRAFT7 if is_older else DRAFT2020
    spelt: Json = _spelt(schema, is_older)
    return spelt


def _misspelt(draw: DrawFn, value: Any) -> Any:
    """A value as a model may write it instead; most often in a way that can be read."""
    text = json.dumps(value)
    if isinstance(value, str):
        spelt = [value.upper(), value.replace("-", "_"), value.title(), f" {value}"]
    elif isinstance(value, bool):
        spelt = [text, text.title(), text.upper(), f"{text} "]
    elif isinstance(value, int | float):
        spelt = [text, text, text, f"{text}.0"]
    elif isinstance(value, list | dict):
        spelt = [text, f" {text}\n", text.replace(": ", ":"), f"{text}]"]
    else:
        spelt = ["null"]
    return draw(st.sampled_from(spelt))


class _Calls:
    """Draws values for the parts of one schema, right ones with slips among them."""

    def __init__(self, draw: DrawFn, root: Json) -> None:
        self.draw = draw
        self.root = root
        self.is_older = root.get("$schema") == DRAFT7

    def of(self, part: Any, depth: int) -> Any:
        value = self.right(part, depth)
        return _misspelt(self.draw, value) if self.draw(st.integers(0, 3)) == 3 else value

    def right(self, part: Any, depth: int) -> Any:
        if not isinstance(part, dict) or not part or depth > 4:
            return self.draw(json_values(2))
        if "$ref" in part:
            target: Any = self.root
            for token in part["$ref"].split("/")[1:]:
                target = target[token.replace("~1", "/").replace("~0", "~")]
            return self.right(target, depth + 1)
        for word in ("anyOf", "oneOf", "allOf"):
            if word in part and "properties" not in part:
                return self.right(self.draw(st.sampled_from(part[word])), depth + 1)
        members = part.get("enum", [part["const"]] if "const" in part else None)
        if members is not None:
            return self.draw(st.sampled_from(members))
        return self.typed(part, depth)

    def typed(self, part: Json, depth: int) -> Any:
        kinds = part.get("type", "object")
        kind = self.draw(st.sampled_from(kinds)) if isinstance(kinds, list) else kinds
        if kind == "object":
            return self.object(part, depth)
        if kind == "array":
            return self.array(part, depth)
        choices: dict[str, list[Any]] = {
            "null": [None],
            "boolean": [True, False],
            "integer": [1, 5, 7, 50, 101, -3, 2**53, 10**20],
            "number": [1, 2.5, 0.1, 50],
            "string": ["", "x", "5", "true", "[1]", "newest", "2024-05-01"],
        }
        if kind == "string" and part.keys() & {"format", "pattern"}:
            return "2024-05-01" if "format" in part else "5"
        return self.draw(st.sampled_from(choices[kind]))

    def object(self, part: Json, depth: int) -> Json:
        found: Json = {}
        needed = part.get("required", [])
        is_closed = part.get("additionalProperties") is False
        for name, inner in part.get("properties", {}).items():
            is_needed = name in needed
            if inner is False or (not is_needed and self.draw(st.integers(0, 3)) == 3):
                continue
            spelt = name
            if is_closed and self.draw(st.integers(0, 3)) == 3:
                spellings = [name.upper(), f"{name}_", name.replace("R", "-r"), f"{name}?"]
                spelt = self.draw(st.sampled_from(spellings))
            is_null = not is_needed and self.draw(st.integers(0, 4)) == 4
            found[spelt] = None if is_null else self.of(inner, depth + 1)
        if self.draw(st.integers(0, 11)) == 11:
            found[self.draw(st.sampled_from(["other", *NAMES]))] = self.draw(json_values(2))
        return found

    def array(self, part: Json, depth: int) -> list[Any]:
        first: list[Any] = part.get("prefixItems", [])
        rest = part.get("items", {})
        if isinstance(rest, list):
            first, rest = rest, part.get("additionalItems", {})
        count = self.draw(st.integers(0, 3))
        return [self.of(first[n] if n < len(first) else rest, depth + 1) for n in range(count)]


@st.composite
def calls(draw: DrawFn) -> tuple[Json, Any]:
    """A schema and arguments for it: right, slipped, or the whole of them as text."""
    schema = draw(schemas())
    made = _Calls(draw, schema)
    args = made.right(schema, 0)
    whole = draw(st.integers(0, 19)) == 19 and kind_of(args) == "object"
    return schema, json.dumps(args) if whole else args
