"""Rules on single values: the members they may be, their defaults, their types."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from fabricd.core.lint.findings import Finding, found
from fabricd.core.lint.folding import folded, quoted
from fabricd.core.lint.places import Place, admits, alternatives, pointer_to
from fabricd.core.plain import is_list, is_object
from fabricd.core.validation import Validator

_OTHERS = ("number", "boolean", "array", "object")
_SHOWN = 80


def value_findings(
    tool: str, document: object, judge: Validator | None, place: Place
) -> Iterator[Finding]:
    """What is to be said of what a value may be.

    Args:
        judge: of the document; None where it cannot be judged.
    """
    schema = place.schema
    if not is_object(schema):
        return
    branches, _ = alternatives(document, place)
    yield from _members(tool, branches)
    yield from _mixed(tool, place, branches)
    yield from _refused(tool, judge, place, schema)


def _members(tool: str, branches: list[Place]) -> Iterator[Finding]:
    texts: dict[str, str] = {}
    for branch in branches:
        for step, member in _allowed(branch.schema):
            if isinstance(member, str):
                texts.setdefault(member, pointer_to(branch.pointer, *step))
    for members in folded(texts):
        message = f"{quoted(members)} are one value once folded"
        yield found("colliding-members", tool, texts[members[-1]], message)


def _allowed(schema: object) -> Iterator[tuple[tuple[str | int, ...], object]]:
    if not is_object(schema):
        return
    if is_list(schema.get("enum")):
        for index, member in enumerate(schema["enum"]):
            yield ("enum", index), member
    elif "const" in schema:
        yield ("const",), schema["const"]


def _mixed(tool: str, place: Place, branches: list[Place]) -> Iterator[Finding]:
    if len(branches) == 1 and not is_list(place.schema.get("type")):
        return
    typed = [each.schema for each in branches if is_object(each.schema) and "type" in each.schema]
    free = any(
        admits(schema, "string") and "enum" not in schema and "const" not in schema
        for schema in typed
    )
    others = [kind for kind in _OTHERS if any(admits(schema, kind) for schema in typed)]
    if free and others:
        message = f"a text or {' or '.join(_ARTICLES[kind] for kind in others)}"
        yield found("text-or-other", tool, place.pointer, message)


_ARTICLES = {
    "number": "a number",
    "boolean": "a boolean",
    "array": "an array",
    "object": "an object",
}


def _refused(
    tool: str, judge: Validator | None, place: Place, schema: Mapping[str, Any]
) -> Iterator[Finding]:
    """Values that the schema names and refuses."""
    if judge is None or not place.pointer or not judge.has_place(place.pointer):
        return
    for step, value in _allowed(schema):
        if step[0] == "enum" and not judge.place_accepts(place.pointer, value):
            message = f"{_text(value)} is listed, and refused by what stands beside the list"
            yield found("refused-member", tool, pointer_to(place.pointer, *step), message)
    default = schema.get("default")
    # A default of null says that leaving it out is the same: nothing is copied from it.
    if default is not None and not judge.place_accepts(place.pointer, default):
        message = f"the default {_text(default)} does not validate"
        yield found("refused-default", tool, pointer_to(place.pointer, "default"), message)


def _text(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
