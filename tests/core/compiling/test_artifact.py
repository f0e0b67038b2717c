from __future__ import annotations

import json
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricd.core.compiling.artifact import (
    Applied,
    Artifact,
    Gate,
    Overlay,
    Quarantine,
    artifact_bytes,
    artifact_of,
    artifact_value,
    fresh,
)
from fabricd.core.documents import strict_json
from fabricd.core.javascript import trim
from fabricd.core.model import RULE_KINDS, Plan, Rule
from tests.core.making import Json
from tests.core.strategies import texts

words = texts.filter(lambda text: text != "" and trim(text) == text)
digests = st.text("0123456789abcdef", min_size=64, max_size=64)
scores = st.one_of(st.integers(0, 10).map(float), st.floats(0, 1e9))
keys = texts.filter(lambda text: text not in ("__proto__", "prototype", "constructor"))
rules = st.builds(Rule, st.sampled_from(RULE_KINDS), keys)
plans = st.builds(
    Plan,
    st.just(1),
    texts.filter(bool),
    digests,
    st.lists(rules, min_size=1, max_size=3).map(tuple),
)
unique_plans = st.lists(plans, max_size=3, unique_by=lambda plan: plan.ref).map(tuple)
ledgers = st.lists(st.builds(Applied, words, words, words), max_size=2).map(tuple)
gates = st.builds(Gate, st.booleans(), scores, scores, st.lists(texts, max_size=2).map(tuple))
current = st.builds(Artifact, st.just(2), st.integers(1, 9), unique_plans, ledgers, gates, words)
schemas = st.dictionaries(texts, st.one_of(texts, st.booleans(), st.integers(-9, 9)), max_size=2)
legacy = st.builds(
    Artifact,
    st.just(1),
    st.integers(1, 9),
    st.just(()),
    ledgers,
    gates,
    words,
    st.lists(
        st.builds(Overlay, words, schemas, words), max_size=2, unique_by=lambda row: row.ref
    ).map(tuple),
    st.lists(st.builds(Quarantine, words, words), max_size=2).map(tuple),
)


@settings(max_examples=100)
@given(st.one_of(current, legacy))
def test_an_artifact_reads_back_from_its_bytes(artifact: Artifact) -> None:
    assert artifact_of(strict_json(artifact_bytes(artifact))) == artifact


@given(st.one_of(current, legacy))
def test_reading_and_writing_again_gives_the_same_bytes(artifact: Artifact) -> None:
    data = artifact_bytes(artifact)
    again = artifact_of(strict_json(data))
    assert again is not None
    assert artifact_bytes(again) == data


@given(current)
def test_the_layout_is_two_spaces_and_a_final_newline(artifact: Artifact) -> None:
    data = artifact_bytes(artifact)
    value = json.loads(data)
    assert data.endswith(b"}\n")
    assert [line[:3] for line in data.split(b"\n")[1:3]] == [b'  "', b'  "']
    assert list(value) == list(artifact_value(artifact)) == list(SOUND)


PLAN: Json = {
    "version": 1,
    "ref": "a",
    "baseSchemaDigest": "a" * 64,
    "rules": [{"kind": "key-form", "key": "x"}],
}
ROW: Json = {"kind": "normal-form", "ref": "a", "detail": "1 proven rules"}
SOUND: Json = {
    "version": 2,
    "metricVersion": 3,
    "actions": [],
    "quarantined": [],
    "normalizations": [PLAN],
    "applied": [ROW],
    "gate": {"passed": True, "beforeScore": 0, "afterScore": 0.5, "reasons": []},
    "evidenceDigest": "e" * 64,
}
OVERLAY: Json = {"ref": "a", "inputSchema": {}, "baseSchemaDigest": "d"}
OLD: Json = {key: SOUND[key] for key in SOUND if key != "normalizations"} | {
    "version": 1,
    "actions": [OVERLAY],
    "quarantined": [{"ref": "b", "baseSchemaDigest": "d"}] * 2,
}


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"version": 2.0},
        {"more": 1},
        {"normalizations": []},
        {"normalizations": [PLAN | {"ref": str(n)} for n in range(1000)]},
        {"applied": [ROW] * 256},
        {"applied": [ROW | {"kind": "anything", "more": 1}]},
        {"evidenceDigest": "not hex"},
        {"gate": SOUND["gate"] | {"passed": False, "reasons": [""], "more": 1}},
    ],
)
def test_sound_artifacts_load(change: Json) -> None:
    assert artifact_of(SOUND | change) is not None


