"""Checks that no vector holds, and those where we answer otherwise than the reference."""

from __future__ import annotations

from typing import Any

import pytest

from fabricd.core.value.ingestion import ingest_receipts
from fabricd.core.value.receipt import (
    InvalidReceipt,
    receipt_identity,
    semantic_receipt,
    validate_receipt,
)
from fabricd.core.value.record import InvalidRecord, check_record, record_identity
from fabricd.core.value.summary import summarize_record, summarize_records
from fabricd.core.value.times import is_time
from tests.core.value.making import DERIVED, NOT_ADDED, measurement, numbered, receipt, record


def codes(value: Any) -> list[tuple[str, str]]:
    """What is wrong with a receipt."""
    return [(found.code, found.path) for found in validate_receipt(value)]


def wrongs(value: Any) -> list[tuple[str, str]]:
    """What is wrong with a record."""
    return [(found.code, found.path) for found in check_record(value).violations]


@pytest.mark.parametrize("name", [7, True, {"a": 1}, ["x"], None, "", "A"])
def test_a_bad_measurement_id_is_reported_at_its_path(name: Any) -> None:
    bad = measurement()
    bad["id"] = name
    assert codes(receipt(bad)) == [("INVALID_MEASUREMENT_ID", "/measurements/0/id")]


def test_bad_input_ids_are_reported_one_by_one() -> None:
    derivation = {**DERIVED, "input_measurement_ids": ["a", 7, "B"]}
    made = {**measurement(aggregation=NOT_ADDED, derivation=derivation), "class": "MODELED"}
    path = "/measurements/0/derivation/input_measurement_ids"
    assert codes(receipt(made)) == [
        ("INVALID_MEASUREMENT_ID", f"{path}/1"),
        ("INVALID_MEASUREMENT_ID", f"{path}/2"),
    ]


def test_a_null_mechanism_is_no_object_and_matches_nothing() -> None:
    assert wrongs(record(receipt(), mechanisms=[None])) == [
        ("OBJECT_REQUIRED", "/mechanisms/0"),
        ("MECHANISM_DECLARATION_MISMATCH", "/value_receipts/0/mechanism"),
    ]


def test_a_message_quotes_what_is_not_resolved() -> None:
    (found,) = validate_receipt(receipt(measurement(evidence_refs=["e1", {"b": 1, "a": "é"}])))
    assert found.message.endswith(': {"a":"é","b":1}')
    (infinite, _) = validate_receipt(receipt(measurement(evidence_refs=[float("inf")])))
    assert infinite.code == "INVALID_JSON_VALUE"


@pytest.mark.parametrize("number", [float("inf"), 10**400, -(10**400)])
def test_what_is_infinite_to_a_double_is_reported_once_for_the_whole(number: Any) -> None:
    assert codes(receipt(extensions={"deep": [{"a": number}]})) == [("INVALID_JSON_VALUE", "/")]


def test_deep_extensions_are_fine() -> None:
    deep: Any = []
    for _ in range(1500):
        deep = [deep]
    assert codes(receipt(extensions={"deep": deep})) == []
    assert receipt_identity(receipt(extensions={"deep": deep})).startswith("sha256:")


def test_whole_floats_and_integers_are_one_figure() -> None:
    left, right = receipt(measurement(result=100)), receipt(measurement(result=100.0))
    assert receipt_identity(left) == receipt_identity(right)
    twice = ingest_receipts([left, right])
    assert [(found.code, found.path) for found in twice.violations] == [
        ("DUPLICATE_VALUE_RECEIPT", "/value_receipts/1")
    ]


def test_identities_of_what_is_not_valid_are_refused() -> None:
    with pytest.raises(InvalidReceipt, match="UNSUPPORTED_SCHEMA /schema"):
        receipt_identity(receipt(schema="x"))
    with pytest.raises(InvalidRecord, match="RUN_ID_REQUIRED /run/id"):
        record_identity(record(run=""))


def test_a_sum_that_was_once_beyond_the_bound_is_none() -> None:
    most = 2**53 - 1
    many = [numbered(number, measurement(result=most)) for number in range(3)]
    assert [found["code"] for found in summarize_record(record(*many))["violations"]] == [
        "AGGREGATE_OVERFLOW"
    ]


def test_unbound_receipts_that_are_alike_collide_across_runs() -> None:
    alike = receipt(run=None)
    found = summarize_records([record(alike, run="a"), record(alike, run="b")])
    assert [(one["code"], one["path"]) for one in found["violations"]] == [
        ("DUPLICATE_VALUE_RECEIPT", "/records/1/value_receipts")
    ]


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("2026-02-31T23:59:59Z", True),
        ("2026-05-01T24:00:00.000+00:00", True),
        ("2026-05-01T12:00:60Z", False),
        ("2026-05-01T12:00:00.Z", False),
        ("2026-05-01T12:00:00Z\n", False),
        ("٢٠٢٦-05-01T12:00:00Z", False),
        (20260501, False),
    ],
)
def test_times(text: Any, fits: bool) -> None:
    assert is_time(text) is fits


@pytest.mark.parametrize("value", [None, [], "x", 7])
def test_what_is_no_object_is_no_receipt_without_its_time(value: object) -> None:
    with pytest.raises(InvalidReceipt):
        semantic_receipt(value)
