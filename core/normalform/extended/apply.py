"""Application: one call through a proven plan, all or nothing."""

from __future__ import annotations

from functools import lru_cache

from fabricd.core.canonical import digest, string_text
from fabricd.core.entropy.fingerprint import signature
from fabricd.core.normalform.extended.derive import derive_extended
from fabricd.core.normalform.extended.edited import Refused, Sent
from fabricd.core.normalform.extended.plan import CountedRule, ExtendedPlan, ExtendedWitness
from fabricd.core.normalform.extended.repaired import Edit, Repaired
from fabricd.core.normalform.extended.texts import boolean_of, container_of, exact_number_of
from fabricd.core.normalform.extended.walk import ArrayNode, ObjectNode, Slot, Walk
from fabricd.core.normalform.forms import form
from fabricd.core.plain import is_list, is_object
from fabricd.core.validation import Questions

_SHORT = 1024


class ExtendedNormalizer:
    """One action's proven plan, built once and applied many times, by any number of threads.

    `plan` is None where nothing may be repaired; `reason` then says why.
    """

    def __init__(self, ref: str, schema: object, plan: ExtendedPlan | None = None) -> None:
        """Derive the action's plan and, where one is given, demand that it is the same."""
        self.ref = ref
        self.schema = schema
        derived = derive_extended(ref, schema)
        self.reason = derived.reason
        self.plan = derived.plan
        self._validator = derived.validator
        self._walk = derived.walk
        # Held, so that a repair costs the same however many other schemas are asked meanwhile. No
        # more of them are asked than there are places of the plan.
        self._questions = None if self._validator is None else self._validator.questions()
        if plan is not None and derived.plan is not None and plan != derived.plan:
            self.plan = None
            self.reason = "the plan is not what the live schema derives"

    def accepts(self, args: object) -> bool:
        """Whether the declared schema accepts the arguments as they are."""
        return self._validator is not None and self._validator.accepts(args)

    def apply(self, args: object) -> Repaired:
        """Repair a call, or give its arguments back untouched.

        Arguments are plain JSON values, or the text of the whole arguments object.
        """
        validator = self._validator
        if validator is None or validator.accepts(args):
            return Repaired(args)
        return self.repair(args)

    def repair(self, args: object) -> Repaired:
        """As `apply`, of arguments that the schema is known to reject."""
        validator, walk, questions = self._validator, self._walk, self._questions
        if validator is None or walk is None or questions is None or self.plan is None:
            return Repaired(args)
        repair = _Repair(self.plan, walk, questions)
        try:
            candidate = repair.of(args)
        except Refused:
            return Repaired(args)
        if not repair.counts or not validator.accepts(candidate):
            return Repaired(args)
        return Repaired(candidate, repair.rules(), tuple(repair.edits))

    def witness(self, before: object, repaired: Repaired) -> ExtendedWitness | None:
        """What the repair leaves behind; None where nothing was changed."""
        if self.plan is None or not repaired.changed:
            return None
        return ExtendedWitness(
            2,
            self.plan.base_schema_digest,
            _shape_digest(before),
            _shape_digest(repaired.args),
            repaired.rules,
        )


def _shape_digest(args: object) -> str:
    shape = signature(args) if is_object(args) else "arr" if is_list(args) else "str"
    # Calls come in few shapes, but a shape may be as long as its names are.
    return _known_digest(shape) if len(shape) <= _SHORT else digest(shape)


@lru_cache(maxsize=1024)
def _known_digest(shape: str) -> str:
    return digest(shape)


