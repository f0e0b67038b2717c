"""What somebody cured is well again, and what stays in the way is told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from fabricd.daemon.compiling import patience
from tests.daemon.bench import Bench, lines

pytestmark = pytest.mark.asyncio


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    yield Bench(tmp_path)


@pytest.mark.parametrize("enabled", [True, False])
async def test_a_damaged_artifact_that_was_moved_away(tmp_path: Path, enabled: bool) -> None:
    bench = Bench(tmp_path, enabled=enabled)
    bench.homes.compiled.write_text("{")
    await bench.start()
    assert bench.ailments == ["artifact"] and bench.compiler.is_blocked
    await bench.compile()
    assert bench.ailments == ["artifact"] and bench.compiler.is_blocked
    bench.homes.compiled.unlink()
    assert await bench.compile() == ("no_surface" if enabled else "disabled")
    assert bench.ailments == [] and not bench.compiler.is_blocked
    assert bench.compiler.artifact.state == "missing"


async def test_damaged_plans_that_were_moved_away(bench: Bench) -> None:
    bench.declare()
    bench.homes.normal_forms.write_text("{")
    assert await bench.compile() == "written"
    assert bench.ailments == ["normal-forms"] and bench.compiler.is_blocked
    bench.homes.normal_forms.unlink()
    await bench.compile()
    assert bench.ailments == [] and not bench.compiler.is_blocked
    assert json.loads(bench.homes.normal_forms.read_bytes())


async def test_a_lock_that_stays_taken_is_told(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.declare()
    bench.append(lines(1))
    await bench.start()
    for lock in (bench.homes.compiled_lock, bench.homes.pool_lock):
        bench.hold(lock)
    assert await bench.compile() == "locked"
    assert bench.ailments == []
    monkeypatch.setattr(patience, "PATIENCE", 0.0)
    assert await bench.compile() == "locked"
    assert bench.ailments == ["artifact", "pool"]
    for lock in (bench.homes.compiled_lock, bench.homes.pool_lock):
        bench.let_go(lock)
    assert await bench.compile() == "written"
    assert bench.ailments == []
