"""The author's review in time: computed once for what it rests on, beside whatever else goes on."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from fabricd.core.entropy.signals import line_of
from tests.core.making import line, operation, record, trace
from tests.daemon.bench import Bench, lines

pytestmark = pytest.mark.asyncio


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def called(*refs: str, shapes: int = 1) -> bytes:
    """A trace that calls these, each with some sets of arguments that share nothing."""
    calls = [(ref, {f"k{n}": 1}) for ref in refs for n in range(shapes) for _ in range(2)]
    made = [operation(n, ref, args=args) for n, (ref, args) in enumerate(calls)]
    return line(record(trace(*made))) + b"\n"


async def test_a_review_is_computed_once_until_something_changes(bench: Bench) -> None:
    bench.declare()
    bench.append(called("mcp.demo.unheard"))
    await bench.compile()
    first = await bench.reviewer.review()
    assert [*map(line_of, first)] == ["not-on-surface mcp.demo.unheard"]
    assert await bench.reviewer.review() is first
    bench.append(called("mcp.demo.other"))
    await bench.tailer.read_all()
    assert len(await bench.reviewer.review()) == 2
    bench.declare({"version": 1, "actions": []})
    await bench.keeper.refresh()
    held = await bench.reviewer.review()
    assert held is not first
    bench.pool.revision += 1
    assert await bench.reviewer.review() is not held


async def test_a_review_leaves_the_report_of_the_compile_as_it_is(bench: Bench) -> None:
    bench.declare()
    bench.append(lines(3, 20))
    await bench.compile()
    # The catalog of the compile counts the repairs table too; that of the review does not.
    catalog = bench.lexicon.catalog(bench.keeper.catalog)
    assert catalog is not bench.keeper.catalog
    report = await bench.books.report(catalog)
    bench.append(lines(4, 1))
    await bench.tailer.read_all()
    assert await bench.books.report(catalog) is not report
    report = await bench.books.report(catalog)
    await bench.reviewer.review()
    assert await bench.books.report(catalog) is report


async def test_a_review_sees_one_window_although_its_files_change(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fabricd.daemon.cooperate.SLICE_SECONDS", 0.0)
    bench.declare()
    path = bench.project / "a.jsonl"
    for turn in range(40):
        path.write_bytes(called(*(f"mcp.t{turn}.a{n}" for n in range(12)), shapes=3))
        found: list[str] = []

        async def look(into: list[str] = found) -> None:
            into.extend(map(line_of, await bench.reviewer.review()))

        async with anyio.create_task_group() as group:
            group.start_soon(look)
            for _ in range(turn % 7):
                await anyio.lowlevel.checkpoint()
            group.start_soon(bench.tailer.read_all)
        turns = {text.partition(" mcp.")[2].partition(".")[0] for text in found}
        assert len(turns) <= 1, found