class _Repair:
    """The repair of one call: what was changed so far, and by which rules."""

    __slots__ = ("_plan", "_questions", "_walk", "counts", "edits")

    def __init__(self, plan: ExtendedPlan, walk: Walk, questions: Questions) -> None:
        self._plan = plan
        self._walk = walk
        self._questions = questions
        self.counts: dict[int, int] = {}
        self.edits: list[Edit] = []

    def rules(self) -> tuple[CountedRule, ...]:
        """The rules that were applied, in the order of the plan."""
        found: list[CountedRule] = []
        for number in sorted(self.counts):
            rule = self._plan.rules[number]
            found.append(CountedRule(rule.kind, rule.at, self.counts[number]))
        return tuple(found)

    def _count(self, number: int) -> None:
        self.counts[number] = self.counts.get(number, 0) + 1

    def of(self, args: object) -> object:
        """The candidate.

        Raises:
            Refused: two names are one, so nothing in the call may change.
        """
        root = self._walk.root
        if isinstance(args, str):
            read = self._read(root, args)
            if read is None:
                return args
            self.edits.append(Edit((), "replace", read[1]))
            return read[0]
        if not isinstance(args, (dict, list)):
            return args
        top = Sent(args)
        # Nothing recurses: a call may nest deeper than the interpreter likes.
        pending: list[tuple[Slot, Sent]] = [(root, top)]
        while pending:
            slot, sent = pending.pop()
            deeper: list[tuple[Slot, Sent]] = []
            if is_object(sent.value):
                if slot.object is not None:
                    self._object(slot.object, sent, sent.value, deeper)
            elif slot.array is not None:
                self._array(slot.array, sent, deeper)
            pending.extend(reversed(deeper))
        return top.now

    def _object(
        self,
        node: ObjectNode,
        sent: Sent,
        value: dict[str, object],
        deeper: list[tuple[Slot, Sent]],
    ) -> None:
        spelt = self._rename(node, sent, value) if node.forms else {}
        for name, slot, dropped in node.slots:
            key = spelt.get(name, name)
            if key not in value:
                continue
            member = value[key]
            if member is None and dropped is not None:
                self._count(dropped)
                self.edits.append(Edit(sent.path(key), "drop", ""))
                sent.drop(name)
                continue
            if key != name:
                self.edits.append(Edit(sent.path(key), "rename", name))
            self._value(slot, sent, name, key, member, deeper)

    def _rename(self, node: ObjectNode, sent: Sent, value: dict[str, object]) -> dict[str, str]:
        """Move undeclared names to the declared ones they spell; gives declared → spelt."""
        spelt: dict[str, str] = {}
        for key in value:
            if key in node.declared:
                continue
            shape = form(key)
            target = None if shape is None else node.forms.get(shape)
            if target is None:
                continue
            name, number = target
            if name in value or name in spelt:
                raise Refused
            spelt[name] = key
            self._count(number)
        if spelt:
            sent.rename({key: name for name, key in spelt.items()})
        return spelt

    def _array(self, node: ArrayNode, sent: Sent, deeper: list[tuple[Slot, Sent]]) -> None:
        first = len(node.first)
        for index, item in enumerate(sent.value):
            slot = node.first[index] if index < first else node.rest
            if slot is not None:
                self._value(slot, sent, index, index, item, deeper)

    def _value(
        self,
        slot: Slot,
        sent: Sent,
        place: str | int,
        key: str | int,
        value: object,
        deeper: list[tuple[Slot, Sent]],
    ) -> None:
        if isinstance(value, str):
            read = self._read(slot, value) if slot.reads else None
            if read is not None:
                sent.put(place, read[0])
                self.edits.append(Edit(sent.path(key), "replace", read[1]))
        elif is_object(value):
            if slot.object is not None:
                deeper.append((slot, Sent(value, sent, place, key)))
        elif is_list(value) and slot.array is not None:
            deeper.append((slot, Sent(value, sent, place, key)))

    def _read(self, slot: Slot, text: str) -> tuple[object, str] | None:
        """The one value that a text stands for here, and its JSON text."""
        if slot.texts and self._questions.accepts(slot.at, text):
            return None
        found: list[tuple[object, str, list[int]]] = []
        if slot.numbers:
            self._try(slot, found, exact_number_of(text), text, slot.numbers)
        if slot.booleans:
            self._try(slot, found, boolean_of(text), text.lower(), slot.booleans)
        if slot.containers:
            self._try(slot, found, container_of(text), text, slot.containers)
        if slot.enums and (shape := form(text)) is not None:
            for member, numbers in _members(slot, shape).items():
                self._try(slot, found, member, string_text(member), numbers)
        if len(found) != 1:
            return None
        value, spelling, numbers = found[0]
        self._count(self._resting(numbers, value))
        return value, spelling

    def _try(
        self,
        slot: Slot,
        found: list[tuple[object, str, list[int]]],
        value: object,
        spelling: str,
        numbers: list[int],
    ) -> None:
        if value is not None and self._questions.accepts(slot.at, value):
            found.append((value, spelling, numbers))

    def _resting(self, numbers: list[int], value: object) -> int:
        """Of the rules that read a text alike, the one whose own schema accepts the value."""
        if len(numbers) > 1:
            for number in numbers:
                if self._questions.accepts(self._plan.rules[number].at, value):
                    return number
        return numbers[0]


def _members(slot: Slot, shape: str) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for number, forms in slot.enums:
        if (member := forms.get(shape)) is not None:
            found.setdefault(member, []).append(number)
    return found
