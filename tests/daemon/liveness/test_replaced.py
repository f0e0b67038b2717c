"""Code that is replaced under the running daemon: noticed, told, left to whoever restarts it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fabricd.daemon.health import Health
from fabricd.daemon.liveness.notify import manager
from fabricd.daemon.liveness.replaced import CodeWatch, Record, ours, record_beside
from tests.daemon.recording import Recording


def install(site: Path, version: str = "1.0") -> Path:
    """What an installer leaves behind: the package, and its record last."""
    (site / "fabricd").mkdir(parents=True, exist_ok=True)
    folder = site / f"fabricd-{version}.dist-info"
    folder.mkdir()
    (folder / "RECORD").write_text("fabricd/__init__.py,,\n")
    return site / "fabricd"


class Subject:
    """A watch on a package in a folder of its own."""

    def __init__(self, site: Path, managed: bool) -> None:
        self.package = install(site)
        self.events = Recording()
        self.health = Health(self.events)
        self.left = 0
        leave = self._leave if managed else None
        self.watch = CodeWatch(self.health, self.events, leave, lambda: record_beside(self.package))

    def _leave(self) -> None:
        self.left += 1

    @property
    def wrong(self) -> list[tuple[str, str]]:
        return [(ailment.why, ailment.cure) for ailment in self.health.ailments]


def uninstall(site: Path) -> None:
    for folder in site.glob("fabricd-*.dist-info"):
        (folder / "RECORD").unlink()
        folder.rmdir()


def test_the_record_lies_beside_the_package(tmp_path: Path) -> None:
    package = install(tmp_path)
    record = record_beside(package)
    assert record is not None
    assert (record.folder, record.version) == (tmp_path / "fabricd-1.0.dist-info", "1.0")


def test_a_checkout_has_none(tmp_path: Path) -> None:
    (tmp_path / "src" / "fabricd").mkdir(parents=True)
    assert record_beside(tmp_path / "src" / "fabricd") is None
    assert record_beside(tmp_path / "gone" / "fabricd") is None
    (tmp_path / "src" / "fabricd-1.dist-info").mkdir()
    assert record_beside(tmp_path / "src" / "fabricd") is None
    # These tests run from one.
    assert ours() is None


@pytest.mark.asyncio
async def test_while_nothing_changes_nothing_is_told(tmp_path: Path) -> None:
    subject = Subject(tmp_path, managed=True)
    await subject.watch.look()
    assert (subject.events.told, subject.left, subject.wrong) == ([], 0, [])


@pytest.mark.asyncio
@pytest.mark.parametrize("version", ["1.0", "2.0"])
async def test_a_replaced_package_is_told_once_and_shown(tmp_path: Path, version: str) -> None:
    subject = Subject(tmp_path, managed=False)
    uninstall(tmp_path)
    install(tmp_path, version)
    os.utime(tmp_path / f"fabricd-{version}.dist-info" / "RECORD", (1, 1))
    for _ in range(3):
        await subject.watch.look()
    assert subject.events.told == [
        ("code_replaced", (version, False)),
        ("health_degraded", "code"),
    ]
    ((why, cure),) = subject.wrong
    assert version in why and cure == "fabricd restart"


@pytest.mark.asyncio
async def test_whoever_is_restarted_leaves(tmp_path: Path) -> None:
    subject = Subject(tmp_path, managed=True)
    uninstall(tmp_path)
    install(tmp_path, "2.0")
    await subject.watch.look()
    assert subject.left == 1
    assert ("code_replaced", ("2.0", True)) in subject.events.told


@pytest.mark.asyncio
async def test_in_the_middle_of_an_upgrade_nobody_leaves(tmp_path: Path) -> None:
    subject = Subject(tmp_path, managed=True)
    uninstall(tmp_path)
    await subject.watch.look()
    assert subject.left == 0
    assert [cure for _, cure in subject.wrong] == ["fabricd stop"]
    (tmp_path / "fabricd-2.0.dist-info").mkdir()
    await subject.watch.look()
    assert subject.left == 0
    (tmp_path / "fabricd-2.0.dist-info" / "RECORD").write_text("")
    await subject.watch.look()
    assert subject.left == 1


@pytest.mark.asyncio
async def test_a_package_that_is_back_is_well_again(tmp_path: Path) -> None:
    subject = Subject(tmp_path, managed=False)
    folder = tmp_path / "fabricd-1.0.dist-info"
    folder.rename(tmp_path / "~abricd-1.0.dist-info")
    await subject.watch.look()
    assert subject.wrong
    (tmp_path / "~abricd-1.0.dist-info").rename(folder)
    await subject.watch.look()
    assert not subject.wrong
    assert subject.events.names() == ["health_degraded", "health_recovered"]


@pytest.mark.asyncio
async def test_without_a_record_the_watch_is_over_at_once() -> None:
    events = Recording()
    await CodeWatch(Health(events), events, None, lambda: None).run()
    assert Record(Path("fabricd-1.2.dist-info"), 0, 0).version == "1.2"


@pytest.mark.parametrize(
    ("environment", "found"),
    [
        ({}, None),
        ({"INVOCATION_ID": "x", "JOURNAL_STREAM": "8:1"}, None),
        ({"SYSTEMD_EXEC_PID": "1"}, None),
        ({"SYSTEMD_EXEC_PID": str(os.getpid())}, "systemd"),
        ({"NOTIFY_SOCKET": "/run/n"}, "systemd"),
        ({"XPC_SERVICE_NAME": "dev.fabricd"}, "launchd"),
        ({"XPC_SERVICE_NAME": "com.apple.Terminal"}, None),
    ],
)
def test_a_manager_is_known_by_what_it_told_this_very_process(
    environment: dict[str, str], found: str | None
) -> None:
    assert manager(environment) == found
