"""Which repairs a declared schema permits: derivation and proof of the extended plans."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, structs

from fabricd.core.canonical import text, utf8
from fabricd.core.javascript import NumberOutOfRange, unit_length
from fabricd.core.model import Action
from fabricd.core.nesting import SCHEMA_LEVELS, value_deeper_than
from fabricd.core.normalform.extended.alternatives import TooLarge
from fabricd.core.normalform.extended.plan import MAX_REF, ExtendedPlan
from fabricd.core.normalform.extended.walk import Walk
from fabricd.core.plain import is_object
from fabricd.core.steps import Steps
from fabricd.core.validation import Unjudgeable, Validator

MAX_SCHEMA = 1024 * 1024


class ExtendedDerivation(Struct, frozen=True):
    """A plan, or the reason why there is none.

    The validator is there wherever the schema can be judged, the walk wherever there is a plan.
    """

    ref: str
    plan: ExtendedPlan | None = None
    reason: str | None = None
    validator: Validator | None = None
    walk: Walk | None = None


def derive_extended(ref: str, schema: object) -> ExtendedDerivation:
    """The plan of an action, or why it has none. Never raises."""
    if _is_large(schema):
        return ExtendedDerivation(ref, reason="the schema is larger than 1 MiB")
    try:
        validator = Validator(schema)
    except Unjudgeable as error:
        return ExtendedDerivation(ref, reason=str(error))
    if not ref or unit_length(ref) > MAX_REF or not is_object(schema):
        reason = "the ref is empty or longer than 1,024 units"
        return ExtendedDerivation(ref, reason=reason, validator=validator)
    try:
        walk = Walk(schema, validator)
    except TooLarge as error:
        return ExtendedDerivation(ref, reason=str(error), validator=validator)
    if not walk.rules:
        reason = "no convention applies to what it declares"
        return ExtendedDerivation(ref, reason=reason, validator=validator)
    plan = ExtendedPlan(2, ref, validator.digest, "extended", walk.rules)
    return ExtendedDerivation(ref, plan, validator=validator, walk=walk)


def _is_large(schema: object) -> bool:
    # What nests too deep or holds no double is refused with a reason of its own.
    if not is_object(schema) or value_deeper_than(schema, SCHEMA_LEVELS):
        return False
    try:
        return len(utf8(text(schema))) > MAX_SCHEMA
    except NumberOutOfRange:
        return False


def derive_extended_steps(actions: Iterable[Action]) -> Steps[list[ExtendedDerivation]]:
    """Derivations of actions in the order given, yielding after each: they go deep."""
    found: list[ExtendedDerivation] = []
    for action in actions:
        derived = derive_extended(action.ref, action.input_schema)
        # Validator and graph would be held for thousands of actions, and each is soon made again.
        found.append(structs.replace(derived, validator=None, walk=None))
        yield
    return found
