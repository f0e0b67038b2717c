"""The one validator: a declared schema, compiled once and asked many times.

A property is judged inside its root document, so that a local `$ref` finds its `$defs`. Schemas
never reach the network or the file system: the compiler works offline and refuses such references.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeAlias
from urllib.parse import quote

import jsonschema_rs

from fabricd.core.canonical import digest
from fabricd.core.javascript import NumberOutOfRange, written
from fabricd.core.nesting import SCHEMA_LEVELS, value_deeper_than
from fabricd.core.plain import is_list, is_object
from fabricd.core.weight import is_too_heavy

Question: TypeAlias = Callable[[object], bool]

_KNOWN_DRAFT = re.compile(
    r"https?://json-schema\.org/(draft-0[467]|draft/2019-09|draft/2020-12)/schema#?\Z"
)
_DRAFT7 = "http://json-schema.org/draft-07/schema#"
_DRAFT2020 = "https://json-schema.org/draft/2020-12/schema"
_DRAFTS = {
    "Draft4Validator": 4,
    "Draft6Validator": 6,
    "Draft7Validator": 7,
    "Draft201909Validator": 2019,
    "Draft202012Validator": 2020,
}
_VIEWS = 128
_OTHERWISE = frozenset(
    {
        "dependentRequired",
        "dependentSchemas",
        "prefixItems",
        "unevaluatedItems",
        "unevaluatedProperties",
        "minContains",
        "maxContains",
        "$dynamicRef",
        "$recursiveRef",
        "contentEncoding",
        "contentMediaType",
    }
)
_NEWER_FORMATS = ("uuid", "duration")
# What judges nothing in any draft, so that nothing is lost where it is passed over beside a `$ref`.
_REMARKS = frozenset(
    {
        "$comment",
        "title",
        "description",
        "default",
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
    }
)
_BESIDE = _REMARKS | {"$ref"}
# Below these stands data, in which a `$ref` is none.
_DATA = ("const", "enum")
# All that a fragment may be made of. Anything else in one can mean nothing but itself.
_FRAGMENT = "!$&'()*+,-./:;=?@_~%"


class Unjudgeable(ValueError):
    """Raised by `Validator`: neither draft 2020-12 nor draft 7 can compile the schema."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the schema cannot be judged: {reason}")
        self.reason = reason


def _first_line(error: BaseException) -> str:
    lines = str(error).splitlines()
    return lines[0][:200] if lines else type(error).__name__


def _with_draft(schema: dict[str, Any], draft: str) -> dict[str, Any]:
    return {**schema, "$schema": draft}


def _drafts_to_try(schema: dict[str, Any]) -> list[dict[str, Any]]:
    declared = schema.get("$schema")
    if isinstance(declared, str) and _KNOWN_DRAFT.match(declared):
        return [schema]
    candidates = [_with_draft(schema, _DRAFT2020)]
    if not _reads_otherwise(schema):
        candidates.append(_with_draft(schema, _DRAFT7))
    return candidates


def _with_escapes(value: Any) -> Any:
    """A schema whose local references have the escapes that their writer left out.

    `#/$defs/Page[int]` is no reference to a validator, and can be none to anything but itself.
    """
    if is_list(value):
        return [_with_escapes(item) for item in value]
    if not is_object(value):
        return value
    found = {key: inner if key in _DATA else _with_escapes(inner) for key, inner in value.items()}
    reference = value.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/"):
        found["$ref"] = "#" + quote(reference[1:], safe=_FRAGMENT)
    return found


def _reads_otherwise(value: object) -> bool:
    """Whether draft 7 would pass over something here in silence, or assert what is a remark."""
    if is_object(value):
        overlooked = not _OTHERWISE.isdisjoint(value) or value.get("format") in _NEWER_FORMATS
        siblings = "$ref" in value and not value.keys() <= _BESIDE
        return overlooked or siblings or any(map(_reads_otherwise, value.values()))
    return is_list(value) and any(map(_reads_otherwise, value))


# jsonschema-rs reports its refusals as ValidationError, ReferencingError or plain ValueError, and
# text without a UTF-8 form as UnicodeEncodeError, which is a ValueError too.
_REFUSALS = (ValueError, TypeError, jsonschema_rs.ReferencingError)
_OPTIONS: dict[str, Any] = {"validate_formats": True, "offline": True}


