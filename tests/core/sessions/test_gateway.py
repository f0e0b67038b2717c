"""The gateway's logs as a history: checked calls, repairs, and the guard of their traces."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from fabricd.core.history.calls import CallTable
from fabricd.core.history.judging import Judge
from fabricd.core.history.recorder import Recorder
from fabricd.core.history.summary import Wanted, agents_steps
from fabricd.core.sessions.gateway import Gateway, is_witness, operation_of
from fabricd.core.sessions.sniff import Found, sniff
from fabricd.core.sessions.trace import refusal
from fabricd.core.steps import finish

HEAD = {
    "type": "session", "format": "fabricd.gateway", "version": 1, "id": "s1", "cwd": "/repo",
    "timestamp": "2026-05-04T00:00:00.000Z",
}  # fmt: skip
V2 = {
    "version": 2,
    "baseSchemaDigest": "a" * 64,
    "beforeShape": "b" * 64,
    "afterShape": "c" * 64,
    "rules": [{"kind": "json-container", "at": "/properties/tags", "count": 2}],
}
V1 = {**V2, "version": 1, "rules": [{"kind": "numeric-string", "key": "n"}]}


def trace(outcome: str = "succeeded", **more: Any) -> dict[str, Any]:
    """A trace with one operation."""
    operation = {"type": "call", "sequence": 0, "ref": "mcp.s.t", "args": {"n": ""}}
    counts = dict.fromkeys(
        ("droppedValues", "truncatedValues", "redactedValues", "droppedOperations"), 0
    )
    return {
        "kind": "pi-fabric.execution", "version": 1, "outcome": outcome, "phases": [],
        "operations": [{**operation, "outcome": outcome, **more}], "counts": counts,
    }  # fmt: skip


def call(ident: Any, check: str, told: dict[str, Any], second: int = 0, **more: Any) -> Any:
    """A record of a call."""
    at = f"2026-05-04T00:00:{second:02}.000Z"
    return {"type": "call", "id": ident, "timestamp": at, "check": check, "trace": told, **more}


def summed(*logs: list[Any]) -> dict[str, Any]:
    """What a report says of some logs."""
    tables: list[CallTable] = []
    for log in logs:
        table = CallTable("gateway")
        adapter = Gateway(Recorder(table, Judge()))
        for record in log:
            adapter.take(json.dumps(record).encode())
        tables.append(table)
    from datetime import UTC, datetime

    agents, _ = finish(
        agents_steps(tables, Wanted(), lambda at: datetime.fromtimestamp(at / 1000, UTC).date())
    )
    return agents[0]


def test_checks_become_verdicts_and_repairs_are_counted() -> None:
    log = [
        HEAD,
        {"type": "surface", "digest": "d", "actions": []},
        call(1, "accepted", trace(), 1),
        call(2, "repaired", trace(normalization=V2), 2),
        call(3, "repaired", trace("failed", failureStage="invoke", normalization=V1), 3),
        call(4, "validate", trace("failed", failureStage="validate"), 4, faults=["number-text"]),
        call(5, "resolve", trace("failed", failureStage="resolve"), 5, faults=["unknown-tool"]),
        call(6, "validate", trace(), 6, faults=["bad-item", "unheard-of", 5], repairable=True),
        call(7, "unknown", trace("aborted"), 7),
    ]
    value = summed(log)
    assert (value["sessions"], value["calls"], value["noSchema"]) == (1, 7, 1)
    assert value["outcomes"] == {
        "succeeded": 3, "failed": 3, "aborted": 1, "timedOut": 0, "unknown": 0,
    }  # fmt: skip
    assert value["rejections"] == {
        "recorded": {"rejected": 2, "calls": 7},
        "replayed": {"rejected": 2, "calls": 6},
    }
    assert value["acceptedThoughInvalid"] == 1
    assert value["malformations"] == {
        "number-text": {"calls": 1, "repairable": 0},
        "unknown-tool": {"calls": 1, "repairable": 0},
    }
    assert value["repaired"] == {"calls": 2, "saved": 1}
    assert value["repairedTools"] == [{"tool": "mcp.s.t", "calls": 2, "saved": 1}]
    assert value["projects"][0]["project"] == "/repo"


def test_requests_of_two_runs_with_one_number_are_two_calls() -> None:
    other = {**HEAD, "id": "s2"}
    value = summed([HEAD, call(1, "accepted", trace())], [other, call(1, "accepted", trace())])
    assert value["calls"] == 2
    # A copy of a log tells nothing new.
    log = [HEAD, call(1, "accepted", trace())]
    assert summed(log, log)["calls"] == 1


def _without(path: list[Any]) -> dict[str, Any]:
    changed = copy.deepcopy(trace(normalization=V2))
    at: Any = changed
    for step in path[:-1]:
        at = at[step]
    del at[path[-1]]
    return changed


@pytest.mark.parametrize(
    "bad",
    [
        None, [], {}, {**trace(), "more": 1}, {**trace(), "version": 2}, trace("gone"),
        trace(durationMs=5), trace(args=[]), {**trace(), "operations": []},
        {**trace(), "operations": trace()["operations"] * 2},
        trace(normalization=None), trace(normalization={**V2, "version": 3}),
        trace(normalization={**V2, "rules": []}), trace(normalization={**V2, "more": 1}),
        trace(normalization={**V2, "rules": [{"kind": "guess", "at": "", "count": 1}]}),
        trace(normalization={**V2, "rules": [{"kind": "json-container", "at": "", "count": 0}]}),
        trace(normalization={**V2, "afterShape": "x"}), _without(["counts", "droppedValues"]),
        _without(["operations", 0, "ref"]), _without(["operations", 0, "normalization", "rules"]),
    ],
)  # fmt: skip
def test_a_trace_that_the_guard_refuses_is_no_call(bad: Any) -> None:
    assert operation_of(bad) is None
    assert summed([HEAD, call(1, "accepted", bad), call(2, "accepted", trace())])["calls"] == 1


def test_a_witness_of_version_2_is_one_here_and_none_to_fabric() -> None:
    for witness, reason in ((V1, None), (V2, "witness")):
        told = trace(normalization=witness)
        assert is_witness(witness) and operation_of(told) is not None
        assert refusal(told) == reason


def test_a_log_is_known_by_its_first_line() -> None:
    assert sniff(json.dumps(HEAD).encode() + b"\n") == Found("gateway")
