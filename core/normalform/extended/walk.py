"""The walk of a schema: which repairs each value of a call allows, and the rules they rest on.

Schema and value are descended together, so what is found here is a graph: a recursive schema leads
back to nodes that are there already, and a call follows it as deep as its value goes.
"""

from __future__ import annotations

from typing import Any

from fabricd.core.javascript import sorted_by_units
from fabricd.core.normalform.extended.alternatives import (
    Alternative,
    Alternatives,
    Flattening,
    Place,
    TooLarge,
)
from fabricd.core.normalform.extended.plan import MAX_RULES, ExtendedKind, ExtendedRule
from fabricd.core.normalform.extended.references import References, step
from fabricd.core.normalform.forms import unique_forms
from fabricd.core.plain import is_list, is_object
from fabricd.core.validation import Validator
from fabricd.core.weight import weighed

MAX_DEPTH = 32

_CONDITIONS = ("patternProperties", "if", "not", "allOf", "dependencies")


class Slot:
    """One place of a call. `at` is the pointer of the schema that judges its value.

    What a text may be read as comes with the rules that permit it, by their number in the plan.
    `texts` tells whether any text may be right as it is.
    """

    __slots__ = (
        "array",
        "at",
        "booleans",
        "containers",
        "enums",
        "numbers",
        "object",
        "reads",
        "texts",
    )

    def __init__(self, at: str) -> None:
        self.at = at
        self.numbers: list[int] = []
        self.booleans: list[int] = []
        self.containers: list[int] = []
        self.enums: list[tuple[int, dict[str, str]]] = []
        self.reads = False
        self.texts = True
        self.object: ObjectNode | None = None
        self.array: ArrayNode | None = None


class ObjectNode:
    """An object schema with declared properties; `slots` are in the order of the plan."""

    __slots__ = ("declared", "forms", "slots")

    def __init__(self, declared: dict[str, Any]) -> None:
        self.declared = declared
        # Form → property and rule. Empty where an undeclared name is none of a mistake.
        self.forms: dict[str, tuple[str, int]] = {}
        # With the rule that a null is dropped by.
        self.slots: list[tuple[str, Slot, int | None]] = []


class ArrayNode:
    """An array schema: a slot for each of the first items, and one for all others."""

    __slots__ = ("first", "rest")

    def __init__(self) -> None:
        self.first: list[Slot] = []
        self.rest: Slot | None = None


