"""Arguments without what a person may have written: keys, numbers, booleans, nulls, enum members.

Free text becomes the empty text, so that a call keeps its shape; names that no schema declares
become `*`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from fabricd.core.plain import MAX_SAFE_INTEGER, is_list, is_object

_LEVELS = 14
_ITEMS = 100
_KEYS = 100
_SCHEMAS = 64
_NODES = 4096
_STRANGE = "*"
_BRANCHES = ("anyOf", "oneOf", "allOf")
_LEADING = frozenset(("$ref", *_BRANCHES))


class Projection:
    """Projects the arguments of one tool; counts what it left out."""

    def __init__(self, schema: object) -> None:
        self._root = schema
        self._left = _NODES
        self.dropped = 0
        self.truncated = 0

    def of(self, args: object) -> dict[str, Any]:
        """Arguments as they may be kept; those that are no object have no members."""
        if not is_object(args):
            self.dropped += args is not None
            return {}
        found: dict[str, Any] = self._object(args, [self._root], 1)
        return found

    def _value(self, value: object, schemas: list[object], level: int) -> Any:
        if isinstance(value, str):
            return self._text(value, schemas)
        if is_object(value):
            return self._object(value, schemas, level) if level <= _LEVELS else self._cut({})
        if is_list(value):
            return self._array(value, schemas, level) if level <= _LEVELS else self._cut([])
        if isinstance(value, int) and not -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
            return float(value)
        return value

    def _cut(self, empty: Any) -> Any:
        self.truncated += 1
        return empty

    def _text(self, text: str, schemas: list[object]) -> str:
        for schema in self._flat(schemas):
            members = schema.get("enum")
            if (is_list(members) and text in members) or schema.get("const") == text:
                return text
        self.dropped += 1
        return ""

    def _object(self, value: dict[str, Any], schemas: list[object], level: int) -> dict[str, Any]:
        declared = [
            schema["properties"]
            for schema in self._flat(schemas)
            if is_object(schema.get("properties"))
        ]
        found: dict[str, Any] = {}
        for key, member in value.items():
            self._left -= 1
            if len(found) >= _KEYS or self._left < 0:
                self.truncated += 1
                break
            below: list[object] = [each[key] for each in declared if key in each]
            if below:
                found[key] = self._value(member, below, level + 1)
            elif _STRANGE in found:
                self.dropped += 1
            else:
                found[_STRANGE] = self._value(member, [], level + 1)
        return found

    def _array(self, value: list[Any], schemas: list[object], level: int) -> list[Any]:
        shown = value[: max(0, min(_ITEMS, self._left))]
        self._left -= len(shown)
        self.truncated += len(value) > len(shown)
        flat = list(self._flat(schemas))
        return [
            self._value(item, list(_of_item(flat, index)), level + 1)
            for index, item in enumerate(shown)
        ]

    def _flat(self, schemas: list[object]) -> Iterable[dict[str, Any]]:
        """The schemas that speak of one value: behind references, in unions and intersections."""
        if len(schemas) == 1 and is_object(only := schemas[0]) and _LEADING.isdisjoint(only):
            # Most of them: a record is made while the next call may be on its way.
            return (only,)
        return self._followed(schemas)

    def _followed(self, schemas: list[object]) -> Iterator[dict[str, Any]]:
        pending, seen = list(schemas), 0
        while pending and seen < _SCHEMAS:
            schema = pending.pop(0)
            seen += 1
            if not is_object(schema):
                continue
            yield schema
            if isinstance(reference := schema.get("$ref"), str):
                pending.append(self._at(reference))
            for name in _BRANCHES:
                if is_list(branches := schema.get(name)):
                    pending += branches

    def _at(self, reference: str) -> object:
        if not reference.startswith("#"):
            return None
        return at_pointer(self._root, reference[1:])


def _of_item(schemas: list[dict[str, Any]], index: int) -> Iterator[object]:
    for schema in schemas:
        for name in ("items", "prefixItems"):
            found = schema.get(name)
            if is_list(found):
                if index < len(found):
                    yield found[index]
            elif found is not None:
                yield found


def at_pointer(root: object, pointer: str) -> object:
    """What stands at a JSON pointer, or None."""
    value = root
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if is_object(value):
            value = value.get(name)
        elif is_list(value) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    return value
