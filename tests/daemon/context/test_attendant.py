"""The attendant with real worker processes, whose engine does what its queries say."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from fabricd import __version__
from fabricd.core.context.asking import Refused
from fabricd.daemon.context.attendant import Attendant, Limits
from fabricd.daemon.context.child import started
from fabricd.store.locks import hold, holder
from tests.cancelling import at_every_suspension, descriptors
from tests.daemon.context.fake import SECRET, command

pytestmark = pytest.mark.asyncio
SECONDS = 15.0


class Told:
    """What was told of workers."""

    def __init__(self) -> None:
        self.started: list[int] = []
        self.ended: list[tuple[str, int]] = []
        self.words: list[str] = []

    def worker_started(self, pid: int) -> None:
        self.started.append(pid)

    def worker_ended(self, pid: int, how: str, code: int) -> None:
        assert pid == self.started[-1]
        self.ended.append((how, code))

    def worker_said(self, words: str) -> None:
        self.words.append(words)


class Subject:
    """An attendant that runs, and what its workers noted."""

    def __init__(self, state: Path, limits: Limits, version: str = __version__) -> None:
        self.told = Told()
        self.state = state
        start = partial(started, command(state))
        self.attendant = Attendant(start, version, self.told, limits)

    async def ask(self, query: str, method: str = "select", **more: object) -> str:
        with anyio.fail_after(SECONDS):
            params = {"query": query, "root": "/nowhere", **more}
            found = await self.attendant.ask(method, json.dumps(params).encode())
        return str(json.loads(found)["text"])

    async def refused(self, query: str, **more: object) -> Refused:
        with pytest.raises(Refused) as caught:
            await self.ask(query, **more)  # type: ignore[arg-type]
        return caught.value

    @property
    def noted(self) -> list[str]:
        try:
            lines = (self.state / "context" / "events").read_text().splitlines()
        except FileNotFoundError:
            return []
        return [line.rpartition(" ")[0] for line in lines]

    async def until(self, condition: Any) -> None:
        with anyio.fail_after(SECONDS):
            while True:
                if condition():
                    return
                await anyio.sleep(0.01)

    @property
    def is_free(self) -> bool:
        return holder(self.state / "context" / "index.lock") is None


@asynccontextmanager
async def attended(
    state: Path, limits: Limits | None = None, version: str = __version__
) -> AsyncGenerator[Subject]:
    subject = Subject(state, limits or Limits(), version)
    async with anyio.create_task_group() as group:
        await group.start(subject.attendant.run)
        yield subject
        group.cancel_scope.cancel()
    assert subject.attendant.value is None
    assert len(subject.told.started) == len(subject.told.ended)
    assert subject.is_free


@pytest.fixture
def state() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="fd-"))
    yield folder
    shutil.rmtree(folder)


async def test_a_worker_is_started_by_the_first_request_and_kept(state: Path) -> None:
    async with attended(state) as subject:
        assert subject.attendant.value is None
        assert await subject.ask("echo") == "echo\n"
        first = await subject.ask("pid")
        assert await subject.ask("pid") == first
        value = subject.attendant.value
        assert value is not None and value["pid"] == int(first)
        assert value["requests"] == 0
        assert value.get("rssBytes", 1) > 0
    assert subject.told.ended == [("stopped", 0)]
    assert subject.noted[0] == "open" and subject.noted[-1] == "close"


async def test_many_requests_at_once(state: Path) -> None:
    async with attended(state) as subject:
        found: list[str] = []

        async def ask(number: int) -> None:
            found.append(await subject.ask(f"word{number}", root=f"/r{number}"))

        async with anyio.create_task_group() as group:
            for number in range(50):
                group.start_soon(ask, number)
        assert sorted(found) == sorted(f"word{number}\n" for number in range(50))


async def test_a_long_request_holds_up_no_other_tree(state: Path) -> None:
    async with attended(state) as subject:
        async with anyio.create_task_group() as group:
            group.start_soon(partial(subject.ask, "slow:60", root="/large"))
            await subject.until(lambda: "begin select slow:60" in subject.noted)
            for _ in range(5):
                assert await subject.ask("echo", root="/small") == "echo\n"
            assert await subject.ask("echo", "recover", root="/large") == "echo\n"
            await subject.until(lambda: subject.attendant.progress)
            (progress,) = subject.attendant.progress
            assert (progress.root, progress.done, progress.total) == ("/large", 3, 10)
            group.cancel_scope.cancel()
        assert subject.attendant.progress == ()


async def test_a_request_that_nobody_waits_for_is_left(state: Path) -> None:
    async with attended(state) as subject:
        with anyio.move_on_after(SECONDS) as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(subject.ask, "slow:30")
                await subject.until(lambda: "begin select slow:30" in subject.noted)
                group.cancel_scope.cancel()
        assert not scope.cancelled_caught
        await subject.until(lambda: "left select slow:30" in subject.noted)
        assert await subject.ask("echo") == "echo\n"
    assert len(subject.told.started) == 1


async def test_refusals_keep_reason_and_number(state: Path) -> None:
    async with attended(state) as subject:
        found = await subject.refused("refuse:budget-too-small")
        assert (found.reason, found.smallest) == ("budget-too-small", 180)
        assert (await subject.refused("refuse:gone")).reason == "gone"
        assert await subject.ask("echo") == "echo\n"


async def test_an_engine_that_breaks_is_named_without_its_words(state: Path) -> None:
    async with attended(state) as subject:
        found = await subject.refused("break")
        assert (found.reason, "KeyError" in found.message) == ("failed", True)
        assert await subject.ask("echo") == "echo\n"
        await subject.until(lambda: "KeyError" in subject.told.words)
    assert SECRET not in found.message + "".join(subject.told.words)
    assert any("fake.py" in words for words in subject.told.words)


async def test_what_is_printed_by_mistake_goes_to_the_log(state: Path) -> None:
    async with attended(state) as subject:
        assert await subject.ask("print") == "print\n"
        await subject.until(lambda: "printed by mistake" in subject.told.words)


async def test_a_killed_worker_is_replaced_and_asked_again(state: Path) -> None:
    async with attended(state) as subject:
        first = await subject.ask("pid")
        assert await subject.ask("die-once") == "die-once\n"
        assert await subject.ask("pid") != first
    assert subject.told.ended == [("died", -9), ("stopped", 0)]


async def test_a_worker_killed_while_idle_is_replaced_at_need(state: Path) -> None:
    async with attended(state) as subject:
        first = int(await subject.ask("pid"))
        os.kill(first, signal.SIGKILL)
        await subject.until(lambda: subject.told.ended)
        assert len(subject.told.started) == 1
        assert int(await subject.ask("pid")) != first


async def test_others_survive_the_death_of_the_worker(state: Path) -> None:
    async with attended(state) as subject:
        found: list[str] = []

        async def slow() -> None:
            found.append(await subject.ask("slow:1", root="/other"))

        async with anyio.create_task_group() as group:
            group.start_soon(slow)
            await subject.until(lambda: "begin select slow:1" in subject.noted)
            assert await subject.ask("die-once") == "die-once\n"
        assert found == ["slow:1\n"]


async def test_what_kills_each_worker_is_given_up(state: Path) -> None:
    async with attended(state) as subject:
        found = await subject.refused("die")
        assert (found.reason, "twice" in found.message) == ("failed", True)
        assert await subject.ask("echo") == "echo\n"
    assert [how for how, _ in subject.told.ended] == ["died", "died", "stopped"]


async def test_a_worker_that_hangs_is_killed(state: Path) -> None:
    async with attended(state, Limits(silence=0.8)) as subject:
        found = await subject.refused("hang")
        assert found.reason == "failed"
        assert await subject.ask("echo") == "echo\n"
    assert [how for how, _ in subject.told.ended] == ["silent", "silent", "stopped"]


async def test_a_busy_worker_is_not_taken_for_one_that_hangs(state: Path) -> None:
    async with attended(state, Limits(silence=1.5)) as subject:
        assert await subject.ask("slow:2.5") == "slow:2.5\n"
    assert subject.told.ended == [("stopped", 0)]


async def test_garbage_on_the_wire_ends_the_worker(state: Path) -> None:
    async with attended(state) as subject:
        found = await subject.refused("garbage")
        assert found.reason == "failed"
        assert await subject.ask("echo") == "echo\n"
    assert [how for how, _ in subject.told.ended] == ["garbled", "garbled", "stopped"]


async def test_an_idle_worker_ends_and_gives_the_lock_back(state: Path) -> None:
    async with attended(state, Limits(idle=0.4)) as subject:
        first = await subject.ask("pid")
        await subject.until(lambda: subject.told.ended)
        assert subject.told.ended == [("idle", 0)]
        assert subject.is_free and subject.attendant.value is None
        assert await subject.ask("pid") != first


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not tell memory")
async def test_a_heavy_worker_is_replaced_once_in_a_while(state: Path) -> None:
    async with attended(state, Limits(idle=2, heavy=1)) as subject:
        first = await subject.ask("pid")
        await subject.until(lambda: subject.told.ended)
        assert subject.told.ended == [("heavy", 0)]
        second = await subject.ask("pid")
        await anyio.sleep(1.2)
        assert first != second == await subject.ask("pid")


async def test_a_worker_at_work_is_not_idle(state: Path) -> None:
    async with attended(state, Limits(idle=0.3)) as subject:
        assert await subject.ask("slow:1.5") == "slow:1.5\n"
        assert len(subject.told.started) == 1


async def test_a_queue_that_is_full_says_so_at_once(state: Path) -> None:
    async with attended(state, Limits(queue=3, at_once=2)) as subject:
        async with anyio.create_task_group() as group:
            for number in range(3):
                group.start_soon(partial(subject.ask, "slow:20", root=f"/r{number}"))
            await subject.until(lambda: len(subject.noted) >= 3)
            # The third waits here, not in the worker.
            assert subject.noted.count("begin select slow:20") == 2
            began = time.monotonic()
            assert (await subject.refused("echo")).reason == "busy"
            assert time.monotonic() - began < 10
            group.cancel_scope.cancel()
        assert await subject.ask("echo") == "echo\n"


async def test_a_request_has_a_deadline(state: Path) -> None:
    async with attended(state, Limits(request=2)) as subject:
        found = await subject.refused("slow:30")
        assert (found.reason, "for 2 s" in found.message) == ("busy", True)
        await subject.until(lambda: "left select slow:30" in subject.noted)


async def test_large_answers_pass_and_too_large_ones_are_refused(state: Path) -> None:
    async with attended(state) as subject:
        assert len(await subject.ask("big:6000000")) == 6_000_000
        found = await subject.refused("big:9000000")
        assert (found.reason, "8 MiB" in found.message) == ("failed", True)
        assert await subject.ask("echo") == "echo\n"


async def test_an_index_that_somebody_else_holds_is_waited_for(state: Path) -> None:
    lock = hold(state / "context" / "index.lock")
    async with attended(state) as subject:
        async with anyio.create_task_group() as group:

            async def release() -> None:
                await anyio.sleep(1.0)
                lock.close()

            group.start_soon(release)
            assert await subject.ask("echo") == "echo\n"


async def test_another_version_of_the_code_is_not_asked(state: Path) -> None:
    async with attended(state, version="0.0.0") as subject:
        found = await subject.refused("echo")
        assert (found.reason, "restart" in found.message) == ("failed", True)
    assert subject.told.ended == [("other-code", 0)]


async def test_a_worker_that_cannot_be_started(state: Path) -> None:
    async def start() -> Any:
        raise OSError(11, "no process is left")

    attendant = Attendant(start, __version__, Told())
    async with anyio.create_task_group() as group:
        await group.start(attendant.run)
        for _ in range(3):
            with anyio.fail_after(SECONDS), pytest.raises(Refused, match="no process is left"):
                await attendant.ask("select", b"{}")
        group.cancel_scope.cancel()


async def test_a_worker_that_dies_at_once_is_not_started_for_ever(state: Path) -> None:
    told = Told()
    attendant = Attendant(partial(started, ["/bin/false"]), __version__, told)
    async with anyio.create_task_group() as group:
        await group.start(attendant.run)
        with anyio.fail_after(SECONDS), pytest.raises(Refused, match="twice"):
            await attendant.ask("select", b"{}")
        group.cancel_scope.cancel()
    assert told.ended == [("died", 1), ("died", 1)]


async def test_cancelled_anywhere_it_leaves_nothing_behind(state: Path) -> None:
    open_before = descriptors()

    async def whole() -> None:
        async with attended(state) as subject:
            await subject.ask("echo")
            await subject.ask("die-once")
            (state / "context" / "seen-die-once").unlink()

    async def then(at: int) -> None:
        assert holder(state / "context" / "index.lock") is None, at
        assert descriptors() == open_before, at

    assert await at_every_suspension(whole, then, step=3) > 10
