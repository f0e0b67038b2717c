"""`opsle.agent-trajectory-profiler.run-record/v1`: what a run recorded, and its receipts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from fabricd.core.identity import identity
from fabricd.core.plain import is_list, is_object
from fabricd.core.trajectory.values import ABSENT, count_of, is_text, safe_integer, same, text_of
from fabricd.core.trajectory.violations import Violation, violation_values
from fabricd.core.value.findings import Findings, by_path, shape
from fabricd.core.value.ingestion import RECEIPTS, Accepted, ingest_receipts
from fabricd.core.value.receipt import check_mechanism_members, semantic_receipt

PROTOCOL: Final = "opsle.agent-trajectory-profiler.run-record/v1"
_RUN_OPTIONS = (
    "task_classification",
    "work_classification",
    "repository",
    "project",
    "model",
    "reasoning_effort",
)
_COUNTS = (
    "raw_evidence_bytes",
    "initial_model_visible_bytes",
    "final_model_visible_bytes",
    "tool_call_count",
    "child_execution_count",
    "polling_turn_count",
    "passive_wait_milliseconds",
    "escalation_event_count",
    "failure_event_count",
    "recovery_event_count",
)
_TOKENS = ("input", "output", "total")
MECHANISM_MEMBERS: Final = ("id", "name", "version", "revision", "configuration_id", "policy_id")
_EVENT_TYPES = frozenset({"ESCALATION", "FAILURE", "RECOVERY"})

_RECORD = shape(
    "", "protocol_version run mechanisms telemetry events outcome evidence_refs value_receipts"
)
_RUN = shape("", " ".join(("id", *_RUN_OPTIONS)))
_MECHANISM = shape(" ".join(MECHANISM_MEMBERS))
_TELEMETRY = shape("", " ".join(("provider_recorded_tokens", *_COUNTS)))
_PROVIDER = shape("", " ".join(("source", *_TOKENS)))
_EVENT = shape("", "id type operation_id status evidence_refs")
_OUTCOME = shape("", "acceptance review")


class InvalidRecord(ValueError):
    """Raised where an identity is asked of a record that is not valid."""

    def __init__(self, violations: list[Violation]) -> None:
        super().__init__(f"the record is not valid: {violations[0].code} {violations[0].path}")
        self.violations = violations


class Checked(Struct, frozen=True):
    """A record and what is wrong with it, by path and code.

    `receipts` are those that were accepted, none if one of them was not.
    """

    record: dict[str, Any]
    receipts: list[Accepted]
    violations: list[Violation]

    @property
    def run_id(self) -> object:
        """The id of the run, None where there is none."""
        run = self.record.get("run")
        return run.get("id") if is_object(run) else None

    def value(self) -> dict[str, Any]:
        """The verdict as plain JSON."""
        return {"valid": not self.violations, "violations": violation_values(self.violations)}


def check_record(value: object) -> Checked:
    """Check a decoded record."""
    findings = Findings()
    record = findings.members(value, "", _RECORD)
    if record is None:
        return Checked({}, [], findings.found)
    if record.get("protocol_version") != PROTOCOL:
        findings.add("UNSUPPORTED_PROTOCOL", "/protocol_version")
    run_id = _check_run(findings, record.get("run"))
    _check_mechanisms(findings, record)
    _check_telemetry(findings, record)
    _check_events(findings, record)
    _check_outcome(findings, record)
    if "evidence_refs" in record:
        findings.texts(record["evidence_refs"], "/evidence_refs")
    ingested = ingest_receipts(record.get("value_receipts"), run_id)
    findings.found.extend(ingested.violations)
    receipts = ingested.receipts or []
    _check_accepted(findings, record, receipts)
    return Checked(record, receipts, by_path(findings.found))


def record_identity(value: object) -> str:
    """The identity of a record: of all of it but `observed_at` of its receipts.

    Raises:
        InvalidRecord: it is not valid.
    """
    checked = check_record(value)
    if checked.violations:
        raise InvalidRecord(checked.violations)
    return checked_identity(checked)


def checked_identity(checked: Checked) -> str:
    """The identity of a record that was found valid."""
    receipts = [semantic_receipt(receipt) for receipt in checked.record["value_receipts"]]
    return identity({**checked.record, "value_receipts": receipts})


def _check_run(findings: Findings, value: object) -> object:
    """Gives the id of the run, whatever it is."""
    if not is_object(value):
        findings.add("RUN_REQUIRED", "/run")
        return None
    run = findings.members(value, "/run", _RUN) or {}
    if not is_text(run.get("id")):
        findings.add("RUN_ID_REQUIRED", "/run/id")
    findings.given_identities(run, _RUN_OPTIONS, "/run")
    return run.get("id")


def _check_mechanisms(findings: Findings, record: Mapping[str, Any]) -> None:
    declared = record.get("mechanisms", ABSENT)
    if declared is ABSENT:
        return
    if not is_list(declared):
        findings.add("ARRAY_REQUIRED", "/mechanisms")
        return
    seen: set[tuple[str, ...]] = set()
    for index, value in enumerate(declared):
        path = f"/mechanisms/{index}"
        mechanism = findings.members(value, path, _MECHANISM)
        if mechanism is None:
            continue
        check_mechanism_members(findings, mechanism, path)
        findings.identities(mechanism, ("configuration_id", "policy_id"), path)
        # Here, and nowhere else, null and the empty text are one.
        told = (mechanism.get(name) for name in MECHANISM_MEMBERS)
        key = tuple("" if member is None else text_of(member) for member in told)
        if key in seen:
            findings.add("DUPLICATE_MECHANISM", path)
        seen.add(key)


def _check_telemetry(findings: Findings, record: Mapping[str, Any]) -> None:
    if "telemetry" not in record:
        return
    telemetry = findings.members(record["telemetry"], "/telemetry", _TELEMETRY)
    if telemetry is None:
        return
    _check_counts(findings, telemetry, _COUNTS, "/telemetry")
    if "provider_recorded_tokens" in telemetry:
        path = "/telemetry/provider_recorded_tokens"
        _check_tokens(findings, telemetry["provider_recorded_tokens"], path)


def _check_counts(
    findings: Findings, counts: Mapping[str, Any], names: tuple[str, ...], path: str
) -> None:
    for name in names:
        if name in counts and count_of(counts[name]) is None:
            findings.add("INVALID_MEASUREMENT", f"{path}/{name}")


def _check_tokens(findings: Findings, value: object, path: str) -> None:
    tokens = findings.members(value, path, _PROVIDER)
    if tokens is None:
        return
    if tokens.get("source") != "PROVIDER_RECORDED":
        findings.add("INVALID_TOKEN_SOURCE", f"{path}/source")
    _check_counts(findings, tokens, _TOKENS, path)
    given, taken, total = (safe_integer(tokens.get(name)) for name in _TOKENS)
    if given is not None and taken is not None and total is not None and total != given + taken:
        findings.add("TOKEN_TOTAL_MISMATCH", f"{path}/total")


def _check_events(findings: Findings, record: Mapping[str, Any]) -> None:
    events = record.get("events", ABSENT)
    if events is ABSENT:
        return
    if not is_list(events):
        findings.add("ARRAY_REQUIRED", "/events")
        return
    seen: set[str] = set()
    for index, event in enumerate(events):
        _check_event(findings, event, f"/events/{index}", seen)


def _check_event(findings: Findings, value: object, path: str, seen: set[str]) -> None:
    event = findings.members(value, path, _EVENT)
    if event is None:
        return
    name = event.get("id")
    if not is_text(name):
        findings.add("EVENT_ID_REQUIRED", f"{path}/id")
    elif name in seen:
        findings.add("DUPLICATE_EVENT_ID", f"{path}/id")
    else:
        seen.add(name)
    findings.one_of(event.get("type"), _EVENT_TYPES, "INVALID_EVENT_TYPE", f"{path}/type")
    findings.given_identities(event, ("operation_id", "status"), path)
    if "evidence_refs" in event:
        findings.texts(event["evidence_refs"], f"{path}/evidence_refs")


def _check_outcome(findings: Findings, record: Mapping[str, Any]) -> None:
    if "outcome" not in record:
        return
    outcome = findings.members(record["outcome"], "/outcome", _OUTCOME)
    if outcome is not None:
        findings.given_identities(outcome, ("acceptance", "review"), "/outcome")


def _check_accepted(
    findings: Findings, record: Mapping[str, Any], receipts: list[Accepted]
) -> None:
    """What is asked of receipts together with their record; they are numbered as sorted."""
    declared = record.get("mechanisms")
    for index, accepted in enumerate(receipts):
        path = f"{RECEIPTS}/{index}"
        for place, entry in enumerate(accepted.receipt["measurements"]):
            if entry["class"] == "EXPERIMENTAL":
                findings.add(
                    "EXPERIMENTAL_IN_OBSERVATIONAL_RECORD", f"{path}/measurements/{place}/class"
                )
        if is_list(declared) and not _is_declared(mechanism_of(accepted.receipt), declared):
            findings.add("MECHANISM_DECLARATION_MISMATCH", f"{path}/mechanism")


def mechanism_of(receipt: Mapping[str, Any]) -> dict[str, Any]:
    """How a valid receipt tells its mechanism apart: as a record declares it."""
    mechanism, operation = receipt["mechanism"], receipt["operation"]
    return {
        "configuration_id": operation["configuration_id"],
        "id": mechanism["id"],
        "name": mechanism["name"],
        "policy_id": operation["policy_id"],
        "revision": mechanism["revision"],
        "version": mechanism["version"],
    }


def _is_declared(mechanism: Mapping[str, Any], declared: list[Any]) -> bool:
    return any(
        all(same(entry.get(name, ABSENT), told) for name, told in mechanism.items())
        for entry in declared
        if is_object(entry)
    )
