"""Session corpora the plain way: the naive measurement, with the audit calls and witnesses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.conformance.oracles import digest, doubled
from tests.conformance.values import Case, is_list, is_object
from tests.oracle import naive

_MARK = "pi-fabric.execution"
_LEVELS = 512


def is_glued(line: str) -> bool:
    """Whether a trace line holds several complete objects."""
    return _MARK in line and len(naive.records(line)) > 1


def is_deep(line: str) -> bool:
    """Whether a trace line nests beyond what any record may."""
    depth, deepest, inside, escaped = 0, 0, False, False
    for char in line:
        if inside:
            inside, escaped = escaped or char != '"', not escaped and char == "\\"
        elif char == '"':
            inside = True
        else:
            depth += (char in "[{") - (char in "]}")
            deepest = max(deepest, depth)
    return _MARK in line and deepest > _LEVELS


def corpus(case: Case, logs: Iterable[list[str]]) -> Case:
    """Everything a corpus case expects, of logs that may be others than its own."""
    texts = ["\n".join(lines) for lines in logs]
    traces = [trace for text in texts for trace in naive.traces_of(text)]
    details = [found for text in texts for found in _details(text)]
    calls = [call for found in details for call in _calls(found)]
    report = naive.report(traces, *_declared(case))
    return {
        "traces": len(traces),
        "models": [trace["model"] for trace in traces],
        "taskKeys": [trace["task"] for trace in traces],
        "auditCalls": calls,
        "valueObservations": [row for call in calls for row in _observations(call)],
        "normalFormEvidence": _normal_forms(details),
        "report": report,
        "reportHash": digest(report),
    }


def _details(text: str) -> list[Case]:
    found: list[Case] = []
    for raw, record in [pair for line in text.split("\n") for pair in naive.records(line)]:
        message: Any = record.get("message")
        nested: Any = message.get("details") if is_object(message) else None
        details: Case = next(filter(is_object, (record.get("details"), nested)), {})
        if _MARK in raw and naive.good_trace(details.get("trace")):
            found.append(details)
    return found


def _calls(details: Case) -> list[Case]:
    audits = details.get("audits")
    return [
        {"ref": row["ref"], "args": row["args"]}
        for row in filter(is_object, audits if is_list(audits) else [])
        if isinstance(row.get("ref"), str) and row["ref"] and is_object(row.get("args"))
    ]


def _observations(call: Case) -> list[Case]:
    args: Case = call["args"]
    # Only array-index keys leave their place; the naive order puts exactly those first.
    leading = [key for key in naive.key_order(args) if key.isascii() and key.isdigit()]
    names = [*filter(_is_index, leading), *(key for key in args if not _is_index(key))]
    return [
        {"ref": call["ref"], "key": name, "value": args[name]}
        for name in names
        if isinstance(args[name], (str, float, bool))
    ]


def _is_index(key: str) -> bool:
    plain = key.isascii() and key.isdigit() and (key == "0" or key[0] != "0")
    return plain and int(key) < 2**32 - 1


def _normal_forms(details: list[Case]) -> Case:
    calls = [call for found in details for call in found["trace"]["operations"]]
    repaired = [call for call in calls if "normalization" in call]
    succeeded = sum(call["outcome"] == "succeeded" for call in repaired)
    return {
        "normalizedCalls": len(repaired),
        "rulesApplied": sum(len(call["normalization"]["rules"]) for call in repaired),
        "succeeded": succeeded,
        "subsequentFailures": len(repaired) - succeeded,
    }


def _declared(case: Case) -> tuple[list[Case], str, list[Case]]:
    repairs: list[Case] = case.get("repairs") or []
    if case["surface"] is None:
        return [], "(sessions)", repairs
    return doubled(case["surface"]["actions"]), digest(case["surface"]), repairs
