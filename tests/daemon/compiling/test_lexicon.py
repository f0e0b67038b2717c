"""The lexicon over real files: what is learned, what is owed, and what is told."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from fabricd.core.entropy.meter import Catalog
from fabricd.core.model import RepairRow, Surface
from fabricd.core.repairs import ActionAlias, KeyAlias, catalog_digest, row_value
from fabricd.core.steps import finish
from fabricd.core.surface import surface_steps
from fabricd.daemon.compiling.lexicon import Lexicon
from fabricd.daemon.compiling.patience import PATIENCE
from fabricd.daemon.health import Health
from fabricd.daemon.offline.measuring import catalog_of, repair_rows
from fabricd.store.durable import Damaged, Loaded, Missing
from fabricd.store.homes import Homes
from tests.cli.running import action, surface_of
from tests.daemon.recording import Recording

pytestmark = pytest.mark.asyncio

KEY = KeyAlias("mcp.x.search", "maxresults", "maxResults")
ACTION = ActionAlias("mcp.x", "createIssue", "create_issue")
PIS = KeyAlias("mcp.x.search", "results", "maxResults")


def declared(*refs: str, **more: Any) -> Surface:
    return finish(surface_steps(surface_of(*(action(ref) | more for ref in refs))))


ONE = declared("mcp.x.search", "mcp.x.create_issue")
OTHER = declared("mcp.y.search")
SAME_CATALOG = declared("mcp.x.search")


class Clock:
    """A clock that stands still until it is told otherwise."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def monotonic(self) -> float:
        return self.seconds

    def wall_ns(self) -> int:
        return 1_700_000_000_123_456_789


class Bench:
    """A lexicon on a home of its own."""

    def __init__(self, folder: Path) -> None:
        self.homes = Homes(folder / "home", folder / "state", folder / "agent", is_pi_home=True)
        self.telemetry = Recording()
        self.health = Health(self.telemetry)
        self.clock = Clock()
        self.lexicon = self.another()

    def another(self) -> Lexicon:
        return Lexicon(self.homes, self.health, self.clock)

    def foreign(self, *rows: KeyAlias) -> None:
        value = {"version": 1, "catalogDigest": "pi", "repairs": list(map(row_value, rows))}
        self.homes.repairs.parent.mkdir(parents=True, exist_ok=True)
        self.homes.repairs.write_text(json.dumps(value))

    def stored(self) -> Any:
        return json.loads(self.homes.repairs.read_bytes())

    def raw(self) -> bytes:
        return self.homes.repairs.read_bytes()

    def hold(self) -> None:
        self.homes.repairs_lock.mkdir()
        (self.homes.repairs_lock / "owner").write_text(f"token\n{os.getpid()}\n0\n")

    def let_go(self) -> None:
        shutil.rmtree(self.homes.repairs_lock)

    @property
    def ailments(self) -> list[str]:
        return [ailment.what for ailment in self.health.ailments]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


async def test_a_home_without_a_table_has_no_rows_and_gets_none(bench: Bench) -> None:
    for surface in (None, ONE):
        assert not await bench.lexicon.refresh(surface)
    assert not await bench.lexicon.learn([], ONE)
    assert (bench.lexicon.rows(), bench.lexicon.load) == ((), Missing())
    assert not bench.homes.home.exists()
    assert repair_rows(bench.homes, ONE) == Missing()


async def test_what_is_learned_is_saved_and_counted(bench: Bench) -> None:
    assert await bench.lexicon.learn([KEY, ACTION], ONE)
    assert bench.lexicon.rows() == (
        RepairRow("keyAlias", "mcp.x.search"),
        RepairRow("actionAlias", "mcp.x.create_issue"),
    )
    assert bench.stored() == {
        "version": 1,
        "catalogDigest": catalog_digest(ONE),
        "repairs": [row_value(KEY), row_value(ACTION)],
        "createdAt": 1_700_000_000_123,
        "updatedAt": 1_700_000_000_123,
    }
    assert bench.lexicon.owes == 0 and bench.ailments == []
    assert not await bench.lexicon.learn([ACTION, KEY], ONE)
    later = bench.another()
    assert await later.refresh(ONE)
    assert later.rows() == bench.lexicon.rows()


async def test_what_another_process_writes_is_seen(bench: Bench) -> None:
    await bench.lexicon.refresh(ONE)
    bench.foreign(PIS)
    assert await bench.lexicon.refresh(ONE)
    held = bench.lexicon.rows()
    assert held == (RepairRow("keyAlias", "mcp.x.search"),)
    assert not await bench.lexicon.refresh(ONE)
    assert bench.lexicon.rows() is held
    await bench.lexicon.learn([KEY], ONE)
    assert bench.stored()["catalogDigest"] == "pi"
    assert bench.stored()["repairs"] == [row_value(PIS), row_value(KEY)]


async def test_our_rows_leave_with_their_catalog_and_only_they(bench: Bench) -> None:
    bench.foreign(PIS)
    await bench.lexicon.learn([KEY, ACTION], ONE)
    assert not await bench.lexicon.refresh(SAME_CATALOG)
    assert not await bench.lexicon.refresh(None)
    assert repair_rows(bench.homes, ONE) == Loaded(bench.lexicon.rows(), bench.raw())
    only_pis = Loaded((RepairRow("keyAlias", "mcp.x.search"),), bench.raw())
    assert repair_rows(bench.homes, OTHER) == only_pis
    assert await bench.lexicon.refresh(OTHER)
    assert bench.lexicon.rows() == only_pis.value
    assert bench.stored()["repairs"] == [row_value(PIS)]


