from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from fabricd.core.history.judging import Snapshot
from fabricd.store.durable import Damaged
from fabricd.store.homes import Homes
from fabricd.store.shipped import agents, shipped
from fabricd.store.snapshots import DamagedSnapshot, Filed, everything, keep, snapshots

TOOLS = {"b": {"type": "object", "maximum": 2**63 + 1}, "a": None}


@pytest.fixture
def homes(tmp_path: Path) -> Homes:
    return Homes(tmp_path / "home", tmp_path / "state", tmp_path / "agent", is_pi_home=False)


def seen(first: int, last: int, version: str | None = None, covers: str | None = None) -> Filed:
    return Filed("codex", TOOLS, first, last, version, covers)


def test_what_was_kept_is_what_the_judge_gets(homes: Homes) -> None:
    assert snapshots(homes) == ([], [])
    kept = keep(homes, seen(1, 2, "1.0", "mcp__"))
    assert kept.outcome == "written" and kept.path.stat().st_mode & 0o777 == 0o600
    assert kept.path.name == f"codex-{kept.digest[:16]}.json"
    assert snapshots(homes) == ([Snapshot("codex", TOOLS, ("1.0", "1.0"), (1, 2), "mcp__")], [])
    assert json.loads(kept.path.read_bytes())["firstSeen"] == "1970-01-01T00:00:00.001Z"


def test_what_is_seen_again_only_widens_its_interval(homes: Homes) -> None:
    first = keep(homes, seen(50, 60))
    assert keep(homes, seen(52, 58)).outcome == "already_written"
    turned = Filed("codex", dict(reversed(TOOLS.items())), 10, 55)
    again = keep(homes, turned)
    assert (again.outcome, again.path) == ("widened", first.path)
    assert [(filed.first, filed.last) for filed in everything(homes)[0]] == [(10, 60)]
    assert keep(homes, seen(50, 60, "2")).path != first.path
    assert keep(homes, seen(50, 60, None, "")).path != first.path


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"\xff", b"[" * 100_000, b'{"version":2}'])
def test_damage_is_named_and_never_overwritten(homes: Homes, damage: bytes) -> None:
    path = keep(homes, seen(1, 2)).path
    path.write_bytes(damage)
    found, damaged = everything(homes)
    assert not found and [each.path for each in damaged] == [path]
    with pytest.raises(DamagedSnapshot, match="is damaged"):
        keep(homes, seen(1, 3))
    assert path.read_bytes() == damage


def test_another_content_under_the_same_digest_is_damage(homes: Homes) -> None:
    path = keep(homes, seen(1, 2)).path
    path.write_bytes(path.read_bytes().replace(b'"object"', b'"string"'))
    [damage] = everything(homes)[1]
    assert isinstance(damage, Damaged) and "digest" in damage.reason


def test_links_and_folders_are_passed_over(homes: Homes) -> None:
    path = keep(homes, seen(1, 2)).path
    (homes.surfaces / "codex-link.json").symlink_to(path)
    (homes.surfaces / "folder.json").mkdir()
    os.mkfifo(homes.surfaces / "pipe.json")
    found, damaged = everything(homes)
    assert len(found) == 1 and not damaged


def test_every_shipped_tool_has_an_interval() -> None:
    found = shipped()
    assert len(found) == sum(len(each.tools) for each in agents()) > 0
    for snapshot in found:
        assert snapshot.seen is not None and snapshot.seen[0] <= snapshot.seen[1]
        assert snapshot.covers is None
        assert snapshot.versions is None or snapshot.agent in ("codex", "opencode")