@pytest.mark.parametrize(
    "change",
    [
        {"version": 3},
        {"version": True},
        {"version": "2"},
        {"metricVersion": 0},
        {"metricVersion": 1.5},
        {"metricVersion": True},
        {"actions": [OVERLAY]},
        {"actions": None},
        {"quarantined": [{"ref": "b", "baseSchemaDigest": "d"}]},
        {"quarantined": {}},
        {"normalizations": None},
        {"normalizations": [PLAN, PLAN]},
        {"normalizations": [PLAN | {"version": 2}]},
        {"normalizations": [PLAN | {"ref": str(n)} for n in range(1001)]},
        {"applied": [ROW] * 257},
        {"applied": [ROW | {"detail": " "}]},
        {"applied": [ROW | {"ref": 5}]},
        {"applied": {}},
        {"gate": None},
        {"gate": SOUND["gate"] | {"passed": 1}},
        {"gate": SOUND["gate"] | {"beforeScore": None}},
        {"gate": SOUND["gate"] | {"afterScore": True}},
        {"gate": SOUND["gate"] | {"afterScore": float("inf")}},
        {"gate": SOUND["gate"] | {"reasons": [1]}},
        {"gate": SOUND["gate"] | {"reasons": "none"}},
        {"evidenceDigest": "\ufeff "},
        {"evidenceDigest": None},
    ],
)
def test_anything_else_is_no_artifact(change: Json) -> None:
    assert artifact_of(SOUND | change) is None


@pytest.mark.parametrize("name", list(SOUND))
def test_no_member_may_be_missing(name: str) -> None:
    assert artifact_of({key: value for key, value in SOUND.items() if key != name}) is None


@pytest.mark.parametrize("value", [None, [], "artifact", 2])
def test_what_is_no_object_is_no_artifact(value: Any) -> None:
    assert artifact_of(value) is None


def test_a_legacy_artifact_loads_without_plans() -> None:
    found = artifact_of(OLD | {"normalizations": [PLAN]})
    assert found is not None
    assert (found.version, found.plans, len(found.quarantined)) == (1, (), 2)
    assert found.overlays == (Overlay("a", {}, "d"),)
    assert "normalizations" not in artifact_value(found)


@pytest.mark.parametrize(
    "change",
    [
        {"actions": [OVERLAY, OVERLAY]},
        {"actions": [OVERLAY | {"inputSchema": True}]},
        {"actions": [OVERLAY | {"ref": " "}]},
        {"quarantined": [{"ref": "b"}]},
    ],
)
def test_a_malformed_legacy_artifact_does_not_load(change: Json) -> None:
    assert artifact_of(OLD | change) is None


def test_words_are_trimmed_and_unknown_members_dropped() -> None:
    found = artifact_of(SOUND | {"evidenceDigest": "\ufeff e ", "applied": [ROW | {"ref": " a\n"}]})
    assert found is not None
    assert (found.evidence_digest, found.applied[0].ref) == ("e", "a")


def test_plans_are_judged_by_form_alone() -> None:
    # A plan is no authority: what it says is proven where it is used.
    found = artifact_of(SOUND | {"normalizations": [PLAN | {"baseSchemaDigest": "0" * 64}]})
    assert found is not None
    assert found.plans[0].base_schema_digest == "0" * 64


def test_an_empty_artifact_has_its_lists_all_the_same() -> None:
    value = json.loads(artifact_bytes(fresh((), "s", 0.0)))
    assert [cast(list[Any], value[k]) for k in ("normalizations", "applied", "actions")] == [[]] * 3
