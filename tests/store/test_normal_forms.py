from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from fabricd.core.canonical import digest
from fabricd.core.normalform.extended import ExtendedPlan, ExtendedRule
from fabricd.core.normalform.extended.artifact import (
    NormalForms,
    fresh_normal_forms,
    normal_forms_bytes,
    normal_forms_of,
)
from fabricd.store import normal_forms
from fabricd.store.durable import Damaged, Loaded, Missing
from fabricd.store.normal_forms import DamagedNormalForms, load, save
from tests.core.making import Json


def plan(ref: str) -> ExtendedPlan:
    return ExtendedPlan(2, ref, "a" * 64, "extended", (ExtendedRule("json-container", ""),))


SURFACE = "5" * 64
ONE = fresh_normal_forms((plan("a"), plan("é"), plan("\U0001f600"), plan("\ue000")), SURFACE)
OTHER = fresh_normal_forms((), SURFACE)
DAMAGE = [b"", b"{", b"{}", b"null", b"\xff", normal_forms_bytes(ONE)[:-3], b"[" * 100_000]


def test_the_file_is_a_function_of_plans_and_surface(tmp_path: Path) -> None:
    path = tmp_path / "entropy" / "normal-forms.json"
    assert load(path) == Missing()
    assert save(path, ONE) == "written"
    assert load(path) == Loaded(ONE, normal_forms_bytes(ONE))
    value = json.loads(path.read_bytes())
    assert list(value) == ["version", "conventions", "plans", "surfaceDigest", "evidenceDigest"]
    assert (value["version"], value["conventions"]) == (3, "extended")
    assert value["surfaceDigest"] == SURFACE
    assert value["evidenceDigest"] == digest(value["plans"])
    assert path.read_text() == json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def test_equal_bytes_are_not_written_again(tmp_path: Path) -> None:
    path = tmp_path / "normal-forms.json"
    save(path, ONE)
    os.utime(path, ns=(1, 1))
    before = path.stat()
    assert save(path, ONE) == "already_written"
    after = path.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize("there", [normal_forms_bytes(OTHER), normal_forms_bytes(ONE).rstrip()])
def test_a_sound_file_is_replaced(tmp_path: Path, there: bytes) -> None:
    path = tmp_path / "normal-forms.json"
    path.write_bytes(there)
    assert save(path, ONE) == "written"
    assert path.read_bytes() == normal_forms_bytes(ONE)


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_never_overwritten(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "normal-forms.json"
    path.write_bytes(damage)
    found = load(path)
    assert isinstance(found, Damaged)
    with pytest.raises(DamagedNormalForms) as caught:
        save(path, ONE)
    assert caught.value.damage == found and found.reason in str(caught.value)
    assert path.read_bytes() == damage
    assert os.listdir(tmp_path) == ["normal-forms.json"]


def test_what_could_not_be_loaded_again_is_not_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "normal-forms.json"
    monkeypatch.setattr(normal_forms, "MAX_BYTES", 300)
    assert save(path, OTHER) == "written"
    with pytest.raises(OSError, match="File too large"):
        save(path, ONE)
    assert load(path) == Loaded(OTHER, normal_forms_bytes(OTHER))


def value_of(forms: NormalForms) -> Json:
    value: Json = json.loads(normal_forms_bytes(forms))
    return value


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"version": True},
        {"conventions": "classic"},
        {"plans": {}},
        {"plans": [5]},
        {"plans": value_of(ONE)["plans"][::-1]},
        {"plans": value_of(ONE)["plans"][:1] * 2},
        {"plans": value_of(ONE)["plans"][:1]},
        {"surfaceDigest": "x"},
        {"evidenceDigest": "0" * 64},
        {"evidenceDigest": None},
    ],
)
def test_the_guard_refuses_what_was_not_written_so(change: Json) -> None:
    assert normal_forms_of(value_of(ONE)) == ONE
    assert normal_forms_of({**value_of(ONE), "more": 1}) == ONE
    assert normal_forms_of(value_of(ONE) | change) is None
