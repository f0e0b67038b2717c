"""Taking receipts into a run: all of them, or none."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from fabricd.core.plain import is_list, is_object
from fabricd.core.trajectory.values import is_text
from fabricd.core.trajectory.violations import Violation, violation_values
from fabricd.core.value.findings import Findings, beneath, by_path_and_message
from fabricd.core.value.receipt import accepted_identity, validate_receipt

RECEIPTS = "/value_receipts"


class Accepted(Struct, frozen=True):
    """A receipt that was found valid, under its semantic identity."""

    identity: str
    receipt: dict[str, Any]


class Ingested(Struct, frozen=True):
    """What became of a list of receipts: they are sorted by identity, or None was accepted."""

    receipts: list[Accepted] | None
    violations: list[Violation]

    def value(self) -> dict[str, Any]:
        """The outcome as plain JSON."""
        receipts = self.receipts or ()
        listed = [{"identity": one.identity, "receipt": one.receipt} for one in receipts]
        return {
            "receipts": None if self.receipts is None else listed,
            "valid": not self.violations,
            "violations": violation_values(self.violations),
        }


def ingest_receipts(value: object, run_id: object = None) -> Ingested:
    """Take a list of receipts into a run.

    Args:
        run_id: of the run; receipts of another are refused. A run without a proper id takes any.
    """
    findings = Findings()
    if not is_list(value):
        findings.add("ARRAY_REQUIRED", RECEIPTS)
        return Ingested(None, findings.found)
    accepted: dict[str, Accepted] = {}
    for index, receipt in enumerate(value):
        path = f"{RECEIPTS}/{index}"
        violations = validate_receipt(receipt)
        if violations or not is_object(receipt):
            findings.found.extend(beneath(violations, path))
        elif _is_of_another(receipt["run"]["id"], run_id):
            findings.add("RUN_IDENTITY_MISMATCH", f"{path}/run/id")
        elif (name := accepted_identity(receipt)) in accepted:
            findings.add("DUPLICATE_VALUE_RECEIPT", path)
        else:
            accepted[name] = Accepted(name, receipt)
    if findings.found:
        return Ingested(None, by_path_and_message(findings.found))
    return Ingested([accepted[name] for name in sorted(accepted)], [])


def _is_of_another(told: object, run_id: object) -> bool:
    return told is not None and is_text(run_id) and told != run_id