def _compiled(schema: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    """The schema as a validator takes it, and that validator."""
    reason = ""
    for candidate in _drafts_to_try(schema):
        for has_escapes in (False, True):
            try:
                judged = _with_escapes(candidate) if has_escapes else candidate
                if not has_escapes or judged != candidate:
                    return judged, jsonschema_rs.validator_for(judged, **_OPTIONS)
            except _REFUSALS as error:
                reason = reason or _first_line(error)
    raise Unjudgeable(reason)


def _views_of(judged: dict[str, Any]) -> Any:
    try:
        return jsonschema_rs.validator_map_for(judged, **_OPTIONS)
    except _REFUSALS as error:
        raise Unjudgeable(_first_line(error)) from None


class _Held:
    """The views of one schema, and the questions to those that were asked for."""

    __slots__ = ("places", "schema", "views")

    def __init__(self, schema: dict[str, Any], views: Any) -> None:
        self.schema = schema
        self.views = views
        self.places: dict[str, Question] = {}


class _Views:
    """Views of parts of the schemas asked last, built on first need.

    Held by the schema object itself, which each entry keeps alive: a digest rounds integers to
    doubles, and two schemas that differ only there must not share their views.
    """

    def __init__(self) -> None:
        self._maps: OrderedDict[int, _Held] = OrderedDict()

    def at(self, schema: dict[str, Any], judged: dict[str, Any], pointer: str) -> Question | None:
        """The question whether the schema at a JSON pointer accepts a value, if there is one.

        Args:
            judged: the schema as its validator took it.

        Raises:
            Unjudgeable: the schema cannot be compiled.
        """
        held = self._of(schema, judged)
        found = held.places.get(pointer)
        if found is None:
            view = held.views.get(f"#{pointer}")
            if view is None:
                return None
            found = held.places[pointer] = view.is_valid
        return found

    def _of(self, schema: dict[str, Any], judged: dict[str, Any]) -> _Held:
        key = id(schema)
        held = self._maps.get(key)
        if held is None:
            held = self._maps[key] = _Held(schema, _views_of(judged))
            if len(self._maps) > _VIEWS:
                self._maps.popitem(last=False)
        elif len(self._maps) == _VIEWS:
            # Nothing is ever dropped before the shelf is full, so its order does not matter yet.
            with suppress(KeyError):
                # Another thread may have dropped it since.
                self._maps.move_to_end(key)
        return held


def _nothing(value: object) -> bool:
    return False


_views = _Views()


class Questions:
    """Questions to the places of one schema, each held from when it was first asked.

    For whoever asks a few of them for as long as it lives, however many other schemas are asked in
    between. Threads may share them.
    """

    __slots__ = ("_held", "_judged", "_schema")

    def __init__(self, schema: dict[str, Any], judged: dict[str, Any]) -> None:
        self._schema = schema
        self._judged = judged
        self._held: dict[str, Question] = {}

    def accepts(self, pointer: str, value: object) -> bool:
        """Whether the schema at a JSON pointer accepts the value; where there is none, nothing."""
        question = self._held.get(pointer)
        try:
            if question is None:
                question = self._held[pointer] = (
                    _views.at(self._schema, self._judged, pointer) or _nothing
                )
            return question(value) and bool(written(value))
        except ValueError:
            return False


class Validator:
    """A compiled schema, its digest and the draft that judges it (4 to 7, 2019 or 2020).

    Values nest no deeper than their reader allowed.
    """

    def __init__(self, schema: object) -> None:
        """Compile.

        Raises:
            Unjudgeable: the schema is no object, or no draft accepts it.
        """
        if not is_object(schema):
            raise Unjudgeable("it is not an object")
        if value_deeper_than(schema, SCHEMA_LEVELS):
            raise Unjudgeable(f"it nests more than {SCHEMA_LEVELS} levels deep")
        if is_too_heavy(schema):
            raise Unjudgeable("by its references more than 10,000 schemas judge one value")
        try:
            self.digest = digest(schema)
        except NumberOutOfRange as error:
            raise Unjudgeable(str(error)) from None
        self._schema = schema
        self._judged, compiled = _compiled(schema)
        self.draft = _DRAFTS[type(compiled).__name__]
        self._accepts: Callable[[object], bool] = compiled.is_valid

    def questions(self) -> Questions:
        """Questions to the places of this schema, for one who goes on asking them."""
        return Questions(self._schema, self._judged)

    def accepts(self, value: object) -> bool:
        """Whether the value validates. Text without a UTF-8 form cannot be judged: it does not."""
        try:
            return self._accepts(value) and bool(written(value))
        except ValueError:
            return False

    def property_accepts(self, name: str, value: object) -> bool:
        """Whether the declared property `name` alone accepts the value, inside this document."""
        return self.place_accepts(pointer_of(name), value)

    def has_place(self, pointer: str) -> bool:
        """Whether a JSON pointer (`""` is the root) leads to a schema that can be asked."""
        return _views.at(self._schema, self._judged, pointer) is not None

    def place_accepts(self, pointer: str, value: object) -> bool:
        """Whether the schema at a JSON pointer accepts the value, inside this document."""
        try:
            view = _views.at(self._schema, self._judged, pointer)
            return view is not None and view(value) and bool(written(value))
        except ValueError:
            return False


def pointer_of(name: str) -> str:
    """Where a declared property of the arguments stands."""
    return "/properties/" + name.replace("~", "~0").replace("/", "~1")


def accepts(schema: object, value: object) -> bool:
    """One question to one schema; a schema that cannot be judged accepts nothing."""
    try:
        return Validator(schema).accepts(value)
    except Unjudgeable:
        return False
