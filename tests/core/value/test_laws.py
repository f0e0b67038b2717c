"""Laws of receipts, records and summaries, over generated ones."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fabricd.core.identity import canonical_text
from fabricd.core.trajectory.violations import Violation
from fabricd.core.value.codes import MESSAGES
from fabricd.core.value.explanations import EXPLANATIONS
from fabricd.core.value.ingestion import ingest_receipts
from fabricd.core.value.receipt import receipt_identity, semantic_receipt, validate_receipt
from fabricd.core.value.record import check_record, record_identity
from fabricd.core.value.summary import Summary, summarize_record, summarize_records
from tests.core.value.making import (
    broken,
    measurement,
    measurements,
    numbered,
    receipt,
    record,
    records,
)

_TIME = "2026-05-01T12:00:00Z"
_FULL = record(
    receipt(
        measurement(),
        measurement("money", 1.5, unit="usd"),
        extensions={"a": [1, {"b": 2}]},
        observed_at=_TIME,
    ),
    numbered(
        2, measurement("state", "on", unit="state", aggregation={"method": None, "safe": False})
    ),
    mechanisms=[
        {
            "configuration_id": "cfg",
            "id": "opsle.demo",
            "name": "Demo",
            "policy_id": None,
            "revision": None,
            "version": "1",
        }
    ],
    telemetry={
        "tool_call_count": 3,
        "provider_recorded_tokens": {
            "source": "PROVIDER_RECORDED",
            "input": 1,
            "output": 2,
            "total": 3,
        },
    },
    events=[{"id": "a", "type": "FAILURE", "status": None, "evidence_refs": ["x"]}],
    outcome={"acceptance": "accepted", "review": None},
    evidence_refs=["x"],
)


def test_the_full_record_is_sound() -> None:
    assert check_record(_FULL).violations == []


def are_told(violations: list[Violation], start: str) -> bool:
    """Whether all codes are in the table, and all paths begin where they should."""
    return all(
        found.code in MESSAGES
        and found.message.startswith(MESSAGES[found.code])
        and found.path.startswith(start)
        for found in violations
    )


@settings(max_examples=250)
@given(broken(_FULL["value_receipts"][0]))
def test_whatever_is_wrong_with_a_receipt_has_a_code(value: Any) -> None:
    violations = validate_receipt(value)
    assert are_told(violations, "/")
    keys = [(found.path, found.code, found.message) for found in violations]
    assert keys == sorted(
        keys, key=lambda key: [part.encode("utf-16-be", "surrogatepass") for part in key]
    )


@settings(max_examples=250)
@given(broken(_FULL))
def test_whatever_is_wrong_with_a_record_has_a_code(value: Any) -> None:
    checked = check_record(value)
    assert are_told(checked.violations, "/")
    summary = summarize_record(value)
    assert summary["valid"] or summary["violations"]
    assert summary["valid"] <= (checked.violations == [])
    assert canonical_text(summary)


@settings(max_examples=60)
@given(st.lists(broken(_FULL), max_size=3))
def test_whatever_is_wrong_with_records_has_a_code(values: list[Any]) -> None:
    summary = summarize_records(values)
    assert all(found["code"] in MESSAGES for found in summary["violations"])
    assert canonical_text(summary)


@given(measurements(), st.sampled_from(["2026-01-01T00:00:00Z", "0000-02-30T24:00:00.0-23:59"]))
def test_identity_ignores_when_a_receipt_was_observed(figures: list[Any], when: str) -> None:
    made = receipt(*figures)
    assert receipt_identity({**made, "observed_at": when}) == receipt_identity(made)
    assert semantic_receipt({**made, "observed_at": when}) == made
    assert record_identity(record({**made, "observed_at": when})) == record_identity(record(made))


@settings(max_examples=60)
@given(broken(receipt(measurement(), extensions={"observed_at": 1, "x": [1, 2]})))
def test_identity_ignores_nothing_else(value: Any) -> None:
    sound = receipt(measurement(), extensions={"observed_at": 1, "x": [1, 2]})
    if validate_receipt(value) == []:
        is_equal = canonical_text(value) == canonical_text(sound)
        assert (receipt_identity(value) == receipt_identity(sound)) is is_equal


@settings(max_examples=60)
@given(records(), st.randoms(use_true_random=False))
def test_a_summary_does_not_depend_on_the_order_of_files(given: list[Any], rng: Any) -> None:
    other = copy.deepcopy(given)
    rng.shuffle(other)
    assert summarize_records(given)["valid"]
    assert canonical_text(summarize_records(other)) == canonical_text(summarize_records(given))


def _but_identities(summary: Summary) -> Summary:
    told = {**summary, "runs": [run["run_id"] for run in summary["runs"]]}
    return {name: value for name, value in told.items() if name != "summary_identity"}


@settings(max_examples=60)
@given(records(), st.randoms(use_true_random=False))
def test_the_order_of_receipts_changes_the_record_identity_alone(
    given: list[Any], rng: Any
) -> None:
    other = copy.deepcopy(given)
    for one in other:
        rng.shuffle(one["value_receipts"])
    left, right = summarize_records(given), summarize_records(other)
    assert _but_identities(left) == _but_identities(right)
    assert (left["summary_identity"] == right["summary_identity"]) is (given == other)


@settings(max_examples=60)
@given(records())
def test_totals_are_sums_of_what_may_be_added(given: list[Any]) -> None:
    figures = [
        entry for one in given for made in one["value_receipts"] for entry in made["measurements"]
    ]
    added = [entry for entry in figures if entry["aggregation"]["safe"]]
    summary = summarize_records(given)
    assert summary["measurement_count"] == len(figures)
    assert sum(one["result_total"] for one in summary["aggregates"]) == sum(
        entry["result"] for entry in added
    )
    assert len(summary["excluded_from_aggregation"]) == len(figures) - len(added)


@settings(max_examples=60)
@given(records())
def test_receipts_are_taken_in_all_or_none(given: list[Any]) -> None:
    receipts = given[0]["value_receipts"]
    ingested = ingest_receipts(receipts, given[0]["run"]["id"])
    assert ingested.receipts is not None
    identities = [accepted.identity for accepted in ingested.receipts]
    assert identities == sorted(map(receipt_identity, receipts))
    assert ingest_receipts([*receipts, None]).receipts is None


def test_every_code_is_explained() -> None:
    assert EXPLANATIONS.keys() == MESSAGES.keys()
