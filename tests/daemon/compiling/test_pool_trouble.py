"""The pool where things go wrong: damage, locks, full disks, and other programs that write it."""

from __future__ import annotations

import errno
import json
import os
from collections import Counter
from pathlib import Path

import anyio
import pytest

from fabricd.daemon.compiling.compiler import Finished
from fabricd.daemon.compiling.grace import Context, GraceQueue
from tests.daemon.bench import Bench
from tests.daemon.pooling import check, clean, counted, entries, header, keep, restarted, tracked

pytestmark = pytest.mark.asyncio


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


async def test_a_damaged_pool_blocks_itself_alone_until_it_is_moved_away(bench: Bench) -> None:
    bench.declare()
    await bench.start()
    bench.append(header("s") + entries(range(4)))
    assert await bench.compile() == "written"
    torn = bench.homes.pool.read_bytes()[:50]
    bench.homes.pool.write_bytes(torn)
    for _ in range(2):
        bench.append(entries([90 + len(bench.telemetry.told)]))
        bench.homes.compiled.unlink()
        assert await bench.compile() == "written"
        assert bench.compiler.last == Finished("written", pool="damaged")
        assert bench.ailments == ["pool"]
        assert str(bench.homes.pool) in bench.health.ailments[0].cure
        assert bench.compiler.is_blocked
    assert bench.homes.pool.read_bytes() == torn
    bench.homes.pool.rename(bench.homes.pool.with_suffix(".aside"))
    await bench.compile()
    assert bench.compiler.last == Finished("already_written")
    assert bench.ailments == [] and not bench.compiler.is_blocked
    await check(bench)


async def test_damage_is_seen_although_nothing_is_owed(bench: Bench) -> None:
    bench.append(header("s") + entries(range(4)))
    await check(bench)
    bench.homes.pool.write_bytes(b"{")
    assert await keep(bench) == "damaged"
    bench.homes.pool.unlink()
    await check(bench)
    assert bench.ailments == []


async def test_a_damaged_pool_is_told_at_the_start(bench: Bench) -> None:
    bench.homes.pool.write_bytes(b"[]")
    await bench.start()
    assert bench.ailments == ["pool"]
    bench.append(header("s") + entries(range(4)))
    assert await keep(bench) == "damaged"
    bench.homes.pool.unlink()
    await check(bench)


