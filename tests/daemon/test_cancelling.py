"""Tailer and compile loop, cancelled at every await: nothing lost, nothing doubled, nothing left.

After each cancellation the same work runs undisturbed, and must come to what a daemon comes to
that has never been disturbed.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from fabricd.core.canonical import digest
from fabricd.core.entropy.meter import Catalog, report
from fabricd.daemon.offline.measuring import measure
from fabricd.daemon.tailing.checkpointer import Checkpointer
from fabricd.store import checkpoints, repairs
from fabricd.store.durable import Damaged, Loaded
from tests.cancelling import at_every_suspension, descriptors
from tests.daemon.bench import Bench
from tests.daemon.pooling import clean, counted, entry, header
from tests.harness import SURFACE, prose_line, trace_line

pytestmark = pytest.mark.asyncio


def spelling(number: int) -> str:
    """Another spelling of `maxResults` for each number below a thousand."""
    letters = [
        letter.upper() if number >> bit & 1 else letter for bit, letter in enumerate("maxres")
    ]
    return "".join(letters) + ("_ults", "-ults", "_Ults", "-Ults", "_uLts")[number // 64 % 5]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A directory in memory where there is one: hundreds of files are synchronised."""
    where = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    found = Path(tempfile.mkdtemp(prefix="fabricd-test-", dir=where))
    yield found
    shutil.rmtree(found)


@pytest.fixture
def bench(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    # Every step gives way, so that a cancellation can come between any two of them.
    monkeypatch.setattr("fabricd.daemon.cooperate.SLICE_SECONDS", 0.0)
    for module in ("core.evidence", "store.reading"):
        monkeypatch.setattr(f"fabricd.{module}.OPERATIONS", 8)
    return Bench(folder)


def nothing_is_left(bench: Bench, before: list[str]) -> None:
    assert Counter(descriptors()) - Counter(before) == Counter()
    for folder in (bench.homes.home, bench.homes.state):
        found = [path.name for path in folder.rglob("*")] if folder.exists() else []
        assert not [name for name in found if name.startswith(".") or name.endswith(".lock")]


async def test_a_pass_of_the_tailer_cancelled_anywhere(bench: Bench) -> None:
    rng = random.Random(1)
    gone = bench.append(trace_line(rng) + b"\n", "gone.jsonl")
    for number in range(3):
        bench.append(trace_line(rng, 300) + b"\n", f"s{number}.jsonl")
    await bench.tailer.read_all()
    before = descriptors()

    async def operation() -> None:
        # Growth, an open end, a log begun anew, one that vanishes and one that comes.
        bench.append(trace_line(rng, 20) + b"\n" + prose_line(rng) + b"\n", "s0.jsonl")
        bench.append(trace_line(rng), "s1.jsonl")
        bench.append(b"\n", "s1.jsonl")
        (bench.project / "s2.jsonl").write_bytes(trace_line(rng, 300) + b"\n")
        if gone.exists():
            gone.unlink()
        else:
            bench.append(trace_line(rng) + b"\n", "gone.jsonl")
        bench.tailer.hint([os.fsencode(gone), os.fsencode(bench.project / "s0.jsonl")])
        await bench.tailer.read_all()

    async def then(_: int) -> None:
        await bench.tailer._read_hinted()
        await check_books(bench)
        nothing_is_left(bench, before)

    assert await at_every_suspension(operation, then) > 40


async def check_books(bench: Bench) -> None:
    expected = measure(bench.homes.sessions, 8)
    assert await bench.books.report(Catalog()) == report(expected.evidence, Catalog())
    # Not only the sum: each book is what its file says.
    for file, evidence in expected.sessions:
        book = bench.books.book(file.path)
        assert book.whole() == evidence
        assert book.mark is not None and book.mark.seen.size == file.size


async def test_a_compile_cancelled_anywhere(bench: Bench) -> None:
    number = 0
    used: set[str] = set()
    surface = json.loads(json.dumps(SURFACE))
    schema = surface["actions"][0]["inputSchema"]
    bench.append(header("s"))
    bench.declare()
    await bench.start()
    await bench.compile()
    before = descriptors()

    async def operation() -> None:
        nonlocal number
        number += 1
        # Values for the pool, an alias for the lexicon, and plans for the gate that are new.
        spelled = {"query": "q", spelling(number): 1 + number % 3}
        own = {f"own{number}": number}
        bench.append(entry(2 * number, own, {"shared": number % 3}, ref="mcp.demo.open"))
        bench.append(entry(2 * number + 1, spelled))
        used.add(spelling(number))
        schema["title"] = str(number)
        bench.declare(surface)
        await bench.compile()

    async def then(at: int) -> None:
        assert json.loads(bench.homes.compiled.read_bytes())["gate"]["passed"]
        outcome = await bench.compile()
        assert outcome in ("written", "already_written")
        assert bench.ailments == [] and bench.lexicon.owes == 0
        [plan] = json.loads(bench.homes.compiled.read_bytes())["normalizations"]
        assert plan["baseSchemaDigest"] == digest(schema)
        assert counted(bench.homes.pool) == clean([bench.project / "a.jsonl"])
        assert learned(bench) == used
        assert len(bench.lexicon.rows()) == len(used)
        nothing_is_left(bench, before)
        if at % 32 == 0:
            await check_fresh(bench)
        if len(used) == 200:
            # The table holds 256 rows.
            used.clear()
            shutil.rmtree(bench.homes.repairs.parent)

    assert await at_every_suspension(operation, then) > 100


async def test_cursors_whose_writing_was_cancelled_anywhere(bench: Bench) -> None:
    rng = random.Random(2)
    for number in range(4):
        bench.append(trace_line(rng) + b"\n", f"s{number}.jsonl")
    path = bench.homes.checkpoints
    keeper = Checkpointer(path, bench.books, bench.health, bench.telemetry)
    before = descriptors()

    async def operation() -> None:
        for number in range(4):
            bench.append(trace_line(rng) + b"\n", f"s{number}.jsonl")
        await bench.tailer.read_all()
        await keeper.flush()

    async def then(_: int) -> None:
        assert not isinstance(checkpoints.load(path), Damaged)
        await bench.tailer._read_hinted()
        await keeper.flush()
        load = checkpoints.load(path)
        assert isinstance(load, Loaded)
        assert dict(load.value) == {
            name: bench.books.book(name).durable() for name in bench.books.window
        }
        await check_books(bench)
        nothing_is_left(bench, before)

    assert await at_every_suspension(operation, then) > 20


async def check_fresh(bench: Bench) -> None:
    """A home that saw no cancellation comes to the same files."""
    with tempfile.TemporaryDirectory(dir=bench.homes.home.parent) as name:
        other = Bench(Path(name))
        shutil.copytree(bench.homes.sessions, other.homes.sessions, dirs_exist_ok=True)
        shutil.copy(bench.homes.surface, other.homes.surface)
        await other.start()
        await other.compile()
        assert other.homes.compiled.read_bytes() == bench.homes.compiled.read_bytes()
        assert counted(other.homes.pool) == counted(bench.homes.pool)


def learned(bench: Bench) -> set[str]:
    load = repairs.load(bench.homes.repairs)
    assert isinstance(load, Loaded)
    return {row.given for row in load.value.rows}
