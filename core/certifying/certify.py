"""All fixed checks in their order, and the run over checks of any kind."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from hashlib import sha256
from typing import Any

from fabricd.core.certifying import (
    compiling,
    ingesting,
    invariance,
    measuring,
    pooling,
    proving,
    repairing,
    trying,
)
from fabricd.core.certifying.claims import Certification, Check, Finding, finding_steps
from fabricd.core.certifying.examples import ACTIONS, ALPHA, BETA, SURFACE
from fabricd.core.certifying.laws import Laws
from fabricd.core.steps import Steps

FIXED = (
    "metric-v3-exact",
    "sample-count-invariance",
    "diagnostics-not-objective",
    "allfail-nonzero",
    "determinism-double-run",
    "static-compilation",
    "empty-corpus-compilation",
    "historical-outcomes-unchanged",
    "compile-determinism",
    "identical-plans-converge",
    "static-preservation",
    "canonical-identity",
    "normalization-idempotence",
    "ambiguity-and-loss-refusal",
    "unsupported-schema-no-plan",
    "forged-plan-refusal",
    "schema-drift-refusal",
    "exact-plan-merge",
    "legacy-inert-migration",
    "artifact-store-roundtrip",
    "ingestion-requires-trace-envelope",
    "ingestion-verbatim-audits",
    "ingestion-model-attribution",
    "ingestion-value-observations",
    "ingestion-trial-verbatim",
    "same-normalizer-trial",
    "no-quarantine-wins",
    "order-invariance",
    "cut-invariance",
    "locale-invariance",
    "pool-exactly-once",
)
ON_A_CORPUS = ("corpus-mode", "trial-mode", "artifact-mode", "trial-costs")
_ORDER = {name: place for place, name in enumerate((*FIXED, *ON_A_CORPUS))}

_TABLES = (
    measuring.CHECKS,
    compiling.CHECKS,
    repairing.CHECKS,
    proving.CHECKS,
    ingesting.CHECKS,
    trying.CHECKS,
    invariance.CHECKS,
    pooling.CHECKS,
)


def pure_checks(laws: Laws) -> tuple[Check, ...]:
    """The fixed checks that need neither files nor processes."""
    return tuple(
        Check(name, shows, partial(claims, laws))
        for table in _TABLES
        for name, shows, claims in table
    )


def certify_steps(checks: Iterable[Check]) -> Steps[Certification]:
    """Run checks in their fixed order, yielding between their claims."""
    findings: list[Finding] = []
    for check in sorted(checks, key=lambda check: _ORDER[check.id]):
        findings.append((yield from finding_steps(check)))
    return Certification(tuple(findings))


def fixtures_value() -> dict[str, Any]:
    """What the fixed checks were run on, as a member of a certificate."""
    state = sha256(SURFACE)
    for session in (ALPHA, BETA):
        state.update(session)
    return {
        "checks": len(FIXED),
        "actions": len(ACTIONS),
        "digest": state.hexdigest(),
    }


def evaluation_value(certification: Certification) -> dict[str, Any]:
    """The findings, as a member of a certificate."""
    return {
        "passed": certification.passed,
        "checks": [
            {"id": finding.id, "passed": finding.passed, "detail": finding.detail}
            for finding in certification.findings
        ],
        "failed": list(certification.failed),
    }
