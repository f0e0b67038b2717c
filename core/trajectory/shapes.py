"""Events of evidence as producers write them: known members alone, each of its own type.

Such an event is read, written and added up natively. Any other, with a member more or a number
spelled as `1.0`, is held as the plain value it is and goes through the checks one by one; what
comes of it is the same.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from fabricd.core.plain import MAX_SAFE_INTEGER

Count: TypeAlias = Annotated[int, Meta(ge=0, le=MAX_SAFE_INTEGER)]
Text: TypeAlias = Annotated[str, Meta(min_length=1)]


class Shape(Struct, frozen=True, gc=False, forbid_unknown_fields=True, kw_only=True):
    """What all of them have in common."""


class RawEvidence(Shape, frozen=True, kw_only=True):
    """What the tool gave."""

    bytes: Count
    content_identity: Text
    locator_present: bool


class Visible(Shape, frozen=True, kw_only=True):
    """What was shown of it at first."""

    bytes: Count
    content_identity: Text


class Suppression(Shape, frozen=True, kw_only=True):
    """What was kept and what was left out."""

    ambiguous_evidence_count: Count
    original_evidence_count: Count
    retained_evidence_count: Count
    suppressed_categories: dict[str, Count]
    suppressed_evidence_count: Count


class Payload(Shape, frozen=True, kw_only=True):
    """What the packet is, and whether it was cut."""

    affected_by_ceiling: bool
    ceiling_bytes: Annotated[int, Meta(ge=1, le=MAX_SAFE_INTEGER)] | None
    semantics: Literal["PURE_REDUCTION", "PACKET_WITH_OVERHEAD"]


class Reducer(Shape, frozen=True, kw_only=True):
    """What made the packet."""

    configuration_identity: str
    name: str
    policy_revision: str
    version: str


class Source(Shape, frozen=True, kw_only=True):
    """What the evidence is of."""

    id: str | None
    run_id: str | None


class Validation(Shape, frozen=True, kw_only=True):
    """What a validator said of the packet, where it found nothing."""

    classification: str
    cryptographic_verification: Literal["PARTIAL", "VERIFIED"]
    evidence_packet_validated: bool
    evidence_sufficient: bool
    source_backed_verification_performed: bool
    structural_valid: bool
    sufficiency: str
    trust: str
    valid: bool
    violation_codes: Annotated[list[str], Meta(max_length=0)]


class RawEvent(Shape, frozen=True, kw_only=True, tag_field="type", tag="raw_tool_evidence"):
    """A tool result that was shown as it was. What only packets have may be null."""

    arm_id: str
    configuration_id: str
    disposition: UnsetType | None = UNSET
    escalation_reasons: UnsetType | None = UNSET
    event_id: Text
    initial_model_visible: Visible
    operation_id: Text
    payload: UnsetType | None = UNSET
    raw_evidence: RawEvidence
    reducer: UnsetType | None = UNSET
    reduction_requires_escalation: UnsetType | None = UNSET
    source: UnsetType | None = UNSET
    suppression: Suppression
    validation: UnsetType | None = UNSET


class PacketEvent(
    Shape, frozen=True, kw_only=True, tag_field="type", tag="context_firewall_reduction"
):
    """A tool result that was shown as a packet."""

    arm_id: str
    configuration_id: str
    disposition: Literal["SUFFICIENT", "NEEDS_RAW_EVIDENCE"]
    escalation_reasons: list[Text]
    event_id: Text
    initial_model_visible: Visible
    operation_id: Text
    payload: Payload
    raw_evidence: RawEvidence
    reducer: Reducer | UnsetType | None = UNSET
    reduction_requires_escalation: bool
    source: Source | UnsetType | None = UNSET
    suppression: Suppression
    validation: Validation


read_event = msgspec.json.Decoder(RawEvent | PacketEvent).decode
write_sorted = msgspec.json.Encoder(order="sorted").encode


def plain_event(event: object) -> object:
    """The value of an event or of a member of one, whichever way it is held."""
    return msgspec.to_builtins(event) if isinstance(event, Shape) else event


def is_sortable(names: dict[str, int]) -> bool:
    """Whether the native order of these names is the canonical one: no indices, nothing astral."""
    return all(name.isascii() and not name.isdigit() for name in names)
