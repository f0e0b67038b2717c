from __future__ import annotations

from fabricd.core.value.own import CALLS_REPAIRED, receipts_of, run_record
from fabricd.core.value.receipt import receipt_identity, validate_receipt
from fabricd.core.value.record import check_record
from fabricd.core.value.summary import summarize_record
from tests.core.value.making import turn


def test_a_turn_with_repairs_has_a_receipt_and_one_without_has_none() -> None:
    (made,) = receipts_of([turn(calls=2), turn(first="c-9", calls=0)], "extended", "1.2.3")
    assert validate_receipt(made) == []
    assert made["mechanism"] == {
        "id": "opsle.fabricd-normal-forms",
        "name": "fabricd",
        "version": "1.2.3",
        "revision": None,
    }
    assert made["operation"] == {
        "name": "apply-normal-forms",
        "id": "s-1/c-1",
        "configuration_id": "extended",
        "policy_id": None,
    }
    assert made["run"] == {"id": "s-1"}
    assert [entry["kind"] for entry in made["evidence"]] == ["CONTENT_HASH", "RUN_ARTIFACT"] * 2
    assert made["evidence"][1]["locator"] == "log.jsonl#c-1.0"


def test_it_claims_that_calls_were_repaired_and_nothing_else() -> None:
    (made,) = receipts_of([turn(calls=3)], "classic", "1")
    (figure,) = made["measurements"]
    told = ("id", "unit", "class", "result", "baseline", "delta", "derivation")
    assert [figure[name] for name in told] == [
        CALLS_REPAIRED, "count", "OBSERVED", 3, None, None, None
    ]  # fmt: skip
    assert figure["evidence_refs"] == [entry["id"] for entry in made["evidence"]]


def test_when_a_turn_was_observed_does_not_tell_it_apart() -> None:
    early, late = receipts_of(
        [turn(at="2026-05-01T00:00:00Z"), turn(at="2026-05-02T00:00:00Z")], "extended", "1"
    )
    assert receipt_identity(early) == receipt_identity(late)


def test_a_turn_that_was_read_again_counts_once() -> None:
    shorter, whole = receipts_of([turn(calls=1), turn(calls=3)], "extended", "1")
    (upgraded,) = receipts_of([turn(calls=3)], "extended", "2")
    (other,) = receipts_of([turn(first="c-7")], "extended", "2")
    made = run_record("s-1", [shorter, whole, upgraded, other])
    assert check_record(made).violations == []
    assert sorted(map(receipt_identity, made["value_receipts"])) == sorted(
        map(receipt_identity, (whole, other))
    )
    totals = summarize_record(made)["aggregates"]
    assert sorted(total["result_total"] for total in totals) == [1, 3]
    assert run_record("s-1", [other, upgraded, whole]) != made


def test_odd_names_are_no_trouble() -> None:
    (made,) = receipts_of([turn(session="s\ud800\0/..", first="")], "", "1")
    # An empty name of conventions is no name.
    assert [found.path for found in validate_receipt(made)] == ["/operation/configuration_id"]
