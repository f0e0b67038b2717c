"""A repair explained: what came, what went on, each rule, and the schema that it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from fabricd.core.canonical import digest
from fabricd.core.mcp.projection import at_pointer
from fabricd.core.plain import is_list, is_number, is_object


class Told(Struct, frozen=True):
    """One rule of a witness: JSON types before and after, and the schema it rests on.

    `schema` is None where no log holds it any more; `name` is the argument's, None for a place that
    is no property.
    """

    kind: str
    at: str
    count: int
    name: str | None
    before: str
    after: str
    schema: object


def witness_digest(witness: object) -> str:
    """What a witness is named by."""
    return digest(witness)


def witnesses_in(record: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    """The witness of a record of a call, if it carries one."""
    trace = record.get("trace")
    operations = trace.get("operations") if is_object(trace) else None
    for operation in operations if is_list(operations) else ():
        if is_object(operation) and is_object(witness := operation.get("normalization")):
            yield witness


def told(witness: Mapping[str, Any], schema: object) -> list[Told]:
    """The rules of a witness of either version, each beside what it rests on."""
    rules = witness.get("rules")
    return [_told(rule, schema) for rule in rules if is_object(rule)] if is_list(rules) else []


def _told(rule: Mapping[str, Any], schema: object) -> Told:
    kind = str(rule.get("kind"))
    at = rule.get("at")
    if not isinstance(at, str):
        at = "/properties/" + str(rule.get("key")).replace("~", "~0").replace("/", "~1")
    count = rule.get("count")
    found = schema if not at else at_pointer(schema, at)
    parts = at.split("/")
    name = _plain(parts[-1]) if len(parts) > 2 and parts[-2] == "properties" else None
    before, after = _types(kind, found, name)
    times = int(count) if isinstance(count, int) and not is_number(count, 0) else 1
    return Told(kind, at, times, name, before, after, found)


def _plain(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")


def _types(kind: str, schema: object, name: str | None) -> tuple[str, str]:
    match kind:
        case "key-form":
            return "another spelling", name or "the declared name"
        case "optional-null":
            return "null", "left out"
        case "enum-form":
            return "string", "string"
        case "boolean-string":
            return "string", "boolean"
        case _:
            return "string", _typed(schema)


def _typed(schema: object) -> str:
    given = schema.get("type") if is_object(schema) else None
    types = given if is_list(given) else [given]
    found = [each for each in types if isinstance(each, str) and each not in ("null", "string")]
    return " or ".join(found) or "value"


def typed(value: object) -> object:
    """A value as its JSON types, with keys: `{"tags": ["string"]}`; equal items stand once."""
    if is_object(value):
        return {key: typed(member) for key, member in value.items()}
    if is_list(value):
        found: list[object] = []
        for item in map(typed, value):
            if item not in found:
                found.append(item)
        return found
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    return "string" if isinstance(value, str) else "number"
