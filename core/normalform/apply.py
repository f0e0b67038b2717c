"""Application: one call through a proven plan, all or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from fabricd.core.entropy.fingerprint import shape_digest
from fabricd.core.javascript import sorted_by_units
from fabricd.core.model import Plan, Rule, Witness
from fabricd.core.normalform.derive import Derivation, derive_with, enum_forms, refused_schema
from fabricd.core.normalform.forms import form, number_of
from fabricd.core.plain import is_object
from fabricd.core.validation import Questions, Unjudgeable, Validator, pointer_of


class Applied(Struct, frozen=True, gc=False):
    """The arguments to use. Without rules they are the very object that came in."""

    args: Mapping[str, Any]
    rules: tuple[Rule, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether anything was repaired."""
        return bool(self.rules)


class Normalizer:
    """One action's proven plan, built once and applied many times.

    `plan` is None where nothing may be repaired; `reason` then says why.
    """

    def __init__(self, ref: str, schema: object, plan: Plan | None = None) -> None:
        """Derive the action's plan and, where one is given, demand that it is the same."""
        self.ref = ref
        self.schema = schema
        self.reason = refused_schema(ref, schema)
        self.plan: Plan | None = None
        self._validator: Validator | None = None
        self._key_forms: dict[str, str] = {}
        self._value_rules: tuple[tuple[str, bool, Rule], ...] = ()
        self._questions: Questions | None = None
        if self.reason is None and is_object(schema):
            self._prepare(schema, plan)

    def _prepare(self, schema: dict[str, Any], given: Plan | None) -> None:
        try:
            self._validator = Validator(schema)
        except Unjudgeable as error:
            self.reason = str(error)
            return
        derived: Derivation = derive_with(self.ref, schema, self._validator)
        self.reason = derived.reason
        if derived.plan is None:
            return
        if given is not None and given != derived.plan:
            self.reason = "the plan is not what the live schema derives"
            return
        self.plan = derived.plan
        self._questions = self._validator.questions()
        rules = derived.plan.rules
        keys = [rule.key for rule in rules if rule.kind == "key-form"]
        self._key_forms = {shape: key for key in keys if (shape := form(key)) is not None}
        self._value_rules = tuple(
            (rule.key, rule.kind == "optional-null", rule)
            for rule in rules
            if rule.kind != "key-form"
        )
        self._declared: dict[str, Any] = schema["properties"]
        enums = [rule.key for rule in rules if rule.kind == "enum-form"]
        self._members = {key: enum_forms(self._declared[key]) for key in enums}

    def accepts(self, args: Mapping[str, Any]) -> bool:
        """Whether the declared schema accepts the arguments as they are."""
        return self._validator is not None and self._validator.accepts(args)

    def apply(self, args: dict[str, Any]) -> Applied:
        """Repair a call, or give its arguments back untouched."""
        if self.plan is None or self._validator is None or self._validator.accepts(args):
            return Applied(args)
        if self._questions is None:
            return Applied(args)
        candidate = dict(args)
        applied: list[Rule] = []
        if not self._rename(args, candidate, applied):
            return Applied(args)
        for key, removes_null, rule in self._value_rules:
            # Most values are nothing that their rule could repair, and to ask a schema costs more.
            if key not in candidate:
                continue
            value = candidate[key]
            if removes_null:
                if value is None:
                    # The rule exists because the property rejects null: there is nothing to ask.
                    del candidate[key]
                    applied.append(rule)
            elif isinstance(value, str):
                self._repair(rule, candidate, applied, self._questions)
        if applied and self._validator.accepts(candidate):
            return Applied(candidate, tuple(applied))
        return Applied(args)

    def _rename(
        self, args: Mapping[str, Any], candidate: dict[str, Any], applied: list[Rule]
    ) -> bool:
        """Move undeclared names to the declared ones they spell; False refuses the whole call."""
        strange = [name for name in args if name not in self._declared]
        for name in sorted_by_units(strange):
            shape = form(name)
            target = None if shape is None else self._key_forms.get(shape)
            if target is None:
                continue
            if target in args or target in candidate:
                return False
            candidate[target] = candidate.pop(name)
            applied.append(Rule("key-form", target))
        return True

    def _repair(
        self, rule: Rule, candidate: dict[str, Any], applied: list[Rule], questions: Questions
    ) -> None:
        key = rule.key
        value = candidate[key]
        at = pointer_of(key)
        if questions.accepts(at, value):
            return
        if rule.kind == "numeric-string":
            better: object = number_of(value)
        else:
            better = self._member(key, value)
        if better is not None and questions.accepts(at, better):
            candidate[key] = better
            applied.append(rule)

    def _member(self, key: str, value: str) -> str | None:
        shape = form(value)
        return None if shape is None else self._members[key].get(shape)

    def witness(self, before: Mapping[str, Any], applied: Applied) -> Witness | None:
        """What the repair leaves behind; None where nothing was changed."""
        if self.plan is None or not applied.changed:
            return None
        return Witness(
            1,
            self.plan.base_schema_digest,
            shape_digest(before),
            shape_digest(applied.args),
            applied.rules,
        )
