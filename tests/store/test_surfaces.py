from __future__ import annotations

from pathlib import Path

import pytest

from fabricd.core.model import Action
from fabricd.store.durable import Damaged, Loaded, Missing
from fabricd.store.surfaces import load


def test_a_surface_is_loaded_with_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "surface.json"
    data = b'{"version": 1, "actions": [{"ref": "a", "inputSchema": {"type": "object"}}]}\n'
    assert load(path) == Missing()
    path.write_bytes(data)
    found = load(path)
    assert isinstance(found, Loaded)
    assert found.value.actions == (Action("a", {"type": "object"}),)
    assert found.raw == data


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "it is not JSON"),
        (b"{}", "expected version 1"),
        (b'{"version":1,"actions":1}', "expected an actions list"),
        (b'{"version":"\\udcff","actions":[]}', "expected version 1"),
    ],
)
def test_a_bad_surface_is_damaged_and_says_why(tmp_path: Path, data: bytes, reason: str) -> None:
    path = tmp_path / "surface.json"
    path.write_bytes(data)
    found = load(path)
    assert isinstance(found, Damaged)
    assert reason in found.reason
    assert path.read_bytes() == data


def test_a_directory_in_its_place_is_damage(tmp_path: Path) -> None:
    assert isinstance(load(tmp_path), Damaged)
