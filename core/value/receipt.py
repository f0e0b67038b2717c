"""`opsle.value-receipt.v1`: what a mechanism did in an operation, and on what evidence."""

from __future__ import annotations

import re
from typing import Any, Final

from fabricd.core.identity import identity, is_canonical
from fabricd.core.plain import is_list, is_object
from fabricd.core.trajectory.violations import Violation
from fabricd.core.value.ceilings import check_money
from fabricd.core.value.evidence import check_evidence
from fabricd.core.value.findings import Findings, by_path_and_message, shape
from fabricd.core.value.measurement import check_measurement
from fabricd.core.value.times import is_time

SCHEMA: Final = "opsle.value-receipt.v1"
_RECEIPT = shape(
    "schema mechanism run operation evidence measurements limitations", "observed_at extensions"
)
_MECHANISM = shape("id name version revision")
_RUN_OPTIONS = "task_classification work_classification repository"
_RUN = shape("id", _RUN_OPTIONS)
_OPERATION = shape("name id configuration_id policy_id")
_MECHANISM_ID = re.compile("opsle\\.[a-z0-9-]+")
_OPERATION_NAME = re.compile("[a-z][a-z0-9-]*")


class InvalidReceipt(ValueError):
    """Raised where an identity is asked of a receipt that is not valid."""

    def __init__(self, violations: list[Violation]) -> None:
        super().__init__(f"the receipt is not valid: {violations[0].code} {violations[0].path}")
        self.violations = violations


def validate_receipt(value: object) -> list[Violation]:
    """All that is wrong with a decoded receipt, by path, code and message."""
    findings = Findings()
    receipt = findings.members(value, "", _RECEIPT)
    if receipt is not None:
        _check(findings, receipt)
    # Of a receipt in which nothing is wrong all is known but its extensions.
    unknown = value if findings.found or receipt is None else receipt.get("extensions")
    if not is_canonical(unknown):
        findings.add("INVALID_JSON_VALUE", "")
    return by_path_and_message(findings.found)


def _check(findings: Findings, receipt: dict[str, Any]) -> None:
    if receipt.get("schema") != SCHEMA:
        findings.add("UNSUPPORTED_SCHEMA", "/schema")
    check_mechanism(findings, receipt.get("mechanism"), "/mechanism")
    _check_run(findings, receipt.get("run"))
    _check_operation(findings, receipt.get("operation"))
    if "observed_at" in receipt and not is_time(receipt["observed_at"]):
        findings.add("INVALID_OBSERVED_AT", "/observed_at")
    if "extensions" in receipt and not is_object(receipt["extensions"]):
        findings.add("OBJECT_REQUIRED", "/extensions")
    cited = check_evidence(findings, receipt.get("evidence"), "/evidence")
    _check_measurements(findings, receipt.get("measurements"), cited)
    findings.texts(receipt.get("limitations"), "/limitations")


def check_mechanism_members(findings: Findings, mechanism: dict[str, Any], path: str) -> None:
    """Check the members that a receipt and a declaration of a record tell a mechanism by."""
    name = mechanism.get("id")
    if not isinstance(name, str) or _MECHANISM_ID.fullmatch(name) is None:
        findings.add("INVALID_MECHANISM_ID", f"{path}/id")
    findings.nonempty(mechanism, "name", path)
    findings.nonempty(mechanism, "version", path)
    findings.identities(mechanism, ("revision",), path)


def check_mechanism(findings: Findings, value: object, path: str) -> None:
    """Check the mechanism of a receipt."""
    mechanism = findings.members(value, path, _MECHANISM)
    if mechanism is not None:
        check_mechanism_members(findings, mechanism, path)


def _check_run(findings: Findings, value: object) -> None:
    run = findings.members(value, "/run", _RUN)
    if run is not None:
        # An id that is missing is missed, and is not a bad one too.
        findings.given_identities(run, ("id", *_RUN_OPTIONS.split()), "/run")


def _check_operation(findings: Findings, value: object) -> None:
    operation = findings.members(value, "/operation", _OPERATION)
    if operation is None:
        return
    name = operation.get("name")
    if not isinstance(name, str) or _OPERATION_NAME.fullmatch(name) is None:
        findings.add("INVALID_OPERATION_NAME", "/operation/name")
    findings.identities(operation, ("id", "configuration_id", "policy_id"), "/operation")


def _check_measurements(findings: Findings, value: object, cited: set[str]) -> None:
    if not is_list(value) or not value:
        findings.add("MEASUREMENTS_REQUIRED", "/measurements")
        return
    seen: set[str] = set()
    for index, entry in enumerate(value):
        check_measurement(findings, entry, f"/measurements/{index}", seen, cited)
    # A measurement in tokens may come after the money that derives from it.
    entries = [(index, entry) for index, entry in enumerate(value) if is_object(entry)]
    tokens = {
        name
        for _, entry in entries
        if entry.get("unit") == "token" and isinstance(name := entry.get("id"), str)
    }
    for index, entry in entries:
        check_money(findings, entry, f"/measurements/{index}", tokens)


def semantic_receipt(receipt: object) -> dict[str, Any]:
    """A receipt without the time at which it was observed.

    Raises:
        InvalidReceipt: it is no object.
    """
    if not is_object(receipt):
        raise InvalidReceipt(validate_receipt(receipt))
    return {name: member for name, member in receipt.items() if name != "observed_at"}


def accepted_identity(receipt: dict[str, Any]) -> str:
    """The identity of a receipt that was found valid."""
    return identity(semantic_receipt(receipt))


def receipt_identity(value: object) -> str:
    """The semantic identity of a receipt: of all of it but `observed_at`.

    Raises:
        InvalidReceipt: it is not valid.
    """
    violations = validate_receipt(value)
    if violations or not is_object(value):
        raise InvalidReceipt(violations)
    return accepted_identity(value)
