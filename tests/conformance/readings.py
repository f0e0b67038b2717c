"""Another validator, which reads a schema as we must or as the reference does.

A reading is the set of the differences, by the names of their rules, in which the reference is
followed; the empty one is ours. It shares no code with the core.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, TypeAlias

from tests.conformance.dialects import Refused, matcher
from tests.conformance.drafts import NEWEST, draft_of
from tests.conformance.format_details import conforms
from tests.conformance.numbers import is_multiple, is_nearly_multiple
from tests.conformance.oracles import doubled, graphemes
from tests.conformance.values import Unstated, has_half_characters, is_list, is_object

Reading: TypeAlias = frozenset[str]
Keyword: TypeAlias = Callable[[Any, Any, Any, Any], Iterator[Any]]

OURS: Reading = frozenset()
GRAPHEMES = "grapheme-length"
FORMATS = "format-details"
PATTERNS = "regex-dialect"
MULTIPLES = "multiple-of"
DOUBLES = "exact-numbers"
DRAFTS = "declared-draft"

# Imported by name: the packages carry no types.
_JSONSCHEMA: Any = import_module("jsonschema")
_OFFLINE: Any = import_module("jsonschema_specifications").REGISTRY
_UNRESOLVABLE: Any = import_module("referencing.exceptions").Unresolvable
_PLAIN: dict[int, Any] = {
    4: _JSONSCHEMA.Draft4Validator,
    6: _JSONSCHEMA.Draft6Validator,
    7: _JSONSCHEMA.Draft7Validator,
    2019: _JSONSCHEMA.Draft201909Validator,
    2020: _JSONSCHEMA.Draft202012Validator,
}
_FORMATS_SINCE = {
    "duration": 2019, "idn-hostname": 7, "iri": 7, "iri-reference": 7, "json-pointer": 6,
    "relative-json-pointer": 7, "uri-reference": 6, "uri-template": 6, "uuid": 2019,
}  # fmt: skip


def _keyword(kind: str, holds: Callable[[Any, Any], bool]) -> Keyword:
    """A keyword about values of one type."""

    def check(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if validator.is_type(instance, kind) and not holds(instance, wanted):
            yield _JSONSCHEMA.ValidationError("it does not hold")

    return check


def _format(draft: int, by_reference: bool) -> Keyword:
    def holds(text: str, name: Any) -> bool:
        known = isinstance(name, str) and _FORMATS_SINCE.get(name, 0) <= draft
        return not known or conforms(name, text, by_reference)

    return _keyword("string", holds)


def _patterns(by_reference: bool) -> dict[str, Keyword]:
    def matches(text: str, pattern: str) -> bool:
        return matcher(pattern, by_reference).search(text) is not None

    def properties(validator: Any, patterns: Any, instance: Any, schema: Any) -> Iterator[Any]:
        for pattern, part in patterns.items() if is_object(instance) else ():
            found = matcher(pattern, by_reference)
            for name, value in instance.items():
                if found.search(name):
                    yield from validator.descend(value, part)

    return {"pattern": _keyword("string", matches), "patternProperties": properties}


def _any_of_all(validator: Any, parts: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """The reference asks every alternative, so each of them may throw."""
    if not any([validator.evolve(schema=part).is_valid(instance) for part in parts]):
        yield _JSONSCHEMA.ValidationError("no alternative holds")


# --- drafts: draft 7 asserts contents, and the reference knows the keywords of all drafts at once


def _decoded(text: str, encoding: Any) -> bytes | None:
    if encoding != "base64":
        return text.encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(text.encode("utf-8", "surrogatepass"), validate=True)
    except binascii.Error:
        return None


def _content(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if not isinstance(instance, str):
        return
    content = _decoded(instance, schema.get("contentEncoding"))
    try:
        if content is not None and schema.get("contentMediaType") == "application/json":
            json.loads(content)
    except ValueError:
        content = None
    if content is None:
        yield _JSONSCHEMA.ValidationError("the content does not decode")


def _items(validator: Any, items: Any, instance: Any, schema: Any) -> Iterator[Any]:
    draft = 2019 if is_list(items) else NEWEST
    yield from _PLAIN[draft].VALIDATORS["items"](validator, items, instance, schema) or ()


def _if_number(keyword: str) -> Keyword:
    def check(validator: Any, bound: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if not isinstance(bound, bool):
            known = _PLAIN[NEWEST].VALIDATORS[keyword]
            yield from known(validator, bound, instance, schema) or ()

    return check


def _of_all_drafts() -> dict[str, Keyword]:
    older = _PLAIN[2019].VALIDATORS
    return {
        "items": _items,
        "additionalItems": older["additionalItems"],
        "$recursiveRef": older["$recursiveRef"],
        **{word: _if_number(word) for word in ("exclusiveMinimum", "exclusiveMaximum")},
    }


# The reference asks in this order, and what it has no need to ask cannot throw.
_ORDER = (
    "type", "required", "additionalProperties", "dependencies", "dependentRequired",
    "dependentSchemas", "patternProperties", "properties", "propertyNames", "additionalItems",
    "contains", "items", "prefixItems", "maxLength", "minLength", "format", "pattern", "$ref",
    "const", "enum", "if", "not", "allOf", "anyOf", "oneOf",
)  # fmt: skip


def _in_order(schema: Any) -> Any:
    if is_object(schema):
        names = sorted(schema, key=lambda name: _ORDER.index(name) if name in _ORDER else 99)
        return {name: _in_order(schema[name]) for name in names}
    return [_in_order(inner) for inner in schema] if is_list(schema) else schema


# --- judges


def _is_finite(checker: Any, value: Any) -> bool:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return whole or (isinstance(value, float) and math.isfinite(value))


@cache
def _kind(draft: int, reading: Reading) -> Any:
    plain = _PLAIN[draft]
    near = is_nearly_multiple if MULTIPLES in reading else is_multiple
    keywords: dict[str, Keyword] = {
        **_patterns(PATTERNS in reading),
        "dependencies": _PLAIN[7].VALIDATORS["dependencies"],
        "format": _format(draft, FORMATS in reading),
        "multipleOf": _keyword("number", near),
    }
    if GRAPHEMES in reading:
        keywords["minLength"] = _keyword("string", lambda text, bound: graphemes(text) >= bound)
        keywords["maxLength"] = _keyword("string", lambda text, bound: graphemes(text) <= bound)
    if PATTERNS in reading:
        keywords["anyOf"] = _any_of_all
    if DRAFTS in reading:
        keywords.update(_of_all_drafts())
    elif draft == 7:
        keywords.update(contentEncoding=_content, contentMediaType=_content)
    types = plain.TYPE_CHECKER.redefine("number", _is_finite)
    return _JSONSCHEMA.validators.extend(plain, keywords, type_checker=types)


def _without_draft(schema: Any) -> Any:
    """The schema without any `$schema`, which the reference does not read."""
    if is_object(schema):
        kept = {n: s for n, s in schema.items() if n != "$schema" or not isinstance(s, str)}
        return {name: _without_draft(inner) for name, inner in kept.items()}
    return [_without_draft(inner) for inner in schema] if is_list(schema) else schema


def _read(schema: Any, reading: Reading) -> Any:
    known = _without_draft(schema) if DRAFTS in reading else schema
    known = _in_order(known) if PATTERNS in reading else known
    return doubled(known) if DOUBLES in reading else known


@dataclass(frozen=True)
class Judge:
    """The verdicts of one reading of a schema, or of a part inside the whole."""

    validator: Any
    reading: Reading

    def part(self, schema: Any) -> Judge:
        """The judge of a part of the schema."""
        inner = self.validator.evolve(schema=_read(schema, self.reading))
        return Judge(inner, self.reading)

    def accepts(self, value: Any) -> bool:
        """Whether a value validates. Nobody can judge a text without a UTF-8 form: it does not.

        Raises:
            Unstated: the verdict depends on something that is not written down.
        """
        if has_half_characters(value):
            return False
        try:
            given = doubled(value) if DOUBLES in self.reading else value
            return bool(self.validator.is_valid(given))
        except Refused:
            return False
        except (re.error, _UNRESOLVABLE) as error:
            raise Unstated(str(error)) from None


def judge(schema: Any, reading: Reading = OURS) -> Judge:
    """The judge of a schema that compiles."""
    draft = NEWEST if DRAFTS in reading else draft_of(schema) or NEWEST
    return Judge(_kind(draft, reading)(_read(schema, reading), registry=_OFFLINE), reading)
