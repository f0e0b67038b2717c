"""The gateway's logs: private, whole records, a month or 256 MiB."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest

from fabricd.store import gateway_logs
from fabricd.store.gateway_logs import GatewayLog, LogIsFull, folder_of, newest_first, prune

_DAY = 86400


def log(root: Path, name: str, age: float, size: int = 10, now: float = 1e9) -> Path:
    """A log that was written to so long ago."""
    path = root / name / f"{age}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    os.utime(path, (now - age, now - age))
    return path


def test_a_log_is_private_and_named_by_its_start(tmp_path: Path) -> None:
    made = GatewayLog(str(tmp_path / "state"), "demo", 1_700_000_000_123)
    made.append(b"{}\n")
    assert made.path.name == f"20231114T221320.123Z-{os.getpid()}.jsonl"
    assert made.path.read_bytes() == b"{}\n"
    assert made.path.stat().st_mode & 0o777 == 0o600
    for folder in (made.path.parent, made.path.parent.parent):
        assert folder.stat().st_mode & 0o777 == 0o700
    made.close()


def test_logs_of_more_than_a_month_go(tmp_path: Path) -> None:
    young = log(tmp_path, "a", 29 * _DAY)
    old = log(tmp_path, "a", 31 * _DAY)
    alone = log(tmp_path, "b", 31 * _DAY)
    other = tmp_path / "a" / "notes.txt"
    other.write_text("mine")
    assert prune(tmp_path, 1e9) == 2
    assert young.exists() and other.exists()
    assert not old.exists() and not alone.parent.exists()


def test_the_oldest_go_where_all_are_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateway_logs, "KEEP_BYTES", 100)
    logs = [log(tmp_path, name, age, 40) for age, name in ((1, "a"), (2, "b"), (3, "a"), (4, "b"))]
    assert prune(tmp_path, 1e9, keep=logs[3]) == 1
    assert [path.exists() for path in logs] == [True, True, False, True]
    assert newest_first(tmp_path) == [logs[0], logs[1], logs[3]]


def test_a_run_that_fills_everything_is_logged_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateway_logs, "KEEP_BYTES", 10)
    made = GatewayLog(str(tmp_path), "demo", 0)
    made.append(b"12345678\n")
    with pytest.raises(LogIsFull):
        made.append(b"12345678\n")
    assert made.path.read_bytes() == b"12345678\n"
    made.close()


def test_links_are_neither_written_through_nor_deleted(tmp_path: Path) -> None:
    root = folder_of(tmp_path)
    root.mkdir()
    target = tmp_path / "elsewhere"
    old = log(target, "x", 400 * _DAY, now=0)
    (root / "link").symlink_to(old.parent)
    prune(root, 1e12)
    assert old.exists()


def test_nothing_there_is_nothing_to_do(tmp_path: Path) -> None:
    assert prune(tmp_path / "none", 0) == 0
    assert newest_first(tmp_path / "none") == []


def test_once_too_much_is_met_all_that_is_older_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateway_logs, "KEEP_BYTES", 256)
    logs = [log(tmp_path, "a", age, size) for age, size in ((0, 200), (100, 100), (200, 10))]
    assert prune(tmp_path, 1e9) == 2
    assert [path.exists() for path in logs] == [True, False, False]


def test_a_log_that_is_still_written_stays(tmp_path: Path) -> None:
    made = GatewayLog(str(tmp_path), "demo", 0)
    made.append(b"{}\n")
    os.utime(made.path, (1, 1))
    assert prune(folder_of(tmp_path), 1e9) == 0 and not made.is_gone
    made.close()
    assert prune(folder_of(tmp_path), 1e9) == 1


def test_a_log_that_was_deleted_is_gone(tmp_path: Path) -> None:
    made = GatewayLog(str(tmp_path), "demo", 0)
    assert not made.is_gone
    made.path.unlink()
    assert made.is_gone
    made.close()


def test_what_cannot_be_written_whole_is_taken_back(tmp_path: Path) -> None:
    made = GatewayLog(str(tmp_path), "demo", 0)
    made.append(b"12345678\n")
    # Somebody has emptied it: what comes next begins where it ends.
    os.truncate(made.path, 0)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5, before[1]))
    try:
        with pytest.raises(OSError):
            made.append(b"12345678\n")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert made.path.read_bytes() == b""
    made.close()


def test_our_directories_are_closed_and_those_above_stay(tmp_path: Path) -> None:
    state, elsewhere = tmp_path / "state", tmp_path / "elsewhere"
    for folder in (state, folder_of(state), folder_of(state) / "demo", elsewhere):
        folder.mkdir()
        folder.chmod(0o755)
    (folder_of(state) / "link").symlink_to(elsewhere)
    for name in ("demo", "link"):
        GatewayLog(str(state), name, 0).close()
    folders = (state, elsewhere, folder_of(state), folder_of(state) / "demo")
    assert [each.stat().st_mode & 0o777 for each in folders] == [0o755, 0o755, 0o700, 0o700]
