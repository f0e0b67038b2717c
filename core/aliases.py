"""Aliases: how a row of the repairs table is learned from a refused call, and what it rests on.

A row is learned where one name alone stands between a refused call and the live surface, and where
exactly one declared name is spelled like it. It is learned for closed objects only: there a call
with the other spelling is refused, whatever else it says, so that no alias ever changes an
accepted call.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fabricd.core.evidence import RefTally
from fabricd.core.javascript import trim, unit_length
from fabricd.core.model import AuditCall, Surface
from fabricd.core.normalform.derive import MAX_REF
from fabricd.core.normalform.forms import form, unique_forms
from fabricd.core.plain import is_object
from fabricd.core.repairs import ActionAlias, KeyAlias, Row
from fabricd.core.sessions.trace import is_safe_key
from fabricd.core.steps import REPLAYS, Steps
from fabricd.core.validation import Unjudgeable, Validator

UNRESOLVED = "resolve"
# Beside these, `additionalProperties: false` does not refuse every undeclared name.
_OPENING = ("patternProperties", "$ref", "$dynamicRef", "$recursiveRef")


def _speaks_for_itself(name: str) -> bool:
    """Whether a name may stand in a row: bounded, spelled in plain words, unchanged by trimming."""
    return is_safe_key(name) and form(name) is not None and trim(name) == name


def _is_owner(name: str) -> bool:
    return 0 < unit_length(name) <= MAX_REF and trim(name) == name


def _closed_properties(schema: object) -> Mapping[str, Any] | None:
    if not is_object(schema) or schema.get("additionalProperties") is not False:
        return None
    properties = schema.get("properties")
    if not is_object(properties) or any(name in schema for name in _OPENING):
        return None
    return properties


def _spelled_like(given: str, names: Iterable[str]) -> str | None:
    """The one name that has the form of `given`, if there is exactly one."""
    shape = form(given)
    return None if shape is None else unique_forms(names).get(shape)


def supposed_key_alias(call: AuditCall, schema: object) -> KeyAlias | None:
    """The row that a call suggests before any validator is asked: it proves nothing yet."""
    properties = _closed_properties(schema)
    if properties is None or not _is_owner(call.ref):
        return None
    strange = [name for name in call.args if name not in properties]
    if len(strange) != 1 or not _speaks_for_itself(strange[0]):
        return None
    meant = _spelled_like(strange[0], properties)
    if meant is None or meant in call.args or not _speaks_for_itself(meant):
        return None
    return KeyAlias(call.ref, strange[0], meant)


def renamed(args: Mapping[str, Any], row: KeyAlias) -> dict[str, Any]:
    """The arguments with the one name exchanged, in place."""
    return {row.meant if name == row.given else name: value for name, value in args.items()}


def learned_key_alias(call: AuditCall, schema: object, validator: Validator) -> KeyAlias | None:
    """The row that a call proves: refused as it is, accepted with one argument renamed.

    Args:
        schema: the live schema of the action.
        validator: the same schema, compiled.
    """
    row = supposed_key_alias(call, schema)
    if row is None or validator.accepts(call.args):
        return None
    return row if validator.accepts(renamed(call.args, row)) else None


def learned_keys_steps(
    calls: Iterable[AuditCall], schemas: Mapping[str, Any]
) -> Steps[tuple[KeyAlias, ...]]:
    """The rows that calls prove against the live schemas, yielding between batches of calls."""
    found: dict[KeyAlias, None] = {}
    validators: dict[str, Validator | None] = {}
    for number, call in enumerate(calls, start=1):
        schema = schemas.get(call.ref)
        row = supposed_key_alias(call, schema)
        if row is not None and row not in found:
            if call.ref not in validators:
                validators[call.ref] = _validator_of(schema)
            validator = validators[call.ref]
            if validator is not None and learned_key_alias(call, schema, validator) is not None:
                found[row] = None
        if number % REPLAYS == 0:
            yield
    return tuple(found)


def _validator_of(schema: object) -> Validator | None:
    try:
        return Validator(schema)
    except Unjudgeable:
        return None


def _names_by_provider(surface: Surface) -> dict[str, dict[str, None]]:
    names: dict[str, dict[str, None]] = {}
    for action in surface.actions:
        provider, _, name = action.ref.rpartition(".")
        names.setdefault(provider, {})[name] = None
    return names


def _action_alias(ref: str, names: Mapping[str, Mapping[str, None]]) -> ActionAlias | None:
    provider, _, given = ref.rpartition(".")
    declared = names.get(provider, {})
    if given in declared or not _is_owner(provider) or not _speaks_for_itself(given):
        return None
    meant = _spelled_like(given, declared)
    if meant is None or not _speaks_for_itself(meant):
        return None
    return ActionAlias(provider, given, meant)


def learned_action_alias(ref: str, surface: Surface) -> ActionAlias | None:
    """The row that a ref proves which could not be resolved: its provider has one such action."""
    return _action_alias(ref, _names_by_provider(surface))


def learned_actions(tallies: Mapping[str, RefTally], surface: Surface) -> tuple[ActionAlias, ...]:
    """The rows that the unresolved refs of some evidence prove, in the order of the refs."""
    names = _names_by_provider(surface)
    unresolved = (ref for ref, tally in tallies.items() if UNRESOLVED in tally.stages)
    found = (_action_alias(ref, names) for ref in unresolved)
    return tuple(row for row in found if row is not None)


def misfit(row: Row, schemas: Mapping[str, Any]) -> str | None:
    """Why the live surface does not bear a row, or None where it does.

    Args:
        schemas: input schema by ref, as `Surface.schema_of` gives it.
    """
    match row:
        case KeyAlias():
            return _key_misfit(row, schemas)
        case ActionAlias():
            if f"{row.provider}.{row.meant}" not in schemas:
                return f'"{row.meant}" is not on the surface'
            if f"{row.provider}.{row.given}" in schemas:
                return f'"{row.given}" is an action itself'
            return None


def _key_misfit(row: KeyAlias, schemas: Mapping[str, Any]) -> str | None:
    if row.ref not in schemas:
        return "the action is not on the surface"
    schema = schemas[row.ref]
    properties = schema.get("properties") if is_object(schema) else None
    if not is_object(properties) or row.meant not in properties:
        return f'"{row.meant}" is not among its arguments'
    if row.given in properties:
        return f'"{row.given}" is an argument itself'
    return None
