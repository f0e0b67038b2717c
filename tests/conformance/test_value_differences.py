"""The rules about receipts and records excuse what they say, and nothing beside it."""

from __future__ import annotations

from typing import Any

import pytest

from fabricd.core.identity import canonical_line
from tests.conformance.runner import KINDS
from tests.conformance.samples import verdict
from tests.conformance.values import Case
from tests.core.value.making import measurement, receipt, record

KIND = "run-records"
CRASH: Case = {"exit": 2, "stdout": "", "stderr_json": {"code": "INVALID_INVOCATION"}}
THROWS: Case = {"throws": True}


def command(words: str, document: Any) -> Case:
    """A command line over a file."""
    files = {"r.json": {"text": canonical_line(document).decode()}}
    return {"kind": "cli", "argv": [words, "r.json"], "files": files, "expect": CRASH}


def call(name: str, document: Any) -> Case:
    """A call of a function."""
    text = canonical_line(document).decode()
    return {"kind": "call", "fn": name, "input_text": text, "expect": THROWS}


def judged(case: Case, expected: Case, **wrong: Any) -> str:
    """What becomes of our answer, changed or not, beside an expected one."""
    found = KINDS[KIND](case).found
    return verdict(KIND, case, expected, {**found, **wrong} if wrong else found)


def odd(name: Any) -> Any:
    """A receipt with a measurement of that id."""
    return receipt({**measurement(), "id": name}, schema="x")


@pytest.mark.parametrize("name", [7, True, {"a": 1}])
def test_measurement_ids_that_are_no_texts(name: Any) -> None:
    assert judged(call("validateValueReceipt", odd(name)), THROWS) == "measurement-ids"
    assert judged(call("summarizeRunRecord", record(odd(name))), THROWS) == "measurement-ids"
    case = command("validate-record", record(odd(name)))
    assert judged(case, CRASH) == "measurement-ids"
    assert judged(case, CRASH, exit=0) == "failed"
    assert judged(case, CRASH, stdout="{}\n") == "failed"
    case = call("validateValueReceipt", odd(name))
    assert judged(case, THROWS, violations=[]) == "failed"


@pytest.mark.parametrize("name", [None, "A", ["a"]])
def test_other_ids_excuse_no_failure(name: Any) -> None:
    assert judged(call("validateValueReceipt", odd(name)), THROWS) == "failed"
    assert judged(command("validate-record", record(odd(name))), CRASH) == "failed"


def test_null_mechanisms() -> None:
    made = record(receipt(), mechanisms=[None])
    assert judged(call("summarizeRunRecord", made), THROWS) == "null-mechanisms"
    assert judged(command("validate-record", made), CRASH) == "null-mechanisms"
    assert judged(command("value-summary", made), CRASH) == "null-mechanisms"
    text = record(receipt(), mechanisms=["x"])
    assert judged(command("value-summary", text), CRASH) == "failed"
