"""The rules about trajectories excuse what they say, and nothing beside it."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.conformance.runner import KINDS
from tests.conformance.samples import verdict
from tests.conformance.values import Case
from tests.core.trajectory.making import asked, missed, raw, trajectory, written

KIND = "trajectory-peer-crash"
CRASH: Case = {"exit": 2, "stdout": "", "stderr_json": {"code": "INVALID_INVOCATION"}}
TOLD: Case = {"exit": 0, "stdout_json": {}, "stderr": ""}


def command(words: str, expected: Case, *values: Any) -> Case:
    """A command line over files t0.json, t1.json and so on."""
    files = {
        f"t{place}.json": {"text": written(value).decode()} for place, value in enumerate(values)
    }
    return {"kind": "cli", "argv": [words, *files], "files": files, "expect": expected}


def bare(what: str) -> Any:
    """A trajectory that lacks an optional member."""
    event, request, end = raw("a"), asked("a"), missed("a")
    if what == "locator":
        del event["raw_evidence"]["locator_present"]
    if what == "reason":
        del request["reason"], end["reason"]
    return trajectory(event, request, end)


def judged(case: Case, expected: Case, **wrong: Any) -> str:
    """What becomes of our answer, changed or not, beside an expected one."""
    found = {**KINDS[KIND](case).found, **wrong}
    return verdict(KIND, case, expected, found)


@pytest.mark.parametrize("what", ["locator", "reason"])
@pytest.mark.parametrize("words", ["profile", "compare"])
def test_missing_members(what: str, words: str) -> None:
    values = [bare(what)] * (2 if words == "compare" else 1)
    case = command(words, CRASH, *values)
    assert judged(case, CRASH) == "missing-members"
    assert judged(case, CRASH, exit=1) == "failed"
    assert judged(case, CRASH, stdout="{}\n") == "failed"


def test_a_whole_trajectory_excuses_no_crash() -> None:
    assert judged(command("profile", CRASH, bare("nothing")), CRASH) == "failed"
    assert judged(command("validate", CRASH, bare("reason")), CRASH) == "failed"
    assert judged(command("profile", CRASH, 5), CRASH) == "failed"


def test_missing_members_of_a_call() -> None:
    value = bare("reason")
    call: Case = {
        "kind": "call",
        "fn": "profileTrajectory",
        "input_text": written(value).decode(),
        "expect": {"returns_json": {}},
    }
    ours = KINDS[KIND](call).found
    theirs = copy.deepcopy(ours)
    inner = theirs["measurements"]["escalations"][0]["request"]
    del inner["reason"]
    path = "/measurements/escalations/0/request/reason"
    assert verdict(KIND, {**call, "expect": {"undefined_at": [path]}}, theirs, ours) == (
        "missing-members"
    )
    assert verdict(KIND, call, theirs, ours) == "failed"


def test_ids_with_nul() -> None:
    one, other = raw("a\0b"), raw("a")
    one["initial_model_visible"]["content_identity"] = "c"
    other["initial_model_visible"]["content_identity"] = "b\0c"
    case = command("profile", TOLD, trajectory(one, other))
    found = KINDS[KIND](case).found
    figures = {**found["stdout_json"]["measurements"], "initial_model_visible_bytes": 100}
    theirs = {**found, "stdout_json": {**found["stdout_json"], "measurements": figures}}
    assert found["stdout_json"]["run_id"] == "run-1"
    assert verdict(KIND, case, theirs, found) == "nul-in-identities"
    assert verdict(KIND, case, found, theirs) == "failed"
    plain = command("profile", TOLD, trajectory(raw("a"), raw("b")))
    assert verdict(KIND, plain, theirs, KINDS[KIND](plain).found) == "failed"
