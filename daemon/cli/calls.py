"""The calls of `fabricd apply`: what a line holds, and what is repaired in it."""

from __future__ import annotations

import json
from collections import OrderedDict
from typing import Any

from msgspec import UNSET, Struct, UnsetType, to_builtins

from fabricd.core.documents import strict_json
from fabricd.core.model import Plan
from fabricd.core.nesting import RECORD_LEVELS
from fabricd.core.normalform.apply import Normalizer
from fabricd.core.normalform.derive import plan_of
from fabricd.core.normalform.extended.apply import ExtendedNormalizer
from fabricd.core.normalform.extended.plan import ExtendedPlan, extended_plan_of
from fabricd.core.plain import is_object

_BUILT = 256
_MEMBERS = frozenset({"ref", "tool", "schema", "args", "plan"})


class _Call(Struct, frozen=True):
    """A line. `plan` is UNSET where none was given, None where what was given is none."""

    ref: str
    schema: Any
    args: Any
    plan: ExtendedPlan | Plan | UnsetType | None


class Calls:
    """Repairs the calls of one run, and keeps the normalizers built last: lines repeat schemas."""

    def __init__(self, is_extended: bool) -> None:
        self._is_extended = is_extended
        self._built: OrderedDict[str, Normalizer | ExtendedNormalizer] = OrderedDict()

    def repaired(self, line: bytes | None) -> dict[str, Any]:
        """What `apply` prints for a line; None is one that was too long to read.

        Raises:
            ValueError: it is no call. The message says what was expected.
        """
        call = _call(line, self._is_extended)
        if call.plan is None:
            return _told(call.args, None)
        normalizer = self._of(call)
        if isinstance(normalizer, ExtendedNormalizer):
            repaired = normalizer.apply(call.args)
            return _told(repaired.args, normalizer.witness(call.args, repaired))
        applied = normalizer.apply(call.args)
        return _told(applied.args, normalizer.witness(call.args, applied))

    def _of(self, call: _Call) -> Normalizer | ExtendedNormalizer:
        """The normalizer of a call's action, under the plan given or its own."""
        # Not a digest of ours, which rounds integers to doubles: schemas may differ only there.
        key = json.dumps([call.ref, call.schema, to_builtins(call.plan) if call.plan else None])
        found = self._built.get(key)
        if found is None:
            found = self._built[key] = self._new(call)
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


def _told(args: object, witness: object) -> dict[str, Any]:
    return {"args": args, "witness": to_builtins(witness)}


def _call(line: bytes | None, is_extended: bool) -> _Call:
    if line is None:
        raise ValueError("longer than 32 MiB")
    call = strict_json(line, RECORD_LEVELS)
    if not is_object(call):
        raise ValueError("expected an object with ref, schema and args")
    if unknown := sorted(set(call) - _MEMBERS):
        known = "ref (or tool), schema, args and plan"
        raise ValueError(f"unknown member {unknown[0]!r}, expected {known}")
    ref = call.get("ref", call.get("tool"))
    if not isinstance(ref, str):
        raise ValueError("expected ref (or tool) to be a string")
    plan = _plan(call["plan"]) if "plan" in call else UNSET
    args = call.get("args")
    # The whole arguments as text are a mistake that only the extended conventions know.
    may_be_text = isinstance(plan, ExtendedPlan) or (is_extended and not isinstance(plan, Plan))
    if not is_object(args) and not (may_be_text and isinstance(args, str)):
        raise ValueError(f"expected args to be an object{' or its text' * may_be_text}")
    is_other = isinstance(plan, (Plan, ExtendedPlan)) and plan.ref != ref
    return _Call(ref, call.get("schema"), args, None if is_other else plan)


def _plan(value: object) -> ExtendedPlan | Plan | None:
    return plan_of(value) or extended_plan_of(value)
