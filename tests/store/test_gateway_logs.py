"""The gateway's logs: private, whole records, a month or 256 MiB."""

from __future__ import annotations

import os
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
