from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from fabricd.core.compiling.artifact import artifact_bytes, artifact_of
from tests.cli.running import SCHEMA, Cli, action, surface_of
from tests.core.compiling.test_artifact import OLD, SOUND


def home_of(place: Path, **files: bytes) -> Path:
    """The folder of the durable files, with some in it."""
    entropy = place / "home" / "entropy"
    entropy.mkdir(parents=True)
    for name, data in files.items():
        (entropy / f"{name}.json").write_bytes(data)
    return entropy


def stored(value: dict[str, Any]) -> bytes:
    found = artifact_of(value)
    assert found is not None
    return artifact_bytes(found)


# --- the surface


def test_the_homes_surface_goes_to_stdout_in_its_normal_form(cli: Cli, place: Path) -> None:
    listed = [action("b"), {"ref": "a", "description": "x", "inputSchema": SCHEMA}, action("b", {})]
    home_of(place, surface=surface_of(*listed, {"no": "ref"}))
    found = cli("export")
    value = {"version": 1, "actions": [action("a"), action("b")]}
    assert (found.code, found.err) == (0, "")
    assert found.out.decode() == json.dumps(value, indent=2) + "\n"
    assert cli("export", "-").out == found.out


def test_a_named_path_is_written_atomically_and_told(cli: Cli, place: Path) -> None:
    home_of(place, surface=surface_of(action("a")))
    path = place / "shared" / "tools.json"
    path.parent.mkdir()
    found = cli("export", path)
    assert (found.code, found.out) == (0, b"")
    digest = cli("digest", path).out.decode().strip()
    found.says("exported 1 action to", str(path), f"digest {digest}")
    assert path.read_bytes() == cli("export").out
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(path.parent) == ["tools.json"]


def test_another_surface_may_be_named(cli: Cli, place: Path, surface: Path) -> None:
    found = cli("export", "--surface", surface)
    assert found.code == 0
    refs = [row["ref"] for row in found.json["actions"]]
    assert refs == sorted({row["ref"] for row in json.loads(surface.read_bytes())["actions"]})


def test_an_export_exports_as_itself_and_derives_the_same(
    cli: Cli, place: Path, surface: Path
) -> None:
    cli("export", "--surface", surface, place / "once.json")
    cli("export", "--surface", place / "once.json", place / "twice.json")
    assert (place / "once.json").read_bytes() == (place / "twice.json").read_bytes()
    there, here = cli("derive", surface).json, cli("derive", place / "once.json").json
    assert there["plans"] == here["plans"]


def test_bounds_that_no_double_holds_are_exported_digit_by_digit(cli: Cli, place: Path) -> None:
    home_of(place, surface=surface_of(action("a", {"maximum": 2**63 - 1})))
    assert b'"maximum": 9223372036854775807' in cli("export").out


def test_what_is_beyond_a_thousand_actions_is_told(cli: Cli, place: Path) -> None:
    home_of(place, surface=surface_of(*(action(f"r{n:04}", {}) for n in range(1002))))
    found = cli("export")
    found.says("2 actions beyond the first 1,000 by ref are left out")
    assert (found.code, len(found.json["actions"])) == (0, 1000)


def test_without_a_surface_it_says_what_to_do(cli: Cli, place: Path) -> None:
    cli("export").complains(1, "there is no surface", "surface.json does not exist", "--surface")
    cli("export", place / "a.json").complains(1, "there is no surface")
    assert not (place / "a.json").exists()


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"version":2,"actions":[]}'])
def test_a_damaged_surface_is_not_exported(cli: Cli, place: Path, damage: bytes) -> None:
    entropy = home_of(place, surface=damage)
    cli("export", place / "a.json").complains(2, "surface.json is damaged", "--surface")
    cli("export", "--surface", entropy / "surface.json").complains(2, "is no surface")
    assert not (place / "a.json").exists()


@pytest.mark.parametrize("target", ["folder", "file/below"])
def test_a_place_that_cannot_be_written_is_one_sentence(cli: Cli, place: Path, target: str) -> None:
    home_of(place, surface=surface_of())
    (place / "file").touch()
    (place / "folder").mkdir()
    cli("export", place / target).complains(1, "cannot be written", str(place / target))
    assert sorted(os.listdir(place)) == ["file", "folder", "home"]


# --- the artifact


def test_the_artifact_is_copied_byte_for_byte(cli: Cli, place: Path) -> None:
    # Members in another order and one that we do not know: read and written again it would differ.
    odd = json.dumps({"more": 1, **dict(reversed(SOUND.items()))}).encode()
    entropy = home_of(place, compiled=odd)
    found = cli("export-artifact")
    path = entropy / "artifact.json"
    found.says("exported 1 plan to", str(path), f"digest {SOUND['evidenceDigest']}")
    assert (found.code, found.out, path.read_bytes()) == (0, b"", odd)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert cli("export-artifact", "-").out == odd
    cli("export-artifact", place / "mine.json")
    assert (place / "mine.json").read_bytes() == odd


def test_what_was_compiled_is_what_is_exported(
    cli: Cli, place: Path, sessions: Path, surface: Path
) -> None:
    data = cli("compile", "--sessions", sessions, "--surface", surface).out
    home_of(place, compiled=data)
    assert cli("export-artifact", "-").out == data


def test_a_legacy_artifact_is_copied_and_told_to_be_inert(cli: Cli, place: Path) -> None:
    home_of(place, compiled=stored(OLD))
    found = cli("export-artifact", "-")
    found.says("legacy version 1", "no effect")
    assert (found.code, found.out) == (0, stored(OLD))


def test_nothing_compiled_is_one_sentence(cli: Cli, place: Path) -> None:
    cli("export-artifact").complains(1, "nothing was compiled yet", "compiled.json", "fabricd run")
    assert not (place / "home").exists()


@pytest.mark.parametrize("damage", [b"", b"{}", b"null", b"\xff", stored(SOUND)[:-3]])
def test_a_damaged_artifact_is_not_exported(cli: Cli, place: Path, damage: bytes) -> None:
    entropy = home_of(place, compiled=damage)
    cli("export-artifact").complains(2, "compiled.json is damaged", "move", "aside")
    assert os.listdir(entropy) == ["compiled.json"]
    assert (entropy / "compiled.json").read_bytes() == damage


def test_it_is_never_copied_onto_itself(cli: Cli, place: Path) -> None:
    entropy = home_of(place, compiled=stored(SOUND))
    (place / "link").symlink_to(entropy)
    for path in (entropy / "compiled.json", place / "link" / "compiled.json"):
        cli("export-artifact", path).complains(2, "is the compiled artifact itself")
