"""Faults deep inside the product, each put where it could really be, are noticed too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fabricd.core.certifying.certify import pure_checks
from fabricd.core.certifying.claims import finding_steps
from fabricd.core.certifying.laws import Laws
from fabricd.core.normalform.forms import form
from fabricd.core.steps import finish


def a_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def any_form(names: Any) -> dict[str, str]:
    """Forms, the last name of each: ambiguous or not."""
    return {shape: name for name in names if (shape := form(name)) is not None}


def no_separators(name: str) -> str | None:
    return name.lower() if form(name) is not None else None


def always(verdict: object) -> Callable[..., Any]:
    return lambda *_: verdict


FAULTS: tuple[tuple[str, object, str], ...] = (
    ("evidence.REJECTING_STAGES", {"resolve", "prepare", "validate", "invoke"}, "metric-v3-exact"),
    ("evidence.REJECTING_STAGES", {"resolve", "prepare"}, "allfail-nonzero"),
    ("evidence.NO_PHASE", "Inspect", "metric-v3-exact"),
    ("entropy.meter.utf16_key", always(b""), "metric-v3-exact"),
    ("entropy.fingerprint._EXACT_UNITS", 4, "metric-v3-exact"),
    ("entropy.freedom._NO_CASE", 0.5, "metric-v3-exact"),
    ("normalform.derive._BLOCKING", (), "unsupported-schema-no-plan"),
    ("normalform.derive.MAX_PROPERTIES", 129, "unsupported-schema-no-plan"),
    ("normalform.derive.MAX_PROPERTIES", 127, "unsupported-schema-no-plan"),
    ("normalform.derive.is_safe_key", always(True), "unsupported-schema-no-plan"),
    ("normalform.derive.enum_forms", always({}), "static-compilation"),
    ("normalform.derive.sorted_by_units", list, "order-invariance"),
    ("normalform.derive.unique_forms", any_form, "ambiguity-and-loss-refusal"),
    ("normalform.apply.number_of", a_number, "ambiguity-and-loss-refusal"),
    ("normalform.apply.form", no_separators, "normalization-idempotence"),
    ("normalform.apply.sorted_by_units", always([]), "same-normalizer-trial"),
    ("compiling.merge.utf16_key", always(b""), "exact-plan-merge"),
    ("compiling.compile.utf16_key", always(b""), "order-invariance"),
    ("compiling.compile._same_plans", always(True), "identical-plans-converge"),
    ("compiling.artifact._plans_of", always(()), "exact-plan-merge"),
    ("compiling.trial._NAVIGATION", ("fabric.", "mcp.notes.open"), "same-normalizer-trial"),
    ("compiling.trial.REJECTING_STAGES", {"validate"}, "historical-outcomes-unchanged"),
    ("canonical._collation_key", str, "order-invariance"),
    ("canonical.is_array_index", always(False), "order-invariance"),
    ("entropy.observations.is_array_index", always(False), "ingestion-value-observations"),
    ("sessions.pi._identity", lambda p, m: f"{p}/{m}", "ingestion-model-attribution"),
    ("sessions.trace._VALUE_LEVELS", 16, "ingestion-requires-trace-envelope"),
    ("sessions.trace._VALUE_LEVELS", 14, "ingestion-requires-trace-envelope"),
    ("sessions.trace.is_count", always(True), "ingestion-requires-trace-envelope"),
)


@pytest.mark.parametrize(
    ("place", "fault", "name"),
    FAULTS,
    ids=[f"{place}-{name}-{number}" for number, (place, _, name) in enumerate(FAULTS)],
)
def test_a_fault_is_noticed(
    place: str, fault: object, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = next(check for check in pure_checks(Laws()) if check.id == name)
    assert finish(finding_steps(check)).passed
    monkeypatch.setattr(f"fabricd.core.{place}", fault)
    assert not finish(finding_steps(check)).passed
