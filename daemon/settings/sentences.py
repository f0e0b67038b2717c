"""What is wrong with a configuration, in sentences: where, what was found, expected, and to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fabricd.daemon.settings.keys import BY_NAME, nearest
from fabricd.daemon.settings.layers import (
    Default,
    InEnvironment,
    InFile,
    InFlag,
    Layer,
    Origin,
    Place,
)

# Finding a line reads the file a dozen times; nobody corrects more than these at once.
_MOST = 20


def sentences(
    layer: Layer, problems: Sequence[Mapping[str, Any]], schema: Mapping[str, Any]
) -> list[str]:
    """What a validator found in one source, in the order in which it stands there.

    A problem has `loc` (the place), `type` (`extra_forbidden` for an unknown key) and `input`.
    """
    told: list[tuple[int, str]] = []
    for problem in problems[:_MOST]:
        place = tuple(map(str, problem["loc"]))
        origin = layer.origin(place)
        line = origin.line if isinstance(origin, InFile) else 0
        if problem["type"] == "extra_forbidden":
            told.append((line, _unknown(origin, ".".join(place))))
        else:
            wanted = _wanted(place, schema)
            told.append((line, _unfit(origin, ".".join(place), problem["input"], wanted)))
    return [sentence for _, sentence in sorted(told)]


def _unknown(origin: Origin, key: str) -> str:
    meant = nearest(key, BY_NAME)
    hint = f"; did you mean {meant}?" if meant else f"; known are {', '.join(BY_NAME)}"
    return f"{_subject(origin)}: unknown key {key}{hint}"


def _unfit(origin: Origin, key: str, value: object, wanted: str) -> str:
    is_what = f"is {_found(value)}, expected {wanted}"
    match origin:
        case InFile():
            return f"{_subject(origin)}: {key} {is_what}; correct or remove it"
        case InFlag():
            return f"{_subject(origin)} {is_what}; give such a value or leave the option out"
        case InEnvironment() | Default():
            return f"{_subject(origin)} {is_what}; give it such a value or unset it"


def _subject(origin: Origin) -> str:
    match origin:
        case InFile(path=path, line=line):
            return f"{path} line {line}"
        case InEnvironment(name=name):
            return f"the environment variable {name}"
        case InFlag(name=name):
            return f"the option {name}"
        case Default():
            return "the default"


def _found(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case dict():
            return "a table"
        case list():
            return "an array"
        case _:
            return ascii(value)[:60]


def _wanted(place: Place, schema: Mapping[str, Any]) -> str:
    if ".".join(place) not in BY_NAME:
        return "a table"
    return expected(schema["properties"][place[0]]["properties"][place[1]])


def expected(rule: Mapping[str, Any]) -> str:
    """What a key's rule of the schema admits, in words."""
    if "enum" in rule:
        *most, last = rule["enum"]
        return f"{', '.join(most)} or {last}"
    nouns = {"boolean": "true or false", "integer": "a whole number", "number": "a number"}
    noun = nouns.get(rule["type"], "a text")
    if "minimum" in rule:
        noun += f" from {rule['minimum']:g} to {rule['maximum']:g}"
    return noun
