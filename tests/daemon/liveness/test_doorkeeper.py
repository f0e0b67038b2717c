"""The socket stays where clients look for it, whoever removes it."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import tempfile
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest

from fabricd.daemon.health import Health
from fabricd.daemon.liveness import doorkeeper
from fabricd.daemon.liveness.doorkeeper import TOUCH_SECONDS, Doorkeeper, is_swept
from fabricd.ipc.broadcast import Broadcast
from fabricd.ipc.places import Places
from fabricd.ipc.protocol import NoParams
from fabricd.ipc.server import Method, Server
from fabricd.ipc.socket_file import BoundSocket, bind
from fabricd.store.locks import AlreadyHeld, hold, holder
from tests.daemon.hand import HandClock
from tests.daemon.recording import Recording
from tests.ipc.serving import VERSION, Events, Served

pytestmark = pytest.mark.asyncio


@dataclass
class Door:
    """A server behind a socket, and its keeper."""

    bound: BoundSocket
    served: Served
    keeper: Doorkeeper
    telemetry: Recording
    health: Health
    clock: HandClock
    home_lock: Path
    stopped: list[str]

    @property
    def ailing(self) -> list[str]:
        return [ailment.what for ailment in self.health.ailments]

    async def is_answered(self) -> bool:
        return await self.served.is_alive()


async def _status(_: NoParams) -> bytes:
    return b'{"ok":true}'


@pytest.fixture
def place() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="fd-", dir="/tmp"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@asynccontextmanager
async def opened(place: Path) -> AsyncGenerator[Door, None]:
    path = place / "run" / "s"
    path.parent.mkdir(mode=0o700)
    lock = hold(path.with_name("s.lock"), os.fsencode(path))
    bound = bind(path)
    events, broadcast, places = Events(), Broadcast(VERSION), Places()
    methods = {"status": Method(NoParams, _status)}
    server = Server(bound, VERSION, methods, broadcast, events, places)
    telemetry, clock = Recording(), HandClock()
    health = Health(telemetry)
    home_lock, stopped = place / "home" / "fabricd.lock", list[str]()
    home = hold(home_lock, os.fsencode(path))
    keeper = Doorkeeper(bound, home_lock, server, health, telemetry, clock, stopped.append)
    served = Served(path, places, broadcast, events)
    async with anyio.create_task_group() as group:
        await group.start(server.run)
        yield Door(bound, served, keeper, telemetry, health, clock, home_lock, stopped)
        group.cancel_scope.cancel()
    bound.unlink()
    bound.raw.close()
    lock.close()
    home.close()


async def test_a_socket_that_is_there_is_left_alone(place: Path) -> None:
    async with opened(place) as door:
        before = os.stat(door.bound.path)
        await door.keeper.look()
        assert os.stat(door.bound.path) == before
        assert door.telemetry.told == []


async def test_a_removed_socket_is_there_again_and_its_clients_stay(place: Path) -> None:
    async with opened(place) as door, door.served.client() as client:
        assert (await client.ask("status"))["result"] == {"ok": True}
        for _ in range(3):
            door.bound.path.unlink()
            await door.keeper.look()
            assert stat.S_IMODE(os.stat(door.bound.path).st_mode) == 0o600
            assert await door.is_answered()
            assert (await client.ask("status"))["result"] == {"ok": True}
        assert door.telemetry.names() == ["socket_bound_again"] * 3
        assert door.bound.is_ours()
    assert not door.bound.path.exists()


async def test_the_old_socket_is_closed(place: Path) -> None:
    async with opened(place) as door:
        door.bound.path.unlink()
        await door.keeper.look()
        assert await door.is_answered()
        before = len(os.listdir("/dev/fd"))
        for _ in range(5):
            door.bound.path.unlink()
            await door.keeper.look()
            assert await door.is_answered()
        assert len(os.listdir("/dev/fd")) == before


async def test_its_directory_and_lock_are_made_again_too(place: Path) -> None:
    async with opened(place) as door:
        run = door.bound.path.parent
        shutil.rmtree(run)
        await door.keeper.look()
        assert await door.is_answered()
        assert stat.S_IMODE(os.stat(run).st_mode) == 0o700
        with pytest.raises(AlreadyHeld):
            hold(run / "s.lock")
        # The lock that is ours already is not taken twice.
        door.bound.path.unlink()
        await door.keeper.look()
        assert await door.is_answered()
        assert door.ailing == []


async def test_a_path_that_somebody_took_is_told_of_until_it_is_free(place: Path) -> None:
    async with opened(place) as door:
        path = door.bound.path
        path.unlink()
        path.write_text("precious")
        await door.keeper.look()
        assert door.ailing == ["socket"] and path.read_text() == "precious"
        path.unlink()
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(str(path))
            other.listen()
            await door.keeper.look()
            [ailment] = door.health.ailments
            assert "another program listens" in ailment.why
            assert not door.bound.is_ours()
        await door.keeper.look()
        assert door.ailing == [] and await door.is_answered()


async def test_a_lock_that_somebody_else_took_is_respected(place: Path) -> None:
    async with opened(place) as door:
        shutil.rmtree(door.bound.path.parent)
        door.bound.path.parent.mkdir(mode=0o700)
        other = hold(door.bound.path.with_name("s.lock"))
        await door.keeper.look()
        assert door.ailing == ["socket"] and not door.bound.path.exists()
        other.close()
        await door.keeper.look()
        assert door.ailing == [] and await door.is_answered()


async def test_the_lock_of_the_home_is_held_again_wherever_it_went(place: Path) -> None:
    async with opened(place) as door:
        for _ in range(3):
            shutil.rmtree(door.home_lock.parent)
            await door.keeper.look()
            held = holder(door.home_lock)
            assert held is not None and held.told == os.fsencode(door.bound.path)
            assert door.ailing == [] and door.stopped == []
            before = os.stat(door.home_lock)
            await door.keeper.look()
            assert os.stat(door.home_lock) == before


async def test_whoever_holds_the_home_meanwhile_owns_it(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doorkeeper, "_START_SECONDS", 0.1)
    async with opened(place) as door:
        door.home_lock.unlink()
        other = hold(door.home_lock)
        door.bound.path.unlink()
        await door.keeper.look()
        [reason] = door.stopped
        assert str(door.home_lock) in reason and not door.bound.path.exists()
        other.close()


async def test_a_home_that_cannot_be_locked_is_told_of_until_it_can(place: Path) -> None:
    async with opened(place) as door:
        door.home_lock.unlink()
        door.home_lock.mkdir()
        await door.keeper.look()
        assert door.ailing == ["lock"] and door.stopped == []
        door.home_lock.rmdir()
        await door.keeper.look()
        assert door.ailing == [] and holder(door.home_lock) is not None


async def test_an_open_directory_is_not_used(place: Path) -> None:
    async with opened(place) as door:
        door.bound.path.unlink()
        door.bound.path.parent.chmod(0o755)
        await door.keeper.look()
        [ailment] = door.health.ailments
        assert "0755" in ailment.why and not door.bound.path.exists()
        door.bound.path.parent.chmod(0o700)
        await door.keeper.look()
        assert door.ailing == []


async def test_the_socket_of_a_service_manager_is_its_own_to_make(place: Path) -> None:
    async with opened(place) as door:
        door.bound.passed = True
        door.bound.path.unlink()
        await door.keeper.look()
        [ailment] = door.health.ailments
        assert "restart fabricd.socket" in ailment.cure and not door.bound.path.exists()


async def test_below_tmp_it_is_touched_each_hour(place: Path) -> None:
    async with opened(place) as door:
        files = [door.bound.path, door.bound.path.with_name("s.lock"), door.bound.path.parent]
        assert is_swept(door.bound.path)
        for path in files:
            os.utime(path, (1000, 1000))
        door.clock.turn(TOUCH_SECONDS - 1)
        await door.keeper.look()
        assert {os.stat(path).st_mtime for path in files} == {1000}
        door.clock.turn(1)
        await door.keeper.look()
        assert all(os.stat(path).st_mtime > 10**9 for path in files)
        assert door.bound.is_ours() and await door.is_answered()


async def test_elsewhere_nothing_is_touched() -> None:
    assert not is_swept(Path("/run/user/1000/fabricd/control.sock"))
    assert not is_swept(Path("/home/tmp/x"))
    assert not is_swept(Path("/tmpfiles/x"))


async def test_it_looks_by_itself(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doorkeeper, "LOOK_SECONDS", 0.02)
    async with opened(place) as door, anyio.create_task_group() as group:
        group.start_soon(door.keeper.run)
        door.bound.path.unlink()
        with anyio.fail_after(10):
            while True:
                if door.bound.is_ours():
                    break
                await anyio.sleep(0.01)
        assert await door.is_answered()
        group.cancel_scope.cancel()