async def test_a_conflicting_row_is_not_learned_and_not_owed(bench: Bench) -> None:
    bench.foreign(PIS)
    await bench.lexicon.learn([KeyAlias("mcp.x.search", "results", "order")], ONE)
    assert bench.stored()["repairs"] == [row_value(PIS)]
    assert bench.lexicon.owes == 0


async def test_a_busy_lock_is_owed_then_paid(bench: Bench) -> None:
    bench.foreign(PIS)
    bench.hold()
    assert await bench.lexicon.learn([KEY], ONE)
    assert len(bench.lexicon.rows()) == 1
    assert (bench.lexicon.owes, bench.ailments) == (1, [])
    assert not await bench.lexicon.refresh(ONE)
    bench.clock.seconds += PATIENCE
    assert not await bench.lexicon.refresh(ONE)
    assert bench.ailments == ["repairs"]
    assert str(bench.homes.repairs_lock) in bench.health.ailments[0].why
    bench.let_go()
    assert await bench.lexicon.refresh(ONE)
    assert bench.stored()["repairs"] == [row_value(PIS), row_value(KEY)]
    assert (bench.lexicon.owes, bench.ailments) == (0, [])


async def test_what_was_proven_on_another_surface_is_owed_no_more(bench: Bench) -> None:
    bench.foreign(PIS)
    bench.hold()
    await bench.lexicon.learn([KEY], ONE)
    assert not await bench.lexicon.refresh(None)
    assert bench.lexicon.owes == 1
    bench.let_go()
    await bench.lexicon.refresh(SAME_CATALOG)
    assert bench.lexicon.owes == 0
    assert bench.stored()["repairs"] == [row_value(PIS)]


async def test_what_is_owed_is_bounded(bench: Bench) -> None:
    bench.foreign(PIS)
    bench.hold()
    many = [KeyAlias("mcp.x.search", f"k{number}", "query") for number in range(300)]
    await bench.lexicon.learn(many, ONE)
    await bench.lexicon.learn(many, ONE)
    assert bench.lexicon.owes == 256
    bench.let_go()
    await bench.lexicon.refresh(ONE)
    assert bench.lexicon.owes == 0 and len(bench.lexicon.rows()) == 256


@pytest.mark.parametrize("surface", [None, ONE])
async def test_a_damaged_table_is_visible_blocks_and_is_never_authority(
    bench: Bench, surface: Surface | None
) -> None:
    await bench.lexicon.learn([KEY], ONE)
    sound = bench.homes.repairs.read_bytes()
    bench.homes.repairs.write_bytes(sound[:50])
    assert await bench.lexicon.refresh(surface)
    assert bench.lexicon.rows() == () and isinstance(bench.lexicon.load, Damaged)
    await bench.lexicon.learn([ACTION], ONE)
    assert bench.homes.repairs.read_bytes() == sound[:50]
    assert bench.ailments == ["repairs"]
    assert str(bench.homes.repairs) in bench.health.ailments[0].cure
    bench.homes.repairs.write_bytes(sound)
    assert await bench.lexicon.refresh(ONE)
    assert bench.stored()["repairs"] == [row_value(KEY), row_value(ACTION)]
    assert bench.ailments == []


async def test_a_damaged_memory_blocks_while_the_rows_count(bench: Bench) -> None:
    await bench.lexicon.learn([KEY], ONE)
    bench.homes.repairs_learned.write_bytes(b"{")
    assert not await bench.lexicon.refresh(OTHER)
    assert len(bench.lexicon.rows()) == 1
    assert str(bench.homes.repairs_learned) in bench.health.ailments[0].cure
    bench.homes.repairs_learned.unlink()
    assert not await bench.lexicon.refresh(OTHER)
    assert bench.ailments == [] and bench.stored()["repairs"] == [row_value(KEY)]


async def test_a_full_disk_costs_nothing_but_time(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        assert not await bench.lexicon.learn([KEY], ONE)
    assert (bench.ailments, bench.lexicon.owes) == (["repairs"], 1)
    assert "No space left" in bench.health.ailments[0].why
    assert await bench.lexicon.refresh(ONE)
    assert (bench.ailments, bench.lexicon.owes) == ([], 0)


async def test_a_home_below_a_file_is_told_not_raised(bench: Bench) -> None:
    bench.homes.home.write_text("a file")
    assert not await bench.lexicon.learn([KEY], ONE)
    assert bench.ailments == ["repairs"]


async def test_a_catalog_is_the_same_object_until_surface_or_rows_change(bench: Bench) -> None:
    base = catalog_of(ONE)
    first = bench.lexicon.catalog(base)
    assert first == base
    assert bench.lexicon.catalog(base) is first
    await bench.lexicon.learn([KEY], ONE)
    second = bench.lexicon.catalog(base)
    assert (second.lexicon, second.lexicon_rows) == ({"mcp.x.search": 1}, 1)
    assert second == catalog_of(ONE, bench.lexicon.rows())
    assert bench.lexicon.catalog(base) is second
    assert bench.lexicon.catalog(Catalog()) == catalog_of(None, bench.lexicon.rows())