async def test_a_busy_lock_costs_the_pool_but_not_the_artifact(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fabricd.daemon.compiling.locked.ATTEMPTS", 3)
    bench.declare()
    bench.append(header("s") + entries(range(4)))
    bench.hold(bench.homes.pool_lock)
    assert await bench.compile() == "written"
    assert bench.compiler.last == Finished("written", pool="locked")
    assert Finished("written", pool="locked").is_retried
    assert not bench.homes.pool.exists() and bench.homes.compiled.exists()
    # Nothing ails: somebody else is at it, and it is tried again.
    assert bench.ailments == []
    bench.append(entries([8]))
    await bench.compile()
    bench.let_go(bench.homes.pool_lock)
    await check(bench)


async def test_a_pool_that_was_locked_is_written_by_a_later_try_of_its_own(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fabricd.daemon.compiling.locked.ATTEMPTS", 2)
    monkeypatch.setattr("fabricd.daemon.compiling.grace._FIRST_RETRY", 0.02)
    bench.declare()
    bench.append(header("s") + entries(range(4)))
    bench.hold(bench.homes.pool_lock)
    finished: list[Finished] = []
    settled = 0

    async def compile_now(_: Context) -> Finished:
        await bench.tailer.read_all()
        finished.append(await bench.compiler.compile())
        return finished[-1]

    queue = GraceQueue(compile_now, 0.001)
    queue._backoff = 0.02
    async with anyio.create_task_group() as group:
        await group.start(queue.run)
        queue.submit(Context())
        with anyio.fail_after(10):
            while len(finished) < 3:  # noqa: ASYNC110 - what is waited for has no event
                await anyio.sleep(0.005)
            assert {each.pool for each in finished} == {"locked"}
            assert queue._backoff > 0.07
            bench.let_go(bench.homes.pool_lock)
            while finished[-1].pool is not None:  # noqa: ASYNC110
                await anyio.sleep(0.005)
            settled = len(finished)
            await anyio.sleep(0.2)
        group.cancel_scope.cancel()
    assert len(finished) == settled
    await check(bench)


@pytest.mark.parametrize("nth", [1, 3])
async def test_a_full_disk_costs_nothing_but_time(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, nth: int
) -> None:
    bench.append(header("s") + entries(range(4)))
    await check(bench)
    before = bench.homes.pool.read_bytes()
    bench.append(entries([7]))
    calls = 0
    fsync = os.fsync

    def full(descriptor: int) -> None:
        nonlocal calls
        calls += 1
        if calls >= nth:
            raise OSError(errno.ENOSPC, "No space left on device")
        fsync(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        assert await keep(bench) == "failed"
        assert await keep(bench) == "failed"
    assert bench.homes.pool.read_bytes() == before
    assert bench.ailments == ["pool"] and "No space left" in bench.health.ailments[0].why
    assert not [*bench.homes.entropy.glob(".*"), *bench.homes.state.glob(".*")]
    # Whether it goes on or begins anew.
    await check(await restarted(bench))
    await check(bench)
    assert bench.ailments == []


async def test_whatever_breaks_in_the_pool_the_artifact_is_written(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("no way")

    bench.declare()
    bench.append(header("s") + entries(range(4)))
    with monkeypatch.context() as patch:
        patch.setattr("fabricd.daemon.compiling.poolkeeper.merge_steps", broken)
        assert await bench.compile() == "written"
    assert bench.compiler.last == Finished("written", pool="failed")
    assert bench.ailments == ["pool"] and "no way" in bench.health.ailments[0].why
    assert [str(error) for error in bench.telemetry.all("compile_failed")] == ["no way"]
    assert await bench.compile() == "already_written"
    assert bench.ailments == []
    await check(bench)


# --- another program


async def test_what_another_program_tracks_is_adopted_and_kept(bench: Bench) -> None:
    bench.append(header("s") + entries(range(4)))
    await check(bench)
    stored = json.loads(bench.homes.pool.read_bytes())
    stored["entries"].append(
        {"ref": "pi.x", "key": "k", "total": 3, "values": [{"value": "theirs", "count": 3}]}
    )
    theirs = {
        "file": "/their/log.jsonl",
        "digest": "ab" * 32,
        "counts": {"pi.x\0k\0string:theirs": 3},
    }
    stored["tracked"].append(theirs)
    bench.homes.pool.write_text(json.dumps(stored))
    expected = clean([bench.project / "a.jsonl"]) + Counter({("pi.x", "k", '"theirs"'): 3})
    for _ in range(2):
        assert await keep(bench) == "kept"
        assert counted(bench.homes.pool) == expected
        assert theirs in json.loads(bench.homes.pool.read_bytes())["tracked"]
        bench = await restarted(bench)
    assert ("pi.x", "theirs") in {(row.ref, row.value) for row in bench.pool.observed()}


async def test_a_pool_from_before_our_time_is_taken_over(bench: Bench) -> None:
    path = bench.append(header("s") + entries(range(2)))
    known = clean([path])
    both = [
        {"value": json.loads(value), "count": n}
        for (_, key, value), n in known.items()
        if key == "shared"
    ]
    merged = {"ref": "mcp.demo.search", "key": "shared", "total": 2, "values": both}
    counts = {f"{ref}\0{key}\0string:{json.loads(v)}": n for (ref, key, v), n in known.items()
              if key == "shared"}  # fmt: skip
    gone = {"ref": "gone", "key": "k", "total": 5, "values": [{"value": True, "count": 5}]}
    bench.homes.pool.write_text(
        json.dumps(
            {
                "version": 1,
                "entries": [merged, gone],
                "tracked": [{"file": str(path), "digest": "cd" * 32, "counts": counts}],
                "baked": ["ef" * 32],
            }
        )
    )
    await bench.start()
    assert await keep(bench) == "kept"
    assert counted(bench.homes.pool) == known + Counter({("gone", "k", "true"): 5})
    assert tracked(bench) == ["session:s"]
    assert json.loads(bench.homes.pool.read_bytes())["baked"] == ["ef" * 32]
