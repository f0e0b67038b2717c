"""Each durable file: missing, sound, damaged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fabricd.daemon.doctor import durable
from fabricd.daemon.doctor.checks import Check
from fabricd.daemon.doctor.subject import Subject, subject
from tests.harness import SURFACE

FILES = {
    "compiled": "home/entropy/compiled.json",
    "normal-forms": "home/entropy/normal-forms.json",
    "surface": "home/entropy/surface.json",
    "pool": "home/entropy/observation-pool.json",
    "repairs": "home/repairs/current.json",
    "learned": "home/repairs/learned.json",
    "pool-ledger": "home/state/pool-ledger.msgpack",
    "checkpoints": "home/state/checkpoints.msgpack",
}
CACHES = ("pool-ledger", "checkpoints")


@pytest.fixture
def about(tmp_path: Path) -> Subject:
    env = {
        "HOME": str(tmp_path),
        "FABRICD_HOME": str(tmp_path / "home"),
        "FABRICD_SOCKET": "/tmp/no-such-socket-of-ours",
    }
    return subject(env, "0.1.0", 0.1)


def checks(about: Subject) -> dict[str, Check]:
    return {check.id.removeprefix("file-"): check for check in durable.look(about)}


def put(about: Subject, name: str, data: bytes) -> Path:
    path = about.homes.home.parent / FILES[name]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_a_file_that_does_not_exist_is_no_fault(about: Subject) -> None:
    found = checks(about)
    assert set(found) == set(FILES)
    assert all(check.state == "ok" and "does not exist" in check.found for check in found.values())


def test_below_a_place_that_is_no_directory_nothing_is_checked(about: Subject) -> None:
    about.homes.home.write_text("")
    assert checks(about) == {}
    about.homes.home.unlink()
    about.homes.home.mkdir()
    about.homes.state.write_text("")
    assert set(checks(about)) == set(FILES) - set(CACHES)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("data", [b"", b"{", b"\xff\x00", b"[1]", b"[" * 10_000])
def test_damage_is_told_with_the_command_that_moves_the_file_away(
    about: Subject, name: str, data: bytes
) -> None:
    path = put(about, name, data)
    found = checks(about)
    check = found.pop(name)
    assert check.state == ("warning" if name in CACHES else "wrong")
    assert check.cure == f"mv {path} {path}.damaged"
    assert str(path) in check.found and "damaged" in check.found
    assert all(other.state == "ok" for other in found.values())


def test_a_sound_file_says_what_it_holds(about: Subject) -> None:
    put(about, "surface", json.dumps(SURFACE).encode())
    check = checks(about)["surface"]
    assert check.state == "ok" and check.found.endswith("is sound: 2 actions")