class Walk:
    """Walks one schema, depth first, properties in code-unit order."""

    def __init__(self, schema: dict[str, Any], validator: Validator) -> None:
        """Walk it.

        Raises:
            TooLarge: more than 4,096 rules, or more than 32 levels of values.
        """
        self._validator = validator
        self._flattening = Flattening(References(schema, validator.draft), validator.draft)
        # What takes a validator hours is never asked, and so permits nothing.
        self._is_heavy = weighed(schema)
        self._numbers: dict[ExtendedRule, int] = {}
        self._slots: dict[str, Slot] = {}
        self._objects: dict[str, ObjectNode] = {}
        self._arrays: dict[str, ArrayNode] = {}
        self.root = self._slot("", schema, self._flattening.of("", schema), 0)

    @property
    def rules(self) -> tuple[ExtendedRule, ...]:
        """The rules in the order of the plan."""
        return tuple(self._numbers)

    def _rule(self, kind: ExtendedKind, at: str) -> int:
        number = self._numbers.setdefault(ExtendedRule(kind, at), len(self._numbers))
        if number >= MAX_RULES:
            raise TooLarge(f"it yields more than {MAX_RULES:,} rules")
        return number

    def _slot_of(self, at: str, schema: object, depth: int) -> Slot:
        known = self._slots.get(at)
        if known is not None:
            return known
        return self._slot(at, schema, self._flattening.of(at, schema), depth)

    def _slot(self, at: str, schema: object, found: Alternatives, depth: int) -> Slot:
        slot = self._slots[at] = Slot(at)
        if depth > MAX_DEPTH:
            raise TooLarge(f"its values nest more than {MAX_DEPTH} levels deep")
        objects, arrays = found.holder("object"), found.holder("array")
        reads = found.reads_texts and not self._is_heavy(schema)
        for branch in found.branches:
            if reads:
                self._read(slot, branch)
            self._descend(slot, branch.place.at, objects, arrays, depth)
        # A union and the schema beside whose members it stands are not always both branches.
        for holder in (objects, arrays):
            if holder is not None:
                self._descend(slot, holder.at, objects, arrays, depth)
        slot.texts = found.admits("string")
        slot.reads = bool(slot.numbers or slot.booleans or slot.containers or slot.enums)
        return slot

    def _read(self, slot: Slot, branch: Alternative) -> None:
        at, kinds = branch.place.at, branch.kinds
        if "number" in kinds:
            slot.numbers.append(self._rule("numeric-string", at))
        if "boolean" in kinds:
            slot.booleans.append(self._rule("boolean-string", at))
        if "array" in kinds or "object" in kinds:
            slot.containers.append(self._rule("json-container", at))
        if "string" in kinds and (forms := unique_forms(branch.members or ())):
            slot.enums.append((self._rule("enum-form", at), forms))

    def _descend(
        self, slot: Slot, at: str, objects: Place | None, arrays: Place | None, depth: int
    ) -> None:
        if objects is not None and objects.at == at:
            slot.object = self._object(objects, depth + 1)
        if arrays is not None and arrays.at == at:
            slot.array = self._array(arrays, depth + 1)

    def _object(self, place: Place, depth: int) -> ObjectNode | None:
        declared = place.schema.get("properties")
        if not is_object(declared):
            return None
        known = self._objects.get(place.at)
        if known is not None:
            return known
        node = self._objects[place.at] = ObjectNode(declared)
        forms = {name: shape for shape, name in unique_forms(declared).items()}
        is_closed = _is_closed(place.schema)
        required = place.schema.get("required")
        needed = {name for name in required if isinstance(name, str)} if is_list(required) else ()
        for name in sorted_by_units(declared):
            self._property(
                node,
                step(place.at, "properties", name),
                name,
                forms.get(name) if is_closed else None,
                name in needed,
                depth,
            )
        return node

    def _property(
        self, node: ObjectNode, at: str, name: str, shape: str | None, is_needed: bool, depth: int
    ) -> None:
        declared = node.declared[name]
        if declared is False:
            return
        if shape is not None:
            node.forms[shape] = (name, self._rule("key-form", at))
        found = self._flattening.of(at, declared)
        drops = not is_needed and self._rejects_null(at, declared, found)
        dropped = self._rule("optional-null", at) if drops else None
        slot = self._slots.get(at) or self._slot(at, declared, found, depth)
        node.slots.append((name, slot, dropped))

    def _rejects_null(self, at: str, schema: object, found: Alternatives) -> bool:
        if found.branches and not found.admits("null"):
            return True
        if self._is_heavy(schema) or not self._validator.has_place(at):
            return False
        return not self._validator.place_accepts(at, None)

    def _array(self, place: Place, depth: int) -> ArrayNode | None:
        schema = place.schema
        if self._validator.draft == 2020:
            first, word, rest = schema.get("prefixItems"), "items", schema.get("items")
            tuple_at = step(place.at, "prefixItems")
        elif is_list(schema.get("items")):
            first, word, rest = schema["items"], "additionalItems", schema.get("additionalItems")
            tuple_at = step(place.at, "items")
        else:
            first, word, rest, tuple_at = None, "items", schema.get("items"), ""
        if not is_list(first) and not is_object(rest):
            return None
        known = self._arrays.get(place.at)
        if known is not None:
            return known
        node = self._arrays[place.at] = ArrayNode()
        for index, item in enumerate(first if is_list(first) else ()):
            node.first.append(self._slot_of(step(tuple_at, index), item, depth))
        if is_object(rest):
            node.rest = self._slot_of(step(place.at, word), rest, depth)
        return node


def _is_closed(schema: dict[str, Any]) -> bool:
    """Whether an undeclared name is never right here, whatever the other values are."""
    if schema.get("additionalProperties") is not False:
        return False
    return not any(word in _CONDITIONS or word.startswith("dependent") for word in schema)
