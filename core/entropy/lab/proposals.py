"""What the earlier design would propose: fewer enum members, fewer actions, other names.

Proposals are shown and held against calls that were really made. None is ever in force.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct, field

from fabricd.core.aliases import misfit
from fabricd.core.entropy.lab.metric import LabReport
from fabricd.core.entropy.lab.observations import EnumTarget, Observations, Tally, Target
from fabricd.core.javascript import round6, trim, utf16_key
from fabricd.core.model import Surface
from fabricd.core.nesting import SCHEMA_LEVELS, value_deeper_than
from fabricd.core.repairs import ActionAlias, KeyAlias, Row
from fabricd.core.validation import Unjudgeable, Validator

MOST = 8
_OBSERVED = 8
_DISTINCT = range(2, 9)
_TOP_SHARE = 0.5
_CALLS = 3
# Three levels of envelope stand above a schema inside an artifact.
_LEVELS = SCHEMA_LEVELS - 3


class EnumTighten(Struct, frozen=True, rename="camel", tag="enum-tighten", tag_field="kind"):
    """Keep the members that were seen (`values`, most frequent first), drop the others.

    `calls` and `distinct` also count values that the schema does not declare.
    """

    ref: str
    key: str
    values: tuple[Any, ...]
    declared: int
    calls: int
    distinct: int
    top_share: float


class NoiseQuarantine(
    Struct, frozen=True, rename="camel", tag="noise-quarantine", tag_field="kind"
):
    """Remove an action that fails more often than it succeeds, and in different ways."""

    ref: str
    calls: int
    succeeded: int
    failed: int
    failure_stage_entropy_bits: float


class ModalRename(Struct, frozen=True, rename="camel", tag="modal-rename", tag_field="kind"):
    """Rename an argument, or an action, to a spelling that a repair row knows.

    Shown only. Every call that is right today uses the declared name, and a rename takes exactly
    that name away; a repair leaves it and understands the other one too.
    """

    ref: str
    alias: Literal["keyAlias", "actionAlias"]
    declared: str = field(name="from")
    spelling: str = field(name="to")


Proposal: TypeAlias = EnumTighten | NoiseQuarantine | ModalRename


def tightenings(
    observed: Observations, targets: Mapping[Target, EnumTarget], surface: Surface
) -> tuple[EnumTighten, ...]:
    """Declared enums of which calls use a part, by ref and key, the first eight.

    Left out is what no artifact could carry or no validator judge: see `_can_be_studied`.
    """
    schemas = surface.schema_of()
    found: list[EnumTighten] = []
    for ref, key in sorted(observed.tallies, key=lambda at: utf16_key(f"{at[0]}\0{at[1]}")):
        if len(found) == MOST:
            break
        proposal = _tightening(ref, key, observed.tallies[ref, key], targets[ref, key])
        if proposal is not None and _can_be_studied(ref, schemas[ref]):
            found.append(proposal)
    return tuple(found)


def _tightening(ref: str, key: str, tally: Tally, target: EnumTarget) -> EnumTighten | None:
    ranked = tally.ranked()
    if tally.calls < _OBSERVED or len(ranked) not in _DISTINCT:
        return None
    share = round6(ranked[0][1] / tally.calls)
    kept = tuple(target.members[identity] for identity, _ in ranked if identity in target.members)
    if share < _TOP_SHARE or not 0 < len(kept) < target.size:
        return None
    return EnumTighten(ref, key, kept, target.size, tally.calls, len(ranked), share)


def _is_name(ref: str) -> bool:
    # An artifact's reader trims refs and refuses blank ones.
    return ref != "" and trim(ref) == ref


def _can_be_studied(ref: str, schema: object) -> bool:
    if not _is_name(ref) or value_deeper_than(schema, _LEVELS):
        return False
    try:
        Validator(schema)
    except Unjudgeable:
        return False
    return True


def quarantines(report: LabReport, surface: Surface) -> tuple[NoiseQuarantine, ...]:
    """Declared actions that mostly fail, in the report's order, the first eight."""
    declared = surface.schema_of()
    found = [
        NoiseQuarantine(
            row.ref, row.calls, row.succeeded, row.failed, row.failure_stage_entropy_bits
        )
        for row in report.refs
        if row.calls >= _CALLS
        and row.failed > row.succeeded
        and row.failure_stage_entropy_bits >= 1
        and row.ref in declared
        and _is_name(row.ref)
    ]
    return tuple(found[:MOST])


def renames(rows: Iterable[Row], report: LabReport, surface: Surface) -> tuple[ModalRename, ...]:
    """Repair rows of called actions whose spelling is not declared yet, the first eight."""
    schemas = surface.schema_of()
    called = {row.ref for row in report.refs}
    proposals = (_rename(row) for row in rows if misfit(row, schemas) is None)
    found = [proposal for proposal in proposals if proposal.ref in called]
    return tuple(found[:MOST])


def _rename(row: Row) -> ModalRename:
    match row:
        case KeyAlias(ref=ref, given=given, meant=meant):
            return ModalRename(ref, "keyAlias", meant, given)
        case ActionAlias(provider=provider, given=given, meant=meant):
            ref = f"{provider}.{meant}"
            return ModalRename(ref, "actionAlias", ref, f"{provider}.{given}")
