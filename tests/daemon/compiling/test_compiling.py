"""One compile: its outcomes, the real gate, and bytes that depend on window and surface alone."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import anyio
import pytest

from fabricd.core.normalform.apply import Applied, Normalizer
from fabricd.core.normalform.extended.derive import derive_extended
from fabricd.store import normal_forms, surfaces
from fabricd.store.durable import Loaded
from tests.daemon.bench import Bench, lines
from tests.harness import SURFACE

pytestmark = pytest.mark.asyncio


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


async def test_without_a_surface_it_measures_and_never_compiles(bench: Bench) -> None:
    bench.append(lines(1))
    assert await bench.compile() == "no_surface"
    assert not bench.homes.compiled.exists()


async def test_a_damaged_surface_is_visible_and_leaves_the_artifact_alone(bench: Bench) -> None:
    bench.declare()
    assert await bench.compile() == "written"
    before = bench.homes.compiled.read_bytes()
    bench.homes.surface.write_text('{"version": 1, "actions"')
    assert await bench.compile() == "surface_damaged"
    assert [ailment.what for ailment in bench.health.ailments] == ["surface"]
    assert bench.homes.compiled.read_bytes() == before
    bench.declare()
    assert await bench.compile() == "already_written"
    assert bench.health.ailments == []


async def test_equal_bytes_are_not_rewritten(bench: Bench) -> None:
    bench.declare()
    bench.append(lines(2))
    assert await bench.compile() == "written"
    before = os.stat(bench.homes.compiled)
    assert await bench.compile() == "already_written"
    assert os.stat(bench.homes.compiled) == before
    assert before.st_mode & 0o777 == 0o600


async def test_the_artifact_is_a_function_of_window_and_surface_alone(tmp_path: Path) -> None:
    data = lines(3, 40)
    found: list[bytes] = []
    for name, cuts in (("one", [len(data)]), ("many", list(range(97, len(data), 97)))):
        (tmp_path / name).mkdir()
        bench = Bench(tmp_path / name)
        bench.declare({"version": 1, "actions": []})
        position = 0
        for cut in [*cuts, len(data)]:
            bench.append(data[position:cut])
            position = cut
            await bench.compile()
        bench.declare()
        assert await bench.compile() == "written"
        found.append(bench.homes.compiled.read_bytes())
    assert found[0] == found[1]


async def test_plans_that_are_gone_leave_an_empty_artifact_behind(bench: Bench) -> None:
    bench.declare()
    await bench.compile()
    bench.declare({"version": 1, "actions": []})
    assert await bench.compile() == "written"
    assert json.loads(bench.homes.compiled.read_bytes())["normalizations"] == []


async def test_a_damaged_artifact_is_visible_and_never_overwritten(bench: Bench) -> None:
    bench.declare()
    await bench.compile()
    torn = bench.homes.compiled.read_bytes()[:100]
    bench.homes.compiled.write_bytes(torn)
    assert await bench.compile() == "artifact_damaged"
    assert bench.homes.compiled.read_bytes() == torn
    assert bench.compiler.artifact.state == "damaged"
    assert [ailment.what for ailment in bench.health.ailments] == ["artifact"]
    bench.homes.compiled.unlink()
    assert await bench.compile() == "written"
    assert bench.health.ailments == []


async def test_the_extended_plans_are_kept_beside_the_artifact(bench: Bench) -> None:
    bench.declare()
    assert await bench.compile() == "written"
    match normal_forms.load(bench.homes.normal_forms):
        case Loaded(value=forms, raw=raw):
            surface = surfaces.load(bench.homes.surface)
            assert isinstance(surface, Loaded)
            assert forms.surface_digest == surface.value.digest
            assert all(
                derive_extended(p.ref, surface.value.schema_of()[p.ref]).plan == p
                for p in forms.plans
            )
        case other:
            raise AssertionError(other)
    before = os.stat(bench.homes.normal_forms)
    assert before.st_mode & 0o777 == 0o600
    assert await bench.compile() == "already_written"
    assert os.stat(bench.homes.normal_forms) == before
    bench.homes.normal_forms.unlink()
    await bench.compile()
    assert bench.homes.normal_forms.read_bytes() == raw


async def test_what_ails_the_extended_plans_never_holds_up_the_artifact(bench: Bench) -> None:
    bench.declare()
    bench.homes.normal_forms.parent.mkdir(parents=True, exist_ok=True)
    bench.homes.normal_forms.write_text("{")
    assert await bench.compile() == "written"
    assert bench.homes.normal_forms.read_text() == "{"
    assert [ailment.what for ailment in bench.health.ailments] == ["normal-forms"]
    bench.homes.normal_forms.unlink()
    assert await bench.compile() == "already_written"
    assert bench.homes.normal_forms.exists() and bench.health.ailments == []


def _identity_cost(self: Normalizer, args: dict[str, Any]) -> Applied:
    if self.plan is None:
        return Applied(args)
    return Applied({**args, "query": "other"}, self.plan.rules[:1])


def _acceptance_cost(self: Normalizer, args: dict[str, Any]) -> Applied:
    if self.plan is None or self.accepts(args):
        return Applied(args)
    return Applied({**args, "undeclared": 1}, self.plan.rules[:1])


@pytest.mark.parametrize(
    ("kind", "spoiled"), [("identity", _identity_cost), ("acceptance", _acceptance_cost)]
)
async def test_a_cost_refuses_the_artifact_and_keeps_the_old_one(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, kind: str, spoiled: Any
) -> None:
    bench.declare()
    bench.append(lines(4, 30))
    assert await bench.compile() == "written"
    before = bench.homes.compiled.read_bytes()
    changed = json.loads(json.dumps(SURFACE))
    changed["actions"][0]["inputSchema"]["description"] = "another digest"
    bench.declare(changed)
    with monkeypatch.context() as patch:
        patch.setattr(Normalizer, "apply", spoiled)
        assert await bench.compile() == "refused"
        assert await bench.compile() == "refused"
    assert bench.homes.compiled.read_bytes() == before
    assert bench.compiler.artifact.state == "refused"
    assert kind in (bench.compiler.artifact.reason or "")
    assert bench.telemetry.names().count("gate_rejected") == 1
    assert await bench.compile() == "written"
    assert bench.compiler.artifact.state == "loaded"


async def test_only_newer_audits_are_replayed_while_the_plans_stay(bench: Bench) -> None:
    bench.declare()
    bench.append(lines(5, 10))
    await bench.compile()
    bench.append(lines(6, 1))
    await bench.compile()
    await bench.compile()
    replayed = [
        fields["replayed"]
        for name, fields in bench.telemetry.told
        if name == "compile_finished" and isinstance(fields, dict)
    ]
    assert replayed[0] > replayed[1] > replayed[2] == 0


async def test_a_vanished_session_is_counted_as_not_replayed(bench: Bench) -> None:
    bench.declare()
    bench.append(lines(7, 3))
    await bench.tailer.read_all()
    (bench.project / "a.jsonl").unlink()
    assert (await bench.compiler.compile()).outcome == "written"
    _, fields = bench.telemetry.told[-1]
    assert isinstance(fields, dict) and fields["notReplayed"] == 3 and fields["replayed"] == 0


async def test_a_full_disk_degrades_until_there_is_room(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.declare()
    bench.append(lines(3))

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        assert await bench.compile() == "failed"
    assert not bench.homes.compiled.exists()
    assert not bench.homes.pool.exists()
    assert list(bench.homes.entropy.glob(".*")) == []
    assert [ailment.what for ailment in bench.health.ailments] == ["artifact", "pool"]
    assert await bench.compile() == "written"
    assert bench.health.ailments == []


@pytest.mark.parametrize("is_pi_home", [True, False])
async def test_a_lock_held_by_a_running_pi_is_waited_for_and_then_named(
    tmp_path: Path, is_pi_home: bool
) -> None:
    bench = Bench(tmp_path, is_pi_home)
    bench.declare()
    lock = bench.homes.entropy / "compiled.lock"
    bench.hold(lock)
    assert await bench.compile() == "locked"
    assert lock.exists() and not bench.homes.compiled.exists()
    bench.let_go(lock)
    assert await bench.compile() == "written"
    assert not lock.exists()


async def test_switched_off_it_only_measures(tmp_path: Path) -> None:
    bench = Bench(tmp_path, enabled=False)
    bench.declare()
    bench.append(lines(8))
    assert await bench.compile() == "disabled"
    (fields,) = bench.telemetry.all("compile_finished")
    assert fields["operations"] > 0
    assert [path.name for path in bench.homes.home.rglob("*")] == ["entropy", "surface.json"]
    assert not bench.homes.state.exists()


async def test_more_than_a_thousand_actions_get_plans_for_the_first(bench: Bench) -> None:
    schema = SURFACE["actions"][0]["inputSchema"]
    actions = [{"ref": f"r{number:04}", "inputSchema": schema} for number in range(1203)]
    bench.declare({"version": 1, "actions": actions})
    assert await bench.compile() == "written"
    stored = json.loads(bench.homes.compiled.read_bytes())["normalizations"]
    assert len(stored) == 1000 and stored[-1]["ref"] == "r0999"
    load = bench.keeper.load
    assert isinstance(load, Loaded) and load.value.plans.beyond_limit == 203


async def test_cancelling_a_compile_at_any_await_leaves_old_or_new_bytes(bench: Bench) -> None:
    bench.declare()
    bench.append(lines(9, 60))
    await bench.compile()
    allowed = {bench.homes.compiled.read_bytes()}
    for turns in range(40):
        changed = json.loads(json.dumps(SURFACE))
        changed["actions"][0]["inputSchema"]["title"] = str(turns)
        bench.declare(changed)
        async with anyio.create_task_group() as group:
            group.start_soon(bench.compiler.compile)
            for _ in range(turns):
                await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()
        stored = json.loads(bench.homes.compiled.read_bytes())
        assert stored["gate"]["passed"]
        if turns % 10 == 0:
            await bench.compile()
            allowed.add(bench.homes.compiled.read_bytes())
    assert len(allowed) == 5
    assert list(bench.homes.entropy.glob(".*")) == []
