"""Static freedom: how much a declared schema leaves open. A diagnostic, never an objective."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from fabricd.core.javascript import plain_sum, round6, utf16_key
from fabricd.core.model import Surface
from fabricd.core.plain import is_list, is_object
from fabricd.core.steps import ACTIONS, Steps

_DEEPEST = 3
_UNKNOWN = 0.5
_NO_CASE = 0.75


class FreedomRow(Struct, frozen=True):
    """Freedom of one action."""

    ref: str
    freedom: float


class SurfaceFreedom(Struct, frozen=True):
    """Freedom of a whole surface: rows by freedom descending, then ref."""

    rows: tuple[FreedomRow, ...]
    total: float
    mean: float


def static_freedom(schema: object, depth: int = 0) -> float:
    """Freedom of a schema; each union, array and object level rounds its own sum."""
    if depth > _DEEPEST or not is_object(schema):
        return _UNKNOWN
    for keyword in ("anyOf", "oneOf"):
        if is_list(branches := schema.get(keyword)):
            return _union(branches, depth)
    if is_list(members := schema.get("enum")):
        return round6(min(1.0, math.log2(max(1, len(members))) / 6))
    if "const" in schema:
        return 0.0
    match schema.get("type"):
        case "boolean":
            return 0.1
        case "number" | "integer":
            return 0.5
        case "string":
            return 1.0
        case "array":
            return round6(0.5 + 0.5 * static_freedom(schema.get("items"), depth + 1))
        case "object":
            return _object(schema, depth)
        case _:
            return _NO_CASE


def _union(branches: list[Any], depth: int) -> float:
    best = max((static_freedom(branch, depth + 1) for branch in branches), default=0.0)
    return round6(best + 0.1 * max(0, len(branches) - 1))


def _object(schema: Mapping[str, Any], depth: int) -> float:
    properties = schema.get("properties")
    if not is_object(properties) or not properties:
        return 1.0
    listed = schema.get("required")
    required: set[Any] = set()
    if is_list(listed):
        required = {name for name in listed if isinstance(name, str)}
    total = 0.0
    for name, value in properties.items():
        total += static_freedom(value, depth + 1)
        if name not in required:
            total += 0.25
    if schema.get("additionalProperties") is not False:
        total += 0.5
    return round6(total)


def freedom_steps(surface: Surface) -> Steps[dict[str, float]]:
    """Freedom by ref, yielding between actions."""
    found: dict[str, float] = {}
    for index, (ref, schema) in enumerate(surface.schema_of().items(), start=1):
        found[ref] = static_freedom(schema)
        if index % ACTIONS == 0:
            yield
    return found


def surface_freedom(freedoms: Mapping[str, float]) -> SurfaceFreedom:
    """The freedom report of a surface from the freedom of its actions."""
    rows = sorted(
        (FreedomRow(ref, freedom) for ref, freedom in freedoms.items()),
        key=lambda row: (-row.freedom, utf16_key(row.ref)),
    )
    total = plain_sum(row.freedom for row in rows)
    mean = round6(total / len(rows)) if rows else 0.0
    return SurfaceFreedom(tuple(rows), round6(total), mean)
