"""Checks, registers and sums where the vectors do not reach, or where we differ on purpose."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.trajectory.making import (
    asked,
    found,
    identity_of,
    measured,
    missed,
    packet,
    raw,
    read,
    shown,
    trajectory,
    written,
)

LARGE = 2**53 - 1


def changed(event: dict[str, Any], **members: Any) -> dict[str, Any]:
    """An event with some members changed; `a__b` is the member `b` of `a`."""
    copied = {**event}
    for path, value in members.items():
        name, _, inner = path.partition("__")
        copied[name] = {**copied[name], inner: value} if inner else value
    return copied


def test_missing_members_become_null() -> None:
    bare = raw("a")
    del bare["raw_evidence"]["locator_present"]
    request, end = asked("a"), missed("a")
    del request["reason"], end["reason"]
    figures = measured(trajectory(bare, request, end)).value()["measurements"]
    assert figures["operations"][0]["raw_evidence_locator_present"] is None
    assert figures["escalations"][0]["request"]["reason"] is None
    assert figures["escalations"][0]["terminal"]["reason"] is None


def test_ids_with_nul_stay_apart() -> None:
    one = changed(raw("a\0b"), initial_model_visible__content_identity="c")
    other = changed(raw("a", 70), initial_model_visible__content_identity="b\0c")
    result = measured(trajectory(one, other))
    assert result.figures is not None
    assert result.figures["initial_model_visible_bytes"] == 170


def test_a_repeat_is_shown_and_not_counted_twice() -> None:
    again = shown("a", "e2", 10, "a e1")
    events = [packet("a"), asked("a"), shown("a"), asked("a", "e2"), again]
    figures = measured(trajectory(*events)).value()["measurements"]
    assert figures["escalated_event_bytes"] == 20
    assert figures["escalated_model_visible_bytes"] == 10
    assert figures["deduplicated_reexposure_bytes"] == 10
    assert figures["operations"][0]["escalated_subset_bytes"] == 10
    assert [one["exposure"]["deduplicated_bytes"] for one in figures["escalations"]] == [0, 10]


def test_a_sum_may_reach_the_bound_and_not_pass_it() -> None:
    whole = [raw("a", LARGE - 5, 0), raw("b", 5, 0)]
    assert read(written(trajectory(*whole))).is_measured
    path = "/events/2"
    events = [*whole, raw("c", 1, 0), asked("c")]
    assert found(trajectory(*events)) == [
        ("INTEGER_OVERFLOW", path),
        ("UNKNOWN_OPERATION_ID", "/events/3/operation_id"),
    ]
    assert read(written(trajectory(*events))).head["violations"][0]["path"] == path


@pytest.mark.parametrize(
    ("written_bytes", "exceeds"),
    [
        (None, True),
        (False, True),
        (True, True),
        ("", True),
        ([], True),
        ("5", True),
        (-1, True),
        (10.5, False),
        ("50", False),
        (" 0x ", False),
        ({}, False),
        (2**53, False),
        pytest.param(10**400, False, id="huge"),
    ],
)
def test_a_refused_size_is_still_compared(written_bytes: Any, exceeds: bool) -> None:
    event = changed(packet("a"), raw_evidence__bytes=written_bytes)
    codes = found(trajectory(event, asked("a"), shown("a")))
    expected = ("ESCALATION_EXCEEDS_RAW_SOURCE", "/events/2/exposure/bytes")
    assert (expected in codes) is exceeds


@pytest.mark.parametrize(
    ("members", "code"),
    [
        ({"disposition": "NEEDS_RAW_EVIDENCE"}, "ESCALATION_CONTRADICTION"),
        ({"reduction_requires_escalation": True}, "SUFFICIENCY_CONTRADICTION"),
        ({"escalation_reasons": ["X"]}, "SUFFICIENCY_REASON_CONTRADICTION"),
        ({"payload__affected_by_ceiling": True}, "MISSING_PAYLOAD_CEILING"),
        ({"payload__ceiling_bytes": 299}, "PAYLOAD_CEILING_EXCEEDED"),
        (
            {"payload__semantics": "PURE_REDUCTION", "raw_evidence__bytes": 299},
            "REDUCED_EXCEEDS_RAW",
        ),
        ({"suppression__retained_evidence_count": 1}, "EVIDENCE_ACCOUNTING_MISMATCH"),
        ({"suppression__ambiguous_evidence_count": 6}, "AMBIGUOUS_COUNT_EXCEEDS_ORIGINAL"),
        ({"suppression__suppressed_categories": {}}, "SUPPRESSION_CATEGORY_TOTAL_MISMATCH"),
        (
            {"validation__trust": "STRUCTURALLY_VALID_UNVERIFIED_SOURCE"},
            "INCOHERENT_VALIDATION_STATE",
        ),
        ({"validation__classification": "X"}, "INCOHERENT_VALIDATION_STATE"),
        ({"validation__valid": False}, "UNTRUSTED_EVIDENCE_MEASUREMENTS"),
        ({"validation__evidence_sufficient": False}, "VALIDATION_SUFFICIENCY_MISMATCH"),
        ({"arm_id": "other"}, "ARM_IDENTITY_MISMATCH"),
        ({"configuration_id": "other"}, "CONFIGURATION_IDENTITY_MISMATCH"),
    ],
)
def test_the_short_way_overlooks_nothing(members: dict[str, Any], code: str) -> None:
    value = trajectory(changed(packet("a"), **members))
    direct = read(written(value))
    assert code in {violation["code"] for violation in direct.head["violations"]}
    assert direct.value() == measured(value).value()


def test_repeated_ids_are_found_on_the_short_way() -> None:
    value = trajectory(raw("a"), raw("a"), {**raw("b"), "event_id": "a:ev"})
    assert found(value) == [
        ("DUPLICATE_EVENT_ID", "/events/1/event_id"),
        ("DUPLICATE_OPERATION_ID", "/events/1/operation_id"),
        ("DUPLICATE_EVENT_ID", "/events/2/event_id"),
    ]
    assert read(written(value)).value() == measured(value).value()


def test_content_shown_before_its_operation_was_declared() -> None:
    early = shown("a", "e1", 10, "same")
    late = changed(raw("a", 10), initial_model_visible__content_identity=identity_of("same"))
    value = trajectory(asked("a"), early, late)
    assert read(written(value)).value() == measured(value).value()
    assert [code for code, _ in found(value)] == ["UNKNOWN_OPERATION_ID"] * 2


def test_categories_are_reported_in_the_order_of_a_javascript_object() -> None:
    event = changed(packet("a"), suppression__suppressed_categories={"b": -1, "10": -1, "9": -1})
    paths = [path.rpartition("/")[2] for _, path in found(trajectory(event))]
    assert paths == ["9", "10", "b"]


def test_tokens_are_echoed_though_refused() -> None:
    value = trajectory(token_measurements=5)
    result = measured(value)
    assert result.head["token_measurements"] == 5
    assert found(value) == [("OBJECT_REQUIRED", "/token_measurements")]


@pytest.mark.parametrize("disposition", [None, 1, True, 1.0])
def test_dispositions_that_are_no_texts_can_be_equal(disposition: Any) -> None:
    event = packet("a")
    told = {"sufficiency": disposition, "evidence_sufficient": False}
    event["disposition"], event["validation"] = disposition, {**event["validation"], **told}
    assert found(trajectory(event)) == [("INVALID_DISPOSITION", "/events/0/disposition")]
    event["validation"]["sufficiency"] = "x"
    assert len(found(trajectory(event))) == 2
    del event["disposition"], event["validation"]["sufficiency"]
    assert found(trajectory(event)) == [("INVALID_DISPOSITION", "/events/0/disposition")]


def test_no_two_objects_are_equal() -> None:
    event = packet("a")
    told = {"sufficiency": {}, "evidence_sufficient": False}
    event["disposition"], event["validation"] = {}, {**event["validation"], **told}
    assert [code for code, _ in found(trajectory(event))] == [
        "INVALID_DISPOSITION",
        "INCOHERENT_VALIDATION_STATE",
    ]
