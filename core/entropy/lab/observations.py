"""What the proposing sessions say of argument values, and a digest of everything they said.

Audits hold arguments as the model sent them. Traces hold projected ones, which count only where
there is not a single observation from audits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, TypeAlias

from msgspec import Struct, field

from fabricd.core.canonical import digest, text, utf8
from fabricd.core.entropy.observations import Scalar, scalars_of, typed_text
from fabricd.core.javascript import NumberOutOfRange, utf16_key
from fabricd.core.model import AuditCall, Operation, Surface
from fabricd.core.plain import is_list, is_object
from fabricd.core.sessions.samples import Recording
from fabricd.core.steps import OPERATIONS, Steps

_MOST_DISTINCT = 8

Target: TypeAlias = tuple[str, str]


class EnumTarget(Struct, frozen=True):
    """A declared enum: its members by identity, and how many different members it has."""

    members: Mapping[str, Any]
    size: int


class Tally(Struct):
    """How often an argument had each value. Beyond nine values no more are told apart."""

    calls: int = 0
    values: dict[str, int] = field(default_factory=dict[str, int])

    def count(self, identity: str) -> None:
        """Count one observation."""
        self.calls += 1
        # One more than any proposal may have, so that it shows; a log may hold a million texts.
        if identity in self.values or len(self.values) <= _MOST_DISTINCT:
            self.values[identity] = self.values.get(identity, 0) + 1

    def ranked(self) -> list[tuple[str, int]]:
        """Identities by count descending, then by themselves."""
        return sorted(self.values.items(), key=lambda item: (-item[1], utf16_key(item[0])))


class Observations(Struct, frozen=True):
    """The values of declared enums, and digests of all observations and all audit calls."""

    tallies: Mapping[Target, Tally]
    from_audits: bool
    values_digest: str
    calls_digest: str


def identity_of(value: Scalar) -> str:
    """What tells a value apart: JavaScript type and text."""
    try:
        return ":".join(typed_text(value))
    except NumberOutOfRange:
        # What a JavaScript reader holds here is infinite, and no enum can declare that.
        return "number:null"


def enum_targets(surface: Surface) -> dict[Target, EnumTarget]:
    """The enums declared directly below the actions' arguments, by ref and key; no booleans."""
    found: dict[Target, EnumTarget] = {}
    for ref, schema in surface.schema_of().items():
        properties = schema.get("properties") if is_object(schema) else None
        for key, declared in properties.items() if is_object(properties) else ():
            if is_object(declared) and (target := _target(declared)) is not None:
                found[ref, key] = target
    return found


def _target(declared: Mapping[str, Any]) -> EnumTarget | None:
    listed = declared.get("enum")
    if not is_list(listed) or declared.get("type") == "boolean":
        return None
    if any(isinstance(member, bool) for member in listed):
        return None
    members: dict[str, Any] = {}
    others: set[str] = set()
    for member in listed:
        if isinstance(member, (str, int, float)):
            members.setdefault(identity_of(member), member)
        else:
            others.add(digest(member))
    return EnumTarget(members, len(members) + len(others))


class _ListDigest:
    """The digest of a list whose items come one by one."""

    def __init__(self) -> None:
        self._state = sha256(b"[")
        self._opener = ""

    def add(self, item: object, instead: object) -> None:
        """Add an item; `instead` stands for one with a number that has no canonical text."""
        try:
            written = text(item)
        except NumberOutOfRange:
            written = text(instead)
        self._state.update(utf8(self._opener + written))
        self._opener = ","

    def digest(self) -> str:
        """What `canonical.digest` gives for the whole list."""
        self._state.update(b"]")
        return self._state.hexdigest()


class _Counted:
    """Tallies of the arguments that a proposal could be about; `seen` counts every scalar."""

    def __init__(self, targets: Mapping[Target, EnumTarget]) -> None:
        self._targets = targets
        self.tallies: dict[Target, Tally] = {}
        self.seen = 0

    def add(self, ref: str, key: str, value: Scalar) -> None:
        """Count one observation."""
        self.seen += 1
        if (ref, key) in self._targets:
            self.tallies.setdefault((ref, key), Tally()).count(identity_of(value))


class _Hearing:
    """What recordings say so far, from audits and from traces apart."""

    def __init__(self, targets: Mapping[Target, EnumTarget]) -> None:
        self._verbatim = _Counted(targets)
        self._projected = _Counted(targets)
        self._values = _ListDigest()
        self._calls = _ListDigest()

    def audit(self, call: AuditCall) -> None:
        """An audited call."""
        self._calls.add(_row(call, "args", call.args), _row(call, "args", None))
        for key, value in scalars_of(call):
            self._verbatim.add(call.ref, key, value)
            row = {"ref": call.ref, "key": key}
            self._values.add(row | {"value": value}, row | {"value": None})

    def operation(self, operation: Operation) -> None:
        """An operation of a trace. The host's own actions say nothing about a tool."""
        if not operation.ref.startswith("fabric."):
            for key, value in scalars_of(AuditCall(operation.ref, operation.args)):
                self._projected.add(operation.ref, key, value)

    def end(self) -> Observations:
        """What was heard."""
        counted = self._verbatim if self._verbatim.seen else self._projected
        return Observations(
            counted.tallies,
            bool(self._verbatim.seen),
            self._values.digest(),
            self._calls.digest(),
        )


def _row(call: AuditCall, name: str, value: object) -> dict[str, object]:
    return {"ref": call.ref, name: value}


def observe_steps(
    recordings: Iterable[Recording], targets: Mapping[Target, EnumTarget]
) -> Steps[Observations]:
    """Read recordings once, yielding between batches of calls."""
    hearing = _Hearing(targets)
    done = 0
    for recording in recordings:
        for call in recording.audits:
            hearing.audit(call)
            done += 1
            if done % OPERATIONS == 0:
                yield
        for operation in recording.trace.operations:
            hearing.operation(operation)
            done += 1
            if done % OPERATIONS == 0:
                yield
    return hearing.end()
