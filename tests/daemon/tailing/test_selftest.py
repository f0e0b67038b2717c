"""The self-test hears its own file, remembers what was proven, and leaves nothing behind."""

from __future__ import annotations

import os
from pathlib import Path

import anyio
import pytest

from fabricd.daemon.tailing import selftest
from fabricd.daemon.tailing.selftest import SelfTest, is_told
from tests.daemon.tailing.test_watch import mute

pytestmark = pytest.mark.asyncio


async def test_the_self_test_hears_its_file_and_leaves_nothing(tmp_path: Path) -> None:
    assert await is_told(tmp_path, 15.0) is True
    assert os.listdir(tmp_path) == []


async def test_the_self_test_says_nothing_where_it_can_make_no_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert await is_told(tmp_path / "file", 1.0) is None
    assert await is_told(tmp_path / "file" / "below", 1.0) is None


async def test_what_the_self_test_says_of_other_devices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: bool | None = False
    asked: list[Path] = []

    async def told(directory: Path, _: float) -> bool | None:
        asked.append(directory)
        return heard

    monkeypatch.setattr(selftest, "is_told", told)
    ours, missing = tmp_path, tmp_path / "missing"
    test = SelfTest((ours, missing))
    device = os.stat(ours).st_dev
    assert await test.of(device) is False
    assert await test.of(device + 1) is False
    heard = None
    assert (await test.of(device), await test.of(device + 1)) == (None, None)
    heard = True
    assert (await test.of(device), await test.of(device + 1)) == (True, None)
    # Once proven it is not asked again.
    assert asked == [ours] * 5


async def test_a_cancelled_self_test_leaves_no_file(tmp_path: Path) -> None:
    with anyio.move_on_after(0.4) as scope, pytest.MonkeyPatch.context() as patch:
        patch.setattr(selftest, "awatch", mute)
        await is_told(tmp_path, 60.0)
    assert scope.cancelled_caught
    assert os.listdir(tmp_path) == []
