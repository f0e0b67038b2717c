from __future__ import annotations

import contextlib
import errno
import io
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from fabricd.store.atomic import private_directory, remove_leftovers, write_atomic

OLD, NEW = b"old bytes", b"new bytes, and more of them"
CALLS = ["open", "fdopen", "fsync", "replace", "close"]
_CLOSE = os.close


class Killed(BaseException):
    """Stands for the end of the process: nothing catches it by kind."""


class Saboteur:
    """Lets `survive` system calls happen, then raises before or right after the next one."""

    def __init__(self, survive: int, late: bool, error: BaseException) -> None:
        self._left = survive
        self._late = late
        self._error = error
        self._held: list[Any] = []
        self.struck = False

    def wrap(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*args: Any, **more: Any) -> Any:
            if self.struck or self._left > 0:
                self._left -= 1
                return call(*args, **more)
            self.struck = True
            if self._late:
                self._held.append(call(*args, **more))
            elif call is _CLOSE:
                self._held.append(args[0])
            raise self._error

        return watched

    def clean_up(self) -> None:
        """Close what a dead process would no longer hold."""
        for held in self._held:
            with contextlib.suppress(OSError):
                if isinstance(held, io.IOBase):
                    held.close()
                elif isinstance(held, int):
                    os.close(held)


@contextlib.contextmanager
def sabotaged(survive: int, late: bool, error: BaseException) -> Generator[Saboteur, None, None]:
    saboteur = Saboteur(survive, late, error)
    with pytest.MonkeyPatch.context() as patch:
        for name in CALLS:
            patch.setattr(os, name, saboteur.wrap(getattr(os, name)))
        yield saboteur
    saboteur.clean_up()


@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("old", [OLD, None], ids=["replacing", "creating"])
@pytest.mark.parametrize("error", [Killed(), OSError(errno.ENOSPC, "full"), KeyboardInterrupt()])
def test_an_end_at_any_system_call_leaves_old_or_new_bytes_and_nothing_else(
    tmp_path: Path, old: bytes | None, late: bool, error: BaseException
) -> None:
    path = tmp_path / "compiled.json"
    found, survive = None, 0
    for survive in range(50):
        path.unlink(missing_ok=True)
        if old is not None:
            path.write_bytes(old)
        with sabotaged(survive, late, error) as saboteur, contextlib.suppress(type(error)):
            write_atomic(path, NEW)
        found = path.read_bytes() if path.exists() else None
        assert found in (old, NEW)
        assert [entry.name for entry in tmp_path.iterdir()] in ([], [path.name])
        if not saboteur.struck:
            break
    assert survive > 4
    assert found == NEW


@pytest.mark.parametrize("name", ["open", "fsync", "replace"])
def test_a_full_disk_is_reported_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path = tmp_path / "compiled.json"
    path.write_bytes(OLD)

    def full(*_: Any, **__: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, name, full)
        with pytest.raises(OSError, match="No space left"):
            write_atomic(path, NEW)
    assert path.read_bytes() == OLD
    assert os.listdir(tmp_path) == [path.name]


def test_bytes_are_on_disk_before_the_name_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    for name in ("fsync", "replace"):
        call = getattr(os, name)

        def watched(*args: Any, _call: Any = call, _name: str = name) -> Any:
            kind = (
                "directory"
                if _name == "fsync" and stat.S_ISDIR(os.fstat(args[0]).st_mode)
                else _name
            )
            order.append(kind)
            return _call(*args)

        monkeypatch.setattr(os, name, watched)
    write_atomic(tmp_path / "a", NEW)
    assert order == ["fsync", "replace", "directory"]


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_files_are_for_the_owner_alone(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        write_atomic(tmp_path / "deep" / "er" / "a", NEW)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "deep" / "er" / "a").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "deep" / "er").stat().st_mode) == 0o700


def test_a_readable_file_becomes_private_when_it_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(OLD)
    path.chmod(0o644)
    write_atomic(path, NEW)
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (NEW, 0o600)


def test_missing_parents_are_private_too(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        private_directory(tmp_path / "a" / "b" / "c")
    finally:
        os.umask(before)
    for made in ("a", "a/b", "a/b/c"):
        assert stat.S_IMODE((tmp_path / made).stat().st_mode) == 0o700


def test_an_existing_directory_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir(mode=0o750)
    (tmp_path / "a").chmod(0o750)
    private_directory(tmp_path / "a")
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o750


def test_a_name_that_is_a_directory_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_atomic(tmp_path / "a", NEW)
    assert os.listdir(tmp_path) == ["a"]


def test_a_write_leaves_no_descriptor_open(tmp_path: Path) -> None:
    descriptors = Path("/dev/fd")
    before = len(os.listdir(descriptors))
    for n in range(5):
        write_atomic(tmp_path / str(n), NEW)
    assert len(os.listdir(descriptors)) == before


WRITER = """
import sys
from pathlib import Path
from fabricd.store.atomic import write_atomic
path = Path(sys.argv[1])
write_atomic(path, b"a" * 300_000)
print("ready", flush=True)
while True:
    write_atomic(path, b"b" * 500_000)
    write_atomic(path, b"a" * 300_000)
"""


def test_a_killed_writer_leaves_whole_bytes_and_at_most_a_leftover(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        child.send_signal(signal.SIGKILL)
    data = path.read_bytes()
    assert data in (b"a" * 300_000, b"b" * 500_000)
    others = [name for name in os.listdir(tmp_path) if name != "a"]
    assert remove_leftovers(tmp_path) == len(others) <= 1
    assert os.listdir(tmp_path) == ["a"]


def test_only_our_leftovers_are_removed(tmp_path: Path) -> None:
    kept = ["compiled.json", ".hidden", "a.fabricd-tmp", ".a.tmp"]
    for name in [*kept, ".compiled.json.12.ab.fabricd-tmp", ".x.fabricd-tmp"]:
        (tmp_path / name).touch()
    (tmp_path / ".folder.fabricd-tmp").mkdir()
    assert remove_leftovers(tmp_path) == 2
    assert set(os.listdir(tmp_path)) == {*kept, ".folder.fabricd-tmp"}
    assert remove_leftovers(tmp_path / "missing") == 0


def test_another_mode_is_taken_exactly(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        write_atomic(tmp_path / "a", NEW, mode=0o644)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o644


def test_the_last_word_can_stop_it(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(OLD)

    def veto() -> None:
        assert len(os.listdir(tmp_path)) == 2
        raise Killed

    with pytest.raises(Killed):
        write_atomic(path, NEW, last=veto)
    assert path.read_bytes() == OLD
    assert os.listdir(tmp_path) == ["a"]
