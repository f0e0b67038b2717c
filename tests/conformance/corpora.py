"""Session corpora: everything that our reading of a few logs says, beside the reference's."""

from __future__ import annotations

from typing import Any

from fabricd.core.canonical import digest
from fabricd.core.entropy.meter import Catalog, lexicon_of, report, report_value
from fabricd.core.evidence import Evidence
from fabricd.core.javascript import is_array_index
from fabricd.core.model import AuditCall
from fabricd.core.sessions.audits import calls_of
from fabricd.core.sessions.pi import ScanState, open_end_steps, scan_steps
from fabricd.core.steps import finish
from tests.conformance.plans import catalog_of, repair_rows, surface_of
from tests.conformance.values import ANYTHING, Case, Check


def corpora(case: Case) -> Check:
    """Logs measured, with their audit calls and what can be seen of each trace."""
    logs = [_bytes(case["files"][name]) for name in sorted(case["files"])]
    total, calls = Evidence(), list[AuditCall]()
    seen: dict[str, list[Any]] = {"models": [], "taskKeys": []}
    for log in logs:
        evidence = _scanned(log)
        spans = evidence.audit_spans
        calls.extend(calls_of(log[start : start + length] for start, length in spans))
        total.add(evidence)
        _look_at_traces(log, seen)
    measured = report_value(report(total, _catalog(case)))
    found = {
        "traces": total.traces,
        **seen,
        "auditCalls": [{"ref": call.ref, "args": call.args} for call in calls],
        "valueObservations": [row for call in calls for row in observations(call.ref, call.args)],
        "normalFormEvidence": _normal_forms(total),
        "report": measured,
        "reportHash": digest(measured),
    }
    return Check(case["expected"], found)


def _bytes(lines: list[str]) -> bytes:
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def _scanned(log: bytes) -> Evidence:
    evidence, state = finish(scan_steps(log, ScanState()))
    evidence.add(finish(open_end_steps(state)))
    return evidence


def _look_at_traces(log: bytes, seen: dict[str, list[Any]]) -> None:
    """Model and task of each trace: evidence is a sum, so each line is read as a piece of its own.

    A trace without action operations leaves no task, and traces that share a line cannot be told
    apart; nothing is claimed of those.
    """
    state = ScanState()
    for line in log.split(b"\n"):
        piece, state = finish(scan_steps(line + b"\n", state))
        alone = piece.traces == 1
        seen["models"] += [next(iter(piece.models), None) if alone else ANYTHING] * piece.traces
        seen["taskKeys"] += [
            next(iter(piece.tasks), ANYTHING) if alone else ANYTHING
        ] * piece.traces


def observations(ref: str, args: Case) -> list[Case]:
    """The plain values of an audit call, array-index keys first as JavaScript lists them."""
    indices = sorted(filter(is_array_index, args), key=int)
    names = [*indices, *(name for name in args if name not in indices)]
    return [
        {"ref": ref, "key": name, "value": args[name]}
        for name in names
        if isinstance(args[name], (str, int, float, bool))
    ]


def _catalog(case: Case) -> Catalog:
    repairs: list[Case] = case.get("repairs") or []
    if case["surface"] is None:
        return Catalog(lexicon=lexicon_of(repair_rows(repairs)), lexicon_rows=len(repairs))
    return catalog_of(surface_of(case["surface"]), repairs)


def _normal_forms(evidence: Evidence) -> Case:
    tally = evidence.normal_forms
    return {
        "normalizedCalls": tally.normalized_calls,
        "rulesApplied": tally.rules_applied,
        "succeeded": tally.succeeded,
        "subsequentFailures": tally.subsequent_failures,
    }
