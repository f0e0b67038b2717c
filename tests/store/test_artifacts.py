from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from fabricd.core.compiling.artifact import Artifact, Gate, Overlay, artifact_bytes, fresh
from fabricd.core.compiling.refusal import refusal_of
from fabricd.core.model import Plan, Rule
from fabricd.store import artifacts
from fabricd.store.artifacts import DamagedArtifact, load, save
from fabricd.store.durable import Damaged, Loaded, Missing

PLAN = Plan(1, "a", "a" * 64, (Rule("key-form", "limit"),))
ONE = fresh((PLAN,), "s" * 64, 0.5)
OTHER = fresh((), "s" * 64, 0.5)
LEGACY = Artifact(1, 2, (), (), Gate(True, 0, 0), "d", (Overlay("a", {}, "d"),))
DAMAGE = [b"", b"{", b"{}", b"null", b"\xff", artifact_bytes(ONE)[:-3], b"[" * 100_000]


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "entropy" / "compiled.json"
    assert load(path) == Missing()
    assert save(path, ONE) == "written"
    assert load(path) == Loaded(ONE, artifact_bytes(ONE))
    assert path.read_bytes() == artifact_bytes(ONE)


def test_equal_bytes_are_not_written_again(tmp_path: Path) -> None:
    path = tmp_path / "compiled.json"
    save(path, ONE)
    os.utime(path, ns=(1, 1))
    before = path.stat()
    assert save(path, ONE) == "already_written"
    after = path.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize("there", [OTHER, LEGACY])
def test_a_sound_file_is_replaced(tmp_path: Path, there: Artifact) -> None:
    path = tmp_path / "compiled.json"
    path.write_bytes(artifact_bytes(there))
    assert save(path, ONE) == "written"
    assert path.read_bytes() == artifact_bytes(ONE)


def test_the_same_artifact_in_other_bytes_is_written_in_ours(tmp_path: Path) -> None:
    path = tmp_path / "compiled.json"
    path.write_bytes(artifact_bytes(ONE).rstrip())
    assert save(path, ONE) == "written"


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_never_overwritten(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "compiled.json"
    path.write_bytes(damage)
    found = load(path)
    assert isinstance(found, Damaged)
    with pytest.raises(DamagedArtifact) as caught:
        save(path, ONE)
    assert caught.value.damage == found
    assert found.reason in str(caught.value)
    assert path.read_bytes() == damage
    assert os.listdir(tmp_path) == ["compiled.json"]


def test_what_the_guard_refuses_is_said_as_everywhere(tmp_path: Path) -> None:
    path = tmp_path / "compiled.json"
    value = {**json.loads(artifact_bytes(ONE)), "gate": None}
    path.write_text(json.dumps(value))
    found = load(path)
    assert found == Damaged(path, str(refusal_of(value)))
    assert "expected gate to be passed" in str(refusal_of(value))


@pytest.mark.parametrize("name", ["\x1b[31m", "\ud800", "n" * 100_000])
def test_what_a_reason_quotes_is_bounded_and_can_be_shown(tmp_path: Path, name: str) -> None:
    path = tmp_path / "compiled.json"
    path.write_text(json.dumps({**json.loads(artifact_bytes(ONE)), "gate": {name: 1}}))
    found = load(path)
    assert isinstance(found, Damaged)
    assert found.reason.isprintable() and len(found.reason) < 300


def test_a_directory_in_its_place_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "compiled.json").mkdir()
    with pytest.raises(DamagedArtifact):
        save(tmp_path / "compiled.json", ONE)


def test_a_file_beyond_the_limit_is_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "compiled.json"
    save(path, ONE)
    monkeypatch.setattr(artifacts, "MAX_BYTES", 100)
    assert isinstance(load(path), Damaged)
