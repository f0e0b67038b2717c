"""The evidence of a receipt: what its measurements cite."""

from __future__ import annotations

import re

from fabricd.core.plain import is_list
from fabricd.core.trajectory.values import is_text
from fabricd.core.value.findings import Findings, shape

STATES = frozenset({"VERIFIED", "OBSERVED", "CALLER_SUPPLIED", "UNVERIFIED", "NOT_APPLICABLE"})
CONTENT_HASH, RUN_ARTIFACT = "CONTENT_HASH", "RUN_ARTIFACT"
_KINDS = frozenset(
    {CONTENT_HASH, RUN_ARTIFACT, "JSON_POINTER", "PROVIDER_RECORD", "URI", "CALLER_ASSERTION"}
)
_ENTRY = shape("id kind locator trust")
_ID = re.compile("[a-z][a-z0-9._-]*")
_HASH = re.compile("sha256:[0-9a-f]{64}")


def check_evidence(findings: Findings, evidence: object, path: str) -> set[str]:
    """Check all entries; gives the ids that can be cited."""
    ids: set[str] = set()
    if not is_list(evidence) or not evidence:
        findings.add("EVIDENCE_REQUIRED", path)
        return ids
    for index, entry in enumerate(evidence):
        _check_entry(findings, entry, f"{path}/{index}", ids)
    return ids


def _check_entry(findings: Findings, value: object, path: str, ids: set[str]) -> None:
    entry = findings.members(value, path, _ENTRY)
    if entry is None:
        return
    name, kind, locator = entry.get("id"), entry.get("kind"), entry.get("locator")
    if not isinstance(name, str) or _ID.fullmatch(name) is None:
        findings.add("INVALID_EVIDENCE_ID", f"{path}/id")
    elif name in ids:
        findings.add("DUPLICATE_EVIDENCE_ID", f"{path}/id")
    else:
        ids.add(name)
    findings.one_of(kind, _KINDS, "INVALID_EVIDENCE_KIND", f"{path}/kind")
    if not is_text(locator):
        findings.add("INVALID_EVIDENCE_LOCATOR", f"{path}/locator")
    elif kind == CONTENT_HASH and _HASH.fullmatch(locator) is None:
        findings.add("MALFORMED_CONTENT_HASH", f"{path}/locator")
    findings.one_of(entry.get("trust"), STATES, "INVALID_TRUST_STATE", f"{path}/trust")
