"""The calls of `fabricd apply`: what a line holds, and what is repaired in it."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from msgspec import UNSET, Struct, UnsetType, to_builtins

from fabricd.core.documents import strict_json
from fabricd.core.jsontext.members import Member, NotRead, members, skip, value_of
from fabricd.core.model import Plan
from fabricd.core.nesting import RECORD_LEVELS, TooDeep, require_depth
from fabricd.core.normalform.apply import Normalizer
from fabricd.core.normalform.derive import plan_of
from fabricd.core.normalform.edits import classic_edits
from fabricd.core.normalform.extended.apply import ExtendedNormalizer
from fabricd.core.normalform.extended.plan import ExtendedPlan, extended_plan_of
from fabricd.core.normalform.extended.repaired import Edit
from fabricd.core.normalform.splicing import spliced
from fabricd.core.plain import is_object

_BUILT = 256
_MEMBERS = frozenset({"ref", "tool", "schema", "args", "plan"})
_BOM = b"\xef\xbb\xbf"

# The edits of a repair, and its witness for when they could be made.
_Repair: TypeAlias = tuple[Sequence[Edit], Callable[[], object]]


class _Call(Struct, frozen=True):
    """A line.

    Attributes:
        plan: UNSET where none was given, None where what was given is none.
        text: of the arguments, as it stands in the line.
        key: the texts that its normalizer depends on.
    """

    ref: str
    schema: Any
    args: Any
    plan: ExtendedPlan | Plan | UnsetType | None
    text: bytes
    key: tuple[str, bytes, bytes]


class Calls:
    """Repairs the calls of one run, and keeps the normalizers built last: lines repeat schemas."""

    def __init__(self, is_extended: bool) -> None:
        self._is_extended = is_extended
        self._built: OrderedDict[tuple[str, bytes, bytes], Normalizer | ExtendedNormalizer] = (
            OrderedDict()
        )

    def repaired(self, line: bytes | None) -> bytes:
        """What `apply` prints for a line; None is one that was too long to read.

        What is not repaired keeps the characters it was written with, numbers above all.

        Raises:
            ValueError: it is no call. The message says what was expected.
        """
        call = _call(line, self._is_extended)
        repair = None if call.plan is None else self._repair(call)
        if repair is None:
            return _told(call.text, None)
        edits, witness = repair
        try:
            return _told(spliced(call.text, (0, len(call.text)), edits), witness())
        except NotRead:
            # A name stands twice in them: nobody can say which of the two was meant.
            return _told(call.text, None)

    def _repair(self, call: _Call) -> _Repair | None:
        normalizer = self._of(call)
        if isinstance(normalizer, ExtendedNormalizer):
            repaired = normalizer.apply(call.args)
            if not repaired.changed:
                return None
            return repaired.edits, lambda: normalizer.witness(call.args, repaired)
        applied = normalizer.apply(call.args)
        if not applied.changed:
            return None
        edits = classic_edits(call.args, applied.args)
        return edits, lambda: normalizer.witness(call.args, applied)

    def _of(self, call: _Call) -> Normalizer | ExtendedNormalizer:
        """The normalizer of a call's action, under the plan given or its own."""
        found = self._built.get(call.key)
        if found is None:
            found = self._built[call.key] = self._new(call)
            if len(self._built) > _BUILT:
                self._built.popitem(last=False)
        return found

    def _new(self, call: _Call) -> Normalizer | ExtendedNormalizer:
        match call.plan:
            case ExtendedPlan() as plan:
                return ExtendedNormalizer(call.ref, call.schema, plan)
            case Plan() as plan:
                return Normalizer(call.ref, call.schema, plan)
            case _ if self._is_extended:
                return ExtendedNormalizer(call.ref, call.schema)
            case _:
                return Normalizer(call.ref, call.schema)


def _told(args: bytes, witness: object) -> bytes:
    text = json.dumps(to_builtins(witness), ensure_ascii=False, separators=(",", ":"))
    return b'{"args":%b,"witness":%b}' % (args, text.encode("utf-8", "backslashreplace"))


def _call(line: bytes | None, is_extended: bool) -> _Call:
    if line is None:
        raise ValueError("longer than 32 MiB")
    texts, call = _read(line.removeprefix(_BOM))
    if unknown := sorted(call.keys() - _MEMBERS):
        known = "ref (or tool), schema, args and plan"
        raise ValueError(f"unknown member {unknown[0]!r}, expected {known}")
    ref = call.get("ref", call.get("tool"))
    if not isinstance(ref, str):
        raise ValueError("expected ref (or tool) to be a string")
    if "schema" not in call:
        raise ValueError("expected schema, what the tool declares of its arguments")
    plan = _plan(call["plan"]) if "plan" in call else UNSET
    args = call.get("args")
    # The whole arguments as text are a mistake that only the extended conventions know.
    may_be_text = isinstance(plan, ExtendedPlan) or (is_extended and not isinstance(plan, Plan))
    if not is_object(args) and not (may_be_text and isinstance(args, str)):
        raise ValueError(f"expected args to be an object{' or its text' * may_be_text}")
    is_other = isinstance(plan, (Plan, ExtendedPlan)) and plan.ref != ref
    # The texts and not a digest of ours, which rounds integers to doubles.
    key = (ref, texts["schema"], texts.get("plan", b""))
    return _Call(ref, call["schema"], args, None if is_other else plan, texts["args"], key)


def _read(line: bytes) -> tuple[dict[str, bytes], dict[str, Any]]:
    """The members of a line, as they are written and as values.

    Raises:
        ValueError: it is no object, or a member stands twice.
    """
    texts: dict[str, bytes] = {}
    values: dict[str, Any] = {}
    try:
        for member in _members(line):
            if member.name in texts:
                break
            raw = texts[member.name] = line[member.start : member.end]
            values[member.name] = member.value if raw.isascii() else value_of(raw)
        else:
            return texts, values
    except (NotRead, TooDeep):
        # This reader knows better what is wrong, and where.
        if not is_object(strict_json(line, RECORD_LEVELS)):
            raise ValueError("expected an object with ref, schema and args") from None
        raise
    raise ValueError(f"{member.name!r} stands twice")


def _members(line: bytes) -> list[Member]:
    require_depth(line, RECORD_LEVELS)
    text = line.decode("latin-1")
    found, end = members(text, skip(text, 0))
    if skip(text, end) != len(text):
        raise NotRead("text behind the end")
    return found


def _plan(value: object) -> ExtendedPlan | Plan | None:
    return plan_of(value) or extended_plan_of(value)
