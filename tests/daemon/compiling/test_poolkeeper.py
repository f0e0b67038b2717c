"""The pool over real files: sessions that change, files that vanish, and other programs."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from fixtures.make_sessions import write

from fabricd.core.pool import bounds
from fabricd.store import pools
from fabricd.store.durable import Loaded
from tests.daemon.bench import Bench
from tests.daemon.pooling import (
    check,
    clean,
    counted,
    entries,
    entry,
    header,
    keep,
    restarted,
    tracked,
)
from tests.oracle import naive

pytestmark = pytest.mark.asyncio


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


async def test_what_is_appended_is_added_and_a_restart_changes_nothing(bench: Bench) -> None:
    await bench.start()
    assert await keep(bench) == "kept" and not bench.homes.pool.exists()
    bench.append(header("s") + entries(range(5)))
    await check(bench)
    written = bench.homes.pool.stat()
    assert written.st_mode & 0o777 == 0o600
    assert tracked(bench) == ["session:s"]
    await check(bench)
    bench = await restarted(bench)
    await check(bench)
    assert bench.homes.pool.stat().st_mtime_ns == written.st_mtime_ns
    bench.append(entries(range(5, 8)))
    await check(bench)
    before = counted(bench.homes.pool)
    bench.append(entry(9, {"own9": 1})[:-1])
    await keep(bench)
    assert counted(bench.homes.pool) == before
    bench.append(b"\n")
    await check(bench)


async def test_a_log_that_is_rewritten_says_what_it_says_now(bench: Bench) -> None:
    path = bench.append(header("s") + entries(range(9)))
    bench.append(header("other") + entries(range(20, 24)), "b.jsonl")
    await check(bench)
    path.write_bytes(header("s") + entries(range(3)))
    await check(bench)
    path.write_bytes(header("s") + entries(range(40, 60)))
    await check(bench)
    replaced = path.with_suffix(".new")
    replaced.write_bytes(header("s") + entries(range(2)))
    os.replace(replaced, path)
    await check(bench)
    await check(await restarted(bench))


@pytest.mark.parametrize("names", [("1_aa-bb.jsonl", "2.jsonl"), ("3_aa-bb.jsonl", "2.jsonl")])
@pytest.mark.parametrize("source", ["{folder}/{name}", "/elsewhere/1_aa-bb.jsonl"])
async def test_what_a_fork_repeats_counts_once_whoever_is_read_first(
    bench: Bench, names: tuple[str, str], source: str
) -> None:
    parent, fork = names
    origin = source.format(folder=bench.project, name=parent)
    bench.append(header("aa-bb") + entries(range(6)), parent)
    if names[0] > names[1]:
        # It is seen later than its fork.
        (bench.project / parent).rename(bench.project / "later")
    bench.append(header("cc-dd", origin) + entries(range(6)) + entries([10]), fork)
    if names[0] > names[1]:
        await keep(bench)
        (bench.project / "later").rename(bench.project / parent)
    await check(bench)
    bench.append(entries([11]), fork)
    bench.append(entries([12, 13]), parent)
    await check(bench)
    later = await restarted(bench)
    bench.append(
        header("ee-ff", str(bench.project / fork)) + entries([*range(6), 10, 11]), "c.jsonl"
    )
    later.append(entries([14]), "c.jsonl")
    await check(later)


def aged(bench: Bench, name: str) -> None:
    """Make a log older than all others."""
    os.utime(bench.project / name, (1000, 1000))


async def test_a_fork_does_not_depend_on_whether_its_source_is_in_the_window(bench: Bench) -> None:
    # A grandparent and a parent that are too old for the window, and two forks in it.
    bench.append(header("g") + entries(range(4)), "g.jsonl")
    bench.append(header("p", str(bench.project / "g.jsonl")) + entries(range(6)), "p.jsonl")
    for number, name in enumerate("abcdef"):
        bench.append(header(name) + entries([100 + number]), f"{name}.jsonl")
    source = str(bench.project / "p.jsonl")
    bench.append(header("y", source) + entries([*range(6), 10]), "y.jsonl")
    bench.append(header("z", source) + entries([*range(6), 11]), "z.jsonl")
    aged(bench, "g.jsonl")
    aged(bench, "p.jsonl")
    assert await keep(bench) == "kept"
    assert len(bench.books.window) == 8
    everything = clean(bench.project.glob("*.jsonl"))
    assert counted(bench.homes.pool) == everything
    # Nor on whether the books were lost, nor on the source coming into the window later.
    bench.homes.pool_ledger.unlink()
    later = await restarted(bench)
    assert await keep(later) == "kept"
    assert counted(bench.homes.pool) == everything
    later.append(entries([12]), "p.jsonl")
    assert await keep(later) == "kept"
    assert counted(bench.homes.pool) == clean(bench.project.glob("*.jsonl"))


async def test_a_source_outside_the_sessions_is_not_read(bench: Bench, tmp_path: Path) -> None:
    outside = tmp_path / "elsewhere.jsonl"
    outside.write_bytes(header("o") + entries([1, 2]))
    (bench.project / "link.jsonl").symlink_to(outside)
    bench.append(header("s", str(bench.project / "link.jsonl")) + entries([2, 3]), "s.jsonl")
    aged(bench, "link.jsonl")
    for number in range(8):
        bench.append(header(f"n{number}") + entries([100 + number]), f"n{number}.jsonl")
    await keep(bench)
    assert not any(str(outside) in row for row in tracked(bench))
    assert counted(bench.homes.pool)["mcp.demo.search", "own1", "1"] == 0


async def test_the_bundled_sessions_with_their_fork_count_each_record_once(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    write(bench.homes.agent)
    logs = sorted(bench.homes.sessions.glob("*/*.jsonl"), key=lambda path: path.stat().st_mtime)
    values: dict[tuple[object, ...], set[Any]] = {}
    for path in logs[-8:]:
        for text in path.read_text(errors="replace").split("\n")[:-1]:
            for raw, value in naive.records(text) if "pi-fabric.execution" in text else []:
                details = value.get("details") or value.get("message", {}).get("details") or {}
                if not naive.good_trace(details.get("trace")):
                    continue
                for number, audit in enumerate(details.get("audits", [])):
                    for key in audit["args"]:
                        # A record that a fork repeats is the same record.
                        what = (value.get("id", raw), number, audit["ref"], key)
                        values[what] = {type(audit["args"][key])}
    totals = Counter(
        (ref, key) for (_, _, ref, key), kind in values.items() if kind <= {str, float, int, bool}
    )
    assert await keep(bench) == "kept"
    stored = json.loads(bench.homes.pool.read_bytes())
    full = [row for row in stored["entries"] if len(row["values"]) < 16]
    assert len(full) > 10
    assert {(row["ref"], row["key"]): row["total"] for row in full} == {
        name: total
        for name, total in totals.items()
        if name in {(r["ref"], r["key"]) for r in full}
    }


async def test_a_copy_of_a_session_adds_only_what_the_other_lacks(bench: Bench) -> None:
    bench.append(header("s") + entries(range(6)), "a.jsonl")
    bench.append(header("s") + entries(range(4)), "b.jsonl")
    await check(bench)
    bench.append(entries([6]), "a.jsonl")
    await check(bench)
    bench.append(entries([4, 5, 6, 7]), "b.jsonl")
    await check(bench)
    await check(await restarted(bench))
    bench.append(entries([7]), "a.jsonl")
    await check(bench)


async def test_a_copy_that_is_read_while_the_other_is_out_of_sight_takes_nothing_away(
    bench: Bench,
) -> None:
    path = bench.append(header("s") + entries(range(6)))
    os.utime(path, (1, 1))
    await check(bench)
    for number in range(7):
        bench.append(header(f"t{number}") + entries([100 + number]), f"t{number}.jsonl")
    bench.append(header("s") + entries(range(3)), "old.jsonl")
    await check(bench)
    assert bench.project.joinpath("a.jsonl").as_posix().encode() not in bench.books.window
    await check(await restarted(bench))


async def test_a_session_that_moved_is_the_same_session(bench: Bench) -> None:
    path = bench.append(header("s") + entries(range(6)))
    await check(bench)
    path.rename(bench.project / "moved.jsonl")
    await check(bench)
    bench.append(entries([7]), "moved.jsonl")
    await check(bench)
    assert tracked(bench) == ["session:s"]


async def test_a_log_that_vanishes_before_it_is_read_stays_as_it_was(bench: Bench) -> None:
    path = bench.append(header("s") + entries(range(4)))
    await check(bench)
    before = counted(bench.homes.pool)
    bench.append(entries(range(4, 6)))
    bench.append(header("new") + entries([9]), "b.jsonl")
    await bench.tailer.read_all()
    held = path.read_bytes()
    path.unlink()
    (bench.project / "b.jsonl").write_bytes(b"")
    assert await bench.pool.update(await bench.books.audit_spans()) == "kept"
    assert counted(bench.homes.pool) == before
    path.write_bytes(held)
    (bench.project / "b.jsonl").write_bytes(header("new") + entries([9]))
    await check(bench)


async def test_sessions_that_are_gone_stay_counted(bench: Bench) -> None:
    bench.append(header("s") + entries(range(4)))
    await check(bench)
    before = counted(bench.homes.pool)
    (bench.project / "a.jsonl").unlink()
    assert await keep(bench) == "kept"
    later = await restarted(bench)
    later.append(header("t") + entries([50]), "b.jsonl")
    await keep(later)
    assert counted(later.homes.pool) == before + clean([later.project / "b.jsonl"])
    assert tracked(later) == ["session:s", "session:t"]


HOSTILE: list[Any] = [
    "\ud800", "a", " a", "a ", "\ufeffa", '"a"', "a\0", "x" * 60_000, "/", "é\u2028", 5, None, "",
    "x" * 70_000,
]  # fmt: skip


async def test_no_id_in_a_header_can_block_the_pool(bench: Bench) -> None:
    for first in range(0, len(HOSTILE), 4):
        for number, identity in enumerate(HOSTILE[first : first + 4], start=first):
            name = f"s{number:02}.jsonl"
            bench.append(header(identity, identity) + entries([number]), name)
            os.utime(bench.project / name, (1000 + number, 1000 + number))
        await check(bench)
    assert len(set(tracked(bench))) == len(HOSTILE)
    await check(await restarted(bench))


@pytest.mark.parametrize(
    "parent", ["\ud800", "a\0b", "/dev/null", "/", "relative.jsonl", "x" * 9000]
)
async def test_nor_can_the_source_of_a_fork(bench: Bench, parent: str) -> None:
    bench.append(header("s", parent) + entries(range(3)))
    bench.append(b"no header\n" + entries([5]), "b.jsonl")
    await check(bench)
    await check(await restarted(bench))


async def test_any_argument_name_goes_into_a_file_that_loads(bench: Bench) -> None:
    names = ["", " ", "a", "a ", "\ufeffa", "\0", '"', '"a"', "\ud800", "n" * 1025]
    bench.append(header("s") + entry(1, *({name: 1} for name in names)))
    assert await keep(bench) == "kept"
    stored = json.loads(bench.homes.pool.read_bytes())
    assert len(stored["entries"]) == len(names) - 1
    later = await restarted(bench)
    assert {row.key for row in later.pool.observed()} == set(names[:-1])
    assert later.ailments == []


async def test_books_that_are_lost_are_rebuilt_over_the_pool(bench: Bench) -> None:
    bench.append(header("s") + entries(range(4)))
    bench.append(header("t") + entries(range(10, 14)), "b.jsonl")
    await check(bench)
    before = counted(bench.homes.pool)
    (bench.project / "b.jsonl").unlink()
    for damage in (None, b"\x00torn", b"", bench.homes.pool_ledger.read_bytes()[:-20]):
        if damage is None:
            bench.homes.pool_ledger.unlink()
        else:
            bench.homes.pool_ledger.write_bytes(damage)
        bench = await restarted(bench)
        assert await keep(bench) == "kept"
        assert counted(bench.homes.pool) == before
        assert isinstance(pools.load_ledger(bench.homes.pool_ledger), Loaded)
    bench.append(entries([4]))
    await keep(bench)
    assert counted(bench.homes.pool).total() == before.total() + 2


# --- cancelled, and small


async def test_cancelled_at_any_await_it_loses_and_doubles_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Every step gives way, so that a cancellation can come between any two of them.
    monkeypatch.setattr("fabricd.daemon.cooperate.SLICE_SECONDS", 0.0)
    rng = random.Random(4)
    next_entry = iter(range(10_000))
    bench.append(header("s") + entries(next(next_entry) for _ in range(300)))
    bench.append(header("t"), "b.jsonl")
    for turns in range(60):
        name = rng.choice(["a.jsonl", "b.jsonl"])
        bench.append(entries(next(next_entry) for _ in range(rng.randrange(1, 4))), name)
        await bench.tailer.read_all()
        spans = await bench.books.audit_spans()
        async with anyio.create_task_group() as group:
            group.start_soon(bench.pool.update, spans)
            for _ in range(turns * 3):
                await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()
        if turns % 10 == 9:
            # What was cut off is either kept or done again, also by somebody else.
            later = await restarted(bench)
            await check(later)
            bench = later if turns % 20 == 9 else bench
        if turns % 6 == 0:
            await check(bench)
    await check(bench)


async def test_with_small_books_real_sessions_still_count_once(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "MAX_SESSIONS", 2)
    monkeypatch.setattr(bounds, "MAX_ROW_BYTES", 600)
    for number in range(6):
        bench.append(header(f"s{number}") + entries([number * 10]), f"s{number}.jsonl")
        await check(bench)
    for number in range(6):
        bench.append(entries([number * 10 + 1]), f"s{number}.jsonl")
        if number % 2:
            bench = await restarted(bench)
        await check(bench)
    shutil.rmtree(bench.project)
    assert await keep(bench) == "kept"


async def test_secrets_are_nowhere(bench: Bench) -> None:
    bench.declare()
    bench.append(
        header("s")
        + entry(1, {"token": "hunter2", "query": "ghp_0123456789"}, {"query": "z" * 300})
        + entry(2, {"query": "plain"})
    )
    assert await bench.compile() == "written"
    found = json.loads(bench.homes.pool.read_bytes())["entries"]
    assert {row["key"]: row["total"] for row in found} == {"query": 3, "token": 1}
    kept = [path for path in bench.homes.home.parent.rglob("*") if path.is_file()]
    kept = [path for path in kept if bench.homes.sessions not in path.parents]
    assert {bench.homes.pool, bench.homes.pool_ledger} <= {*kept}
    told = repr(bench.telemetry.told).encode()
    for secret in (b"hunter2", b"ghp_0123456789", b"z" * 50):
        assert not [path for path in kept if secret in path.read_bytes()]
        assert secret not in told
