"""The nouns of the field: traces, operations, audits, surfaces, plans and witnesses."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from fabricd.core.plain import MAX_SAFE_INTEGER

Outcome: TypeAlias = Literal["succeeded", "failed", "aborted", "timed_out"]
FailureStage: TypeAlias = Literal["resolve", "prepare", "validate", "approve", "invoke", "guard"]
RuleKind: TypeAlias = Literal["key-form", "optional-null", "numeric-string", "enum-form"]

OUTCOMES: frozenset[str] = frozenset({"succeeded", "failed", "aborted", "timed_out"})
STAGES: frozenset[str] = frozenset({"resolve", "prepare", "validate", "approve", "invoke", "guard"})
REJECTING_STAGES: frozenset[str] = frozenset({"resolve", "prepare", "validate"})
RULE_KINDS: tuple[RuleKind, ...] = ("key-form", "optional-null", "numeric-string", "enum-form")

SafeCount: TypeAlias = Annotated[int, Meta(ge=0, le=MAX_SAFE_INTEGER)]
Digest: TypeAlias = Annotated[str, Meta(pattern=r"^[a-f0-9]{64}\Z")]
# Integers wider than 64 bits take the tolerant path, where their range as doubles is judged.
Value: TypeAlias = (
    str
    | Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
    | float
    | bool
    | list[Any]
    | dict[str, Any]
    | None
)


class Rule(Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """One repair a plan permits: a convention and the declared property it rests on."""

    kind: RuleKind
    key: str


class Plan(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """The classic normal-form plan of one action (plan version 1)."""

    version: Literal[1]
    ref: str
    base_schema_digest: Digest
    rules: tuple[Rule, ...]


class Witness(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """What a repaired call leaves behind: shapes before and after, and the rules applied."""

    version: Literal[1]
    base_schema_digest: Digest
    before_shape: Digest
    after_shape: Digest
    rules: Annotated[tuple[Rule, ...], Meta(min_length=1, max_length=128)]


class Operation(Struct, frozen=True, gc=False, forbid_unknown_fields=True, rename="camel"):
    """One call inside a trace."""

    type: Literal["call"]
    sequence: SafeCount
    ref: str
    args: dict[str, Value]
    outcome: Outcome
    provider: str | UnsetType = UNSET
    action: str | UnsetType = UNSET
    error: str | UnsetType = UNSET
    failure_stage: FailureStage | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    result_truncated: bool | UnsetType = UNSET
    normalization: Witness | UnsetType = UNSET


class TraceCounts(Struct, frozen=True, gc=False, forbid_unknown_fields=True, rename="camel"):
    """What the writer of a trace had to leave out."""

    dropped_values: SafeCount
    truncated_values: SafeCount
    redacted_values: SafeCount
    dropped_operations: SafeCount


class Trace(Struct, frozen=True, gc=False, forbid_unknown_fields=True, rename="camel"):
    """One execution: the Trace V1 envelope."""

    kind: Literal["pi-fabric.execution"]
    version: Literal[1]
    outcome: Outcome
    phases: tuple[str, ...]
    operations: tuple[Operation, ...]
    counts: TraceCounts
    error: str | UnsetType = UNSET


class AuditCall(Struct, frozen=True, gc=False):
    """A call as the model sent it: arguments verbatim."""

    ref: str
    args: dict[str, Any]


class Action(Struct, frozen=True):
    """A declared action: its name and its input schema, whatever that value is."""

    ref: str
    input_schema: Any = msgspec.field(name="inputSchema", default=None)


class Surface(Struct, frozen=True):
    """The declared actions, in the order of their snapshot, and the snapshot's digest."""

    actions: tuple[Action, ...]
    digest: str

    def schema_of(self) -> dict[str, Any]:
        """Input schema by ref. The first action of a name speaks for it."""
        schemas: dict[str, Any] = {}
        for action in self.actions:
            schemas.setdefault(action.ref, action.input_schema)
        return schemas


class RepairRow(Struct, frozen=True):
    """A catalog repair as the meter sees it: the ref it leads to."""

    kind: Literal["keyAlias", "actionAlias"]
    ref: str
