"""Catalog repairs learned by compiles: what the refused calls of the window prove."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from tests.core.making import line, operation, record, trace
from tests.daemon.bench import Bench
from tests.harness import SURFACE

pytestmark = pytest.mark.asyncio

SEARCH = "mcp.demo.search"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def refused(args: dict[str, Any], ref: str = SEARCH) -> bytes:
    call = operation(0, ref, outcome="failed", failureStage="validate")
    return line(record(trace(call), [{"ref": ref, "args": args}])) + b"\n"


def unresolved(ref: str) -> bytes:
    call = operation(0, ref, outcome="failed", failureStage="resolve")
    return line(record(trace(call))) + b"\n"


def rows(bench: Bench) -> list[dict[str, Any]]:
    if not bench.homes.repairs.exists():
        return []
    found: list[dict[str, Any]] = json.loads(bench.homes.repairs.read_bytes())["repairs"]
    return found


KEY = {"kind": "keyAlias", "ref": SEARCH, "from": "max_results", "to": "maxResults"}
ACTION = {"kind": "actionAlias", "provider": "mcp.demo", "from": "SEARCH", "to": "search"}


async def test_a_refused_call_teaches_its_alias_and_the_report_counts_it(bench: Bench) -> None:
    bench.declare()
    bench.append(refused({"query": "x", "max_results": 5}) + unresolved("mcp.demo.SEARCH"))
    assert await bench.compile() == "written"
    assert rows(bench) == [KEY, ACTION]
    before = bench.homes.repairs.stat().st_mtime_ns
    assert await bench.compile() == "already_written"
    assert bench.homes.repairs.stat().st_mtime_ns == before
    report = await bench.books.report(bench.lexicon.catalog(bench.keeper.catalog))
    assert report.lexicon_rows == 2


@pytest.mark.parametrize(
    "args",
    [
        {"query": "x", "maxResults": 5},
        {"query": "x", "max_results": 5, "other": 1},
        {"query": "x", "max_results": "many"},
        {"query": "x", "max_results": 5, "maxResults": 5},
        {"query": "x", "maximum": 5},
        {"max_results": 5},
    ],
)
async def test_what_proves_nothing_teaches_nothing(bench: Bench, args: dict[str, Any]) -> None:
    bench.declare()
    bench.append(refused(args) + refused(args, "mcp.demo.open"))
    assert await bench.compile() == "written"
    assert rows(bench) == []


async def test_it_is_learned_from_appended_calls_and_again_for_another_surface(
    bench: Bench,
) -> None:
    bench.declare()
    await bench.compile()
    bench.append(refused({"query": "x", "max_results": 5}))
    await bench.compile()
    assert rows(bench) == [KEY]
    # Another provider makes it another catalog, for which nothing is proven yet.
    text = json.dumps(SURFACE).replace("maxResults", "MaxResults").replace("mcp.demo.open", "x.y")
    bench.declare(json.loads(text))
    await bench.compile()
    assert rows(bench) == [KEY | {"to": "MaxResults"}]


async def test_a_refused_artifact_learns_all_the_same(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.declare()
    bench.append(refused({"query": "x", "max_results": 5}))
    monkeypatch.setattr("fabricd.daemon.compiling.compiler.GateVerdict.passed", False)
    assert await bench.compile() == "refused"
    assert rows(bench) == [KEY]


async def test_a_busy_table_is_learned_into_later(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fabricd.store.repairs.held.__defaults__", (2, 0.001), raising=False)
    bench.declare()
    bench.homes.repairs_lock.parent.mkdir()
    bench.hold(bench.homes.repairs_lock)
    bench.append(refused({"query": "x", "max_results": 5}))
    assert await bench.compile() == "written"
    assert rows(bench) == [] and bench.lexicon.owes == 1
    bench.let_go(bench.homes.repairs_lock)
    await bench.compile()
    assert rows(bench) == [KEY]


async def test_no_cancellation_loses_what_was_learned(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fabricd.daemon.cooperate.SLICE_SECONDS", 0.0)
    names = iter(f"max{'_' * n}results" for n in range(1, 99))
    bench.declare()
    learned = 0
    for turns in range(24):
        bench.append(refused({"query": "x", next(names): 5}))
        learned += 1
        await bench.tailer.read_all()
        async with anyio.create_task_group() as group:
            group.start_soon(bench.compiler.compile)
            for _ in range(turns * 5):
                await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()
        if turns % 4 == 3:
            await bench.compile()
            assert len(rows(bench)) == learned


async def test_switched_off_nothing_is_learned(tmp_path: Path) -> None:
    bench = Bench(tmp_path, enabled=False)
    bench.declare()
    bench.append(refused({"query": "x", "max_results": 5}))
    assert await bench.compile() == "disabled"
    assert not bench.homes.repairs.exists()
