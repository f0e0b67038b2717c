"""The extended conventions by brute force: try every reading of every text, keep what is unique.

Tests compare the product with this module, so it shares no code with it and judges values with
another validator. It is meant for small schemas: nothing is remembered, all is tried again.
"""

from __future__ import annotations

import importlib
import json
import re
from decimal import Decimal
from typing import Any

# Untyped, and an oracle only: the product validates with another library.
_jsonschema: Any = importlib.import_module("jsonschema")

Json = dict[str, Any]
ALL = frozenset(["null", "boolean", "number", "string", "array", "object"])
UNIONS = ("anyOf", "oneOf")


class Refused(Exception):
    """Raised where nothing in the call may change."""


def judge_of(root: Any) -> Any:
    """The independent validator of a schema, formats asserted."""
    is_older = isinstance(root, dict) and "draft-07" in root.get("$schema", "")
    kind = _jsonschema.Draft7Validator if is_older else _jsonschema.Draft202012Validator
    return kind(root, format_checker=kind.FORMAT_CHECKER)


def folded(name: str) -> str | None:
    """Case and separators away; None for what is no plain name."""
    if re.fullmatch("[a-zA-Z][a-zA-Z0-9 _-]*", name) is None:
        return None
    return re.sub("[ _-]", "", name).lower()


