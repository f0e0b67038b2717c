"""How often a schema asks about one value: references may double that at every step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import unquote

from fabricd.core.plain import is_list, is_object

LIMIT = 10_000

_ONE = ("not", "if", "then", "else")
_MANY = ("allOf", "anyOf", "oneOf")
_NAMED = ("dependentSchemas", "dependencies")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_NAMES = ("$id", "id", "$anchor", "$dynamicAnchor")


def is_too_heavy(schema: dict[str, Any]) -> bool:
    """Whether the root, or a property of it, has more than 10,000 schemas judge one value.

    Of a chain of definitions, each of which names the next one twice, every step doubles the work:
    forty take a validator hours for a single number. What lies deeper in a value is judged only
    where a call holds such a value, and is not counted.
    """
    if not _refers(schema):
        return False
    weights = _Weights(schema)
    properties = schema.get("properties")
    inner = properties.values() if is_object(properties) else ()
    return any(weights.of(part) > LIMIT for part in (schema, *inner))


def weighed(schema: dict[str, Any]) -> Callable[[object], bool]:
    """The same question about any part of a schema."""
    if not _refers(schema):
        return lambda part: False
    weights = _Weights(schema)
    return lambda part: weights.of(part) > LIMIT


def _refers(schema: dict[str, Any]) -> bool:
    return any(key in part for part in _objects(schema) for key in _REFERENCES)


def _objects(value: object) -> Iterator[dict[str, Any]]:
    """Every object in a document, itself included; without recursion."""
    pending = [value]
    while pending:
        found = pending.pop()
        if is_object(found):
            yield found
            pending.extend(found.values())
        elif is_list(found):
            pending.extend(found)


class _Frame:
    """A schema whose parts are being weighed."""

    def __init__(self, schema: dict[str, Any], parts: Iterator[object]) -> None:
        self.schema = schema
        self.parts = parts
        self.weight = 1


class _Weights:
    """The weights of a document's schemas, each computed once."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._known: dict[int, int] = {}
        self._named = {
            name: part
            for part in _objects(root)
            for key in _NAMES
            if isinstance(name := part.get(key), str)
        }

    def of(self, schema: object) -> int:
        """How many schemas judge a value where this one does; beyond the limit, some number."""
        # Without recursion: a chain of references may be as long as the document.
        frames: list[_Frame] = []
        weight = self._begun(schema, frames)
        while frames:
            top = frames[-1]
            top.weight = min(top.weight + weight, LIMIT + 1)
            weight = 0
            try:
                weight = self._begun(next(top.parts), frames)
            except StopIteration:
                frames.pop()
                weight = self._known[id(top.schema)] = top.weight
        return weight

    def _begun(self, schema: object, frames: list[_Frame]) -> int:
        """The weight of a schema where it is known; else 0, and its frame is the next one."""
        if not is_object(schema):
            return 1
        known = self._known.get(id(schema))
        if known is not None:
            return known
        # A reference back to what is being weighed ends there: the validator sees that too.
        self._known[id(schema)] = 1
        frames.append(_Frame(schema, self._in_place(schema)))
        return 0

    def _in_place(self, schema: dict[str, Any]) -> Iterator[object]:
        """The schemas that judge the same value as this one does."""
        for key in _ONE:
            if key in schema:
                yield schema[key]
        for key in _MANY:
            if is_list(found := schema.get(key)):
                yield from found
        for key in _NAMED:
            if is_object(found := schema.get(key)):
                yield from found.values()
        for key in _REFERENCES:
            if isinstance(found := schema.get(key), str):
                yield self._target(found)

    def _target(self, reference: str) -> object:
        before, _, fragment = reference.partition("#")
        base = self._named.get(before, self._root) if before else self._root
        if not fragment.startswith("/"):
            return self._named.get(fragment, base) if fragment else base
        found: Any = base
        for token in fragment[1:].split("/"):
            name = unquote(token).replace("~1", "/").replace("~0", "~")
            if is_object(found):
                found = found.get(name)
            elif is_list(found) and name.isdigit() and len(name) < 9 and int(name) < len(found):
                found = found[int(name)]
            else:
                return None
        return found
