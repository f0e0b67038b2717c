from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.compiling.artifact import artifact_of
from fabricd.core.compiling.refusal import refusal_of
from tests.core.compiling.test_artifact import OLD, OVERLAY, PLAN, SOUND
from tests.core.making import Json
from tests.core.strategies import json_values

members = st.sampled_from([*SOUND, "more"])


@given(st.sampled_from([SOUND, OLD]), st.dictionaries(members, json_values(4), max_size=3))
def test_whatever_the_guard_refuses_has_a_reason_and_nothing_else(base: Json, change: Json) -> None:
    value = base | change
    reason = refusal_of(value)
    assert (reason is None) == (artifact_of(value) is not None)
    assert reason is None or reason.startswith("expected ")


@given(json_values(6))
def test_no_document_is_refused_without_a_reason(value: Any) -> None:
    assert str(refusal_of(value)).startswith("expected ")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "expected an object, found nothing"),
        ([1, 2], "expected an object, found a list of 2"),
        ({}, "expected version 1 or 2, found nothing"),
        (SOUND | {"version": 3}, "expected version 1 or 2, found 3"),
        (SOUND | {"version": "2"}, 'expected version 1 or 2, found "2"'),
        (SOUND | {"version": True}, "expected version 1 or 2, found true"),
        (SOUND | {"metricVersion": 0}, "expected metricVersion to be a whole number of at least 1"),
        (SOUND | {"actions": [OVERLAY]}, "actions of version 2 to be empty, found a list of 1"),
        (SOUND | {"quarantined": {}}, "expected quarantined to be a list"),
        (OLD | {"actions": [OVERLAY, OVERLAY]}, "expected actions to be a list of restrictions"),
        (SOUND | {"normalizations": None}, "at most 1,000 plans, found nothing"),
        (
            SOUND | {"normalizations": [PLAN | {"ref": str(n)} for n in range(1001)]},
            "found a list of 1001",
        ),
        (
            SOUND | {"normalizations": [PLAN, {"ref": "b"}]},
            "expected normalizations[1] to be a plan, found an object with ref",
        ),
        (
            SOUND | {"normalizations": [PLAN, PLAN | {"ref": "b"}, PLAN]},
            "expected one plan for each ref, found several for a",
        ),
        (SOUND | {"applied": [{}]}, "expected applied to be a list of at most 256 rows"),
        (SOUND | {"gate": {"passed": True}}, "expected gate to be passed, two scores"),
        (SOUND | {"evidenceDigest": " "}, 'expected evidenceDigest to be a text, found " "'),
    ],
)
def test_the_reason_says_what_was_expected_and_what_was_found(value: Any, words: str) -> None:
    assert words in str(refusal_of(value))