def kind_of(value: Any) -> str:
    """The kind of a JSON value; integers are numbers."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    names = {int: "number", float: "number", str: "string", list: "array", dict: "object"}
    return names[type(value)]


def number_in(text: str) -> Any:
    """The number that is written exactly as a JavaScript host would write it (plain decimals)."""
    if re.fullmatch(r"-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?", text) is None or text == "-0":
        return None
    if Decimal(repr(float(text))) != Decimal(text):
        return None
    return json.loads(text)


def _once(pairs: list[tuple[str, Any]]) -> Json:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError
    return dict(pairs)


def _exact(token: str) -> Any:
    value = json.loads(token)
    if isinstance(value, int) and abs(value) < 2**53:
        return value
    if Decimal(repr(float(token))) != Decimal(token):
        raise ValueError
    return value


def _never(token: str) -> Any:
    raise ValueError


def container_in(text: str) -> Any:
    """The array or object of a strict JSON text."""
    if re.match(r"[ \t\r\n]*[\[{]", text) is None:
        return None
    hooks: Json = {"parse_int": _exact, "parse_float": _exact, "parse_constant": _never}
    try:
        return json.loads(text, object_pairs_hook=_once, **hooks)
    except ValueError:
        return None


class Naive:
    """One schema, asked call by call."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self.judge = judge_of(root)
        self.is_older = "draft-07" in root.get("$schema", "")
        self.kinds: set[str] = set()

    def valid(self, schema: Any, value: Any) -> bool:
        """Whether a part of the schema accepts a value."""
        return bool(self.judge.evolve(schema=schema).is_valid(value))

    def repair(self, args: Any) -> Any:
        """The repaired arguments, or those given."""
        self.kinds = set()
        if self.valid(self.root, args):
            return args
        try:
            found = self.fixed(self.root, args)
        except Refused:
            found = args
        if found == args or not self.valid(self.root, found):
            self.kinds = set()
            return args
        return found

    def named(self, ref: str) -> Any:
        """What a `$ref` leads to."""
        found = self.root
        for token in ref.split("/")[1:]:
            name = token.replace("~1", "/").replace("~0", "~")
            found = found[int(name)] if isinstance(found, list) else found[name]
        return found

    def leaves(self, schema: Any, allowed: frozenset[str], seen: list[Any]) -> list[Any]:
        """The branches: schema and the kinds it admits. A reference met again says nothing new."""
        if not isinstance(schema, dict):
            return [({}, allowed)] if schema is True else []
        if "$ref" in schema:
            if (schema["$ref"], allowed) in seen:
                return []
            seen.append((schema["$ref"], allowed))
            return self.leaves(self.named(schema["$ref"]), allowed, seen)
        allowed = allowed & self.admitted(schema)
        branches = [branch for word in UNIONS for branch in schema.get(word, [])]
        if branches:
            return [leaf for branch in branches for leaf in self.leaves(branch, allowed, seen)]
        return [(schema, allowed)] if allowed else []

    def admitted(self, schema: Json) -> frozenset[str]:
        """The kinds that a schema's own words admit."""
        found = ALL
        if "type" in schema:
            names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
            found = frozenset("number" if name == "integer" else name for name in names)
        for members in self.members(schema):
            found &= frozenset(map(kind_of, members))
        return found

    def members(self, schema: Json) -> list[list[Any]]:
        """Enum and const, each as a list."""
        found = [schema["enum"]] if "enum" in schema else []
        return [*found, [schema["const"]]] if "const" in schema else found

    def texts(self, schema: Json) -> list[str] | None:
        """The members of a schema that lists texts alone."""
        for members in self.members(schema):
            if all(isinstance(member, str) for member in members):
                return members
        return None

    def reading(self, schema: Any, text: str) -> Any:
        """What a text is read as: the one value that validates, else the text."""
        leaves = self.leaves(schema, ALL, [])
        if any("string" in kinds and self.texts(leaf) is None for leaf, kinds in leaves):
            return text
        if self.valid(schema, text):
            return text
        found: dict[str, tuple[str, Any]] = {}

        def offer(kind: str, value: Any) -> None:
            if value is not None and self.valid(schema, value):
                found[json.dumps(value)] = (kind, value)

        for leaf, kinds in leaves:
            if "number" in kinds:
                offer("numeric-string", number_in(text))
            if "boolean" in kinds and text.isascii() and text.lower() in ("true", "false"):
                offer("boolean-string", text.lower() == "true")
            if kinds & {"array", "object"}:
                offer("json-container", container_in(text))
            listed = (self.texts(leaf) or []) if "string" in kinds else []
            same = [m for m in listed if folded(m) is not None and folded(m) == folded(text)]
            if len(same) == 1:
                offer("enum-form", same[0])
        if len(found) != 1:
            return text
        [(kind, value)] = found.values()
        self.kinds.add(kind)
        return value

    def holders(
        self, schema: Any, kind: str, words: tuple[str, ...], allowed: frozenset[str], seen: Any
    ) -> list[Any]:
        """The schemas that judge what is inside a container: one for each branch that admits it."""
        if not isinstance(schema, dict):
            return [{}] if schema is True and kind in allowed else []
        if "$ref" in schema:
            if (schema["$ref"], allowed) in seen:
                return []
            seen.append((schema["$ref"], allowed))
            return self.holders(self.named(schema["$ref"]), kind, words, allowed, seen)
        allowed = allowed & self.admitted(schema)
        branches = [branch for word in UNIONS for branch in schema.get(word, [])]
        if kind not in allowed:
            return []
        if not branches or any(word in schema for word in words):
            return [schema]
        return [
            holder
            for branch in branches
            for holder in self.holders(branch, kind, words, allowed, seen)
        ]

    def holder(self, schema: Any, kind: str, words: tuple[str, ...]) -> Any:
        """The one of them, or None."""
        found = self.holders(schema, kind, words, ALL, [])
        return found[0] if len({id(holder) for holder in found}) == 1 else None

    def fixed(self, schema: Any, value: Any) -> Any:
        """A value with all in it repaired that can be."""
        if isinstance(value, str):
            return self.reading(schema, value)
        if isinstance(value, dict):
            holder = self.holder(schema, "object", ("properties",))
            return value if holder is None else self.members_fixed(holder, value)
        if isinstance(value, list):
            holder = self.holder(schema, "array", ("items", "prefixItems"))
            return value if holder is None else self.items_fixed(holder, value)
        return value

    def members_fixed(self, holder: Json, value: Json) -> Json:
        """An object: names first, then members."""
        declared = holder.get("properties", {})
        loose = {"patternProperties", "if", "not", "allOf", "dependentRequired"} & set(holder)
        is_closed = holder.get("additionalProperties") is False and not loose
        found: Json = {}
        for key, member in value.items():
            name = key
            if key not in declared and is_closed and folded(key) is not None:
                alike = [other for other in declared if folded(other) == folded(key)]
                if len(alike) == 1 and declared[alike[0]] is not False:
                    name = alike[0]
                    self.kinds.add("key-form")
                    if name in value:
                        raise Refused
            if name in found:
                raise Refused
            found[name] = member
        for name in list(found):
            if name not in declared or declared[name] is False:
                continue
            if found[name] is None and name not in holder.get("required", []):
                if not self.valid(declared[name], None):
                    del found[name]
                    self.kinds.add("optional-null")
            elif found[name] is not None:
                found[name] = self.fixed(declared[name], found[name])
        return found

    def items_fixed(self, holder: Json, value: list[Any]) -> list[Any]:
        """An array: the first items by their own schemas, the others by one."""
        first: list[Any] = []
        rest: Any = None
        if self.is_older and isinstance(holder.get("items"), list):
            first, rest = holder["items"], holder.get("additionalItems")
        else:
            rest = holder.get("items")
            first = [] if self.is_older else holder.get("prefixItems", [])
        schemas = [first[n] if n < len(first) else rest for n in range(len(value))]
        return [
            item if schema is None else self.fixed(schema, item)
            for schema, item in zip(schemas, value, strict=True)
        ]
