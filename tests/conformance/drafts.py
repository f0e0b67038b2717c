"""Which draft speaks for a schema, and whether any does."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import Any

import jsonschema_rs

from tests.conformance.values import Case, is_list, is_object, keys_of, walk

NEWEST = 2020
_LEVELS = 64
_ADDRESSES: Mapping[int, str] = {
    4: "http://json-schema.org/draft-04/schema#",
    6: "http://json-schema.org/draft-06/schema#",
    7: "http://json-schema.org/draft-07/schema#",
    2019: "https://json-schema.org/draft/2019-09/schema",
    2020: "https://json-schema.org/draft/2020-12/schema",
}
_DECLARED = re.compile(
    r"https?://json-schema\.org/draft(?:-0([467])|/(2019)-09|/(2020)-12)/schema#?"
)
# Draft 7 ignores these, and a schema that has them would accept what its author forbade.
_LATER = frozenset(
    {
        "$dynamicRef", "$recursiveRef", "dependentRequired", "dependentSchemas", "maxContains",
        "minContains", "prefixItems", "unevaluatedItems", "unevaluatedProperties",
    }
)  # fmt: skip


def declared_draft(schema: Any) -> int | None:
    """The known draft that a schema declares."""
    address = schema.get("$schema") if is_object(schema) else None
    found = _DECLARED.fullmatch(address) if isinstance(address, str) else None
    return int(next(filter(None, found.groups()))) if found else None


def draft_of(schema: Any) -> int | None:
    """The draft that speaks for a schema, or None where no draft that may compiles it."""
    if not is_object(schema) or _levels(schema) > _LEVELS or _has_endless_numbers(schema):
        return None
    declared = declared_draft(schema)
    older = () if keys_of(schema) & _LATER else (7,)
    candidates = (NEWEST, *older) if declared is None else (declared,)
    return next((draft for draft in candidates if _compiles_as(schema, draft)), None)


def _levels(value: Any) -> int:
    inner = value.values() if is_object(value) else value if is_list(value) else None
    return 0 if inner is None else 1 + max(map(_levels, inner), default=0)


def _has_endless_numbers(schema: Any) -> bool:
    """Whether some number is beyond the range of doubles, so that the schema has no digest."""
    numbers = (inner for inner in walk(schema) if type(inner) is int)
    return any(abs(number) > sys.float_info.max for number in numbers)


def compiles(schema: Any) -> bool:
    """Whether a draft that may speak for the schema compiles it."""
    return draft_of(schema) is not None


def _compiles_as(schema: Case, draft: int) -> bool:
    try:
        jsonschema_rs.validator_for({**schema, "$schema": _ADDRESSES[draft]}, offline=True)
    except (ValueError, TypeError, jsonschema_rs.ReferencingError):
        return False
    return True
