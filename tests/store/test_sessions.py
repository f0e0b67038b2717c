from __future__ import annotations

import errno
import os
import time
from pathlib import Path
from typing import Any

import pytest

from fabricd.core.sessions import records
from fabricd.store import sessions
from fabricd.store.sessions import Listing, OpenLog, Skipped, discover, read_spans, stat_of


def touch(path: bytes | Path, data: bytes = b"") -> None:
    name = os.fsencode(path)
    os.makedirs(os.path.dirname(name), exist_ok=True)
    with open(name, "wb") as file:
        file.write(data)


def found(root: Path, include_root: bool = False) -> list[bytes]:
    """The paths discovered, below the root."""
    listing = discover(root, include_root)
    assert listing.skipped == ()
    return [os.path.relpath(file.path, os.fsencode(root)) for file in listing.files]


def test_logs_one_level_down_are_found_by_path(tmp_path: Path) -> None:
    for name in ("b/2.jsonl", "b/1.jsonl", "a/x.jsonl", "top.jsonl", ".c/.jsonl", "a/b/deep.jsonl"):
        touch(tmp_path / name)
    for name in ("a/x.json", "a/x.jsonl.bak", "a/jsonl", "x.txt", "a/X.JSONL"):
        touch(tmp_path / name)
    inner = [b".c/.jsonl", b"a/x.jsonl", b"b/1.jsonl", b"b/2.jsonl"]
    assert found(tmp_path) == inner
    assert found(tmp_path, include_root=True) == [*inner, b"top.jsonl"]


def test_a_log_is_listed_with_project_size_and_time(tmp_path: Path) -> None:
    touch(tmp_path / "--repo--" / "a.jsonl", b"12345")
    os.utime(tmp_path / "--repo--" / "a.jsonl", ns=(5, 1_234_567_891))
    [file] = discover(tmp_path).files
    assert (file.project, file.size, file.mtime_ns) == (b"--repo--", 5, 1_234_567_891)


def test_names_that_are_no_text_are_found(tmp_path: Path) -> None:
    touch(os.fsencode(tmp_path) + b"/\xff\xfe/\xc3\x28.jsonl", b"x")
    [file] = discover(tmp_path).files
    assert (file.project, os.path.basename(file.path)) == (b"\xff\xfe", b"\xc3\x28.jsonl")
    with OpenLog(file.path) as log:
        assert log.read(0) == b"x"


def test_a_folder_that_is_named_like_a_log_is_a_folder(tmp_path: Path) -> None:
    touch(tmp_path / "p.jsonl" / "a.jsonl")
    (tmp_path / "q" / "b.jsonl").mkdir(parents=True)
    assert found(tmp_path) == found(tmp_path, include_root=True) == [b"p.jsonl/a.jsonl"]


def test_links_are_followed_and_broken_ones_ignored(tmp_path: Path) -> None:
    touch(tmp_path / "elsewhere" / "real.jsonl")
    root = tmp_path / "root"
    (root / "p").mkdir(parents=True)
    (root / "linked").symlink_to(tmp_path / "elsewhere")
    (root / "p" / "linked.jsonl").symlink_to(tmp_path / "elsewhere" / "real.jsonl")
    (root / "p" / "broken.jsonl").symlink_to("nowhere")
    (root / "broken").symlink_to("nowhere")
    (root / "p" / "loop.jsonl").symlink_to("loop.jsonl")
    (root / "self").symlink_to(".")
    files = [os.path.relpath(file.path, os.fsencode(root)) for file in discover(root).files]
    assert files == [b"linked/real.jsonl", b"p/linked.jsonl"]


def test_what_is_no_file_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    os.mkfifo(tmp_path / "p" / "fifo.jsonl")
    os.mkfifo(tmp_path / "fifo.jsonl")
    (tmp_path / "p" / "device.jsonl").symlink_to("/dev/null")
    assert found(tmp_path, include_root=True) == []


def test_a_missing_root_is_an_empty_listing(tmp_path: Path) -> None:
    assert discover(tmp_path / "missing") == Listing((), ())


def test_a_root_that_is_a_file_is_named(tmp_path: Path) -> None:
    touch(tmp_path / "file")
    listing = discover(tmp_path / "file")
    assert listing == Listing((), (Skipped(str(tmp_path / "file"), "Not a directory"),))


def test_a_folder_that_cannot_be_read_is_named_and_the_others_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    touch(tmp_path / "open" / "a.jsonl")
    touch(tmp_path / "closed" / "b.jsonl")
    scandir = os.scandir

    def guarded(path: Any) -> Any:
        if os.fsencode(path).endswith(b"/closed"):
            raise PermissionError(errno.EACCES, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", guarded)
    listing = discover(tmp_path)
    assert [os.path.basename(file.path) for file in listing.files] == [b"a.jsonl"]
    assert listing.skipped == (Skipped(str(tmp_path / "closed"), "Permission denied"),)


def test_an_open_log_stays_one_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    touch(path, b"old bytes")
    with OpenLog(os.fsencode(path)) as log:
        touch(tmp_path / "b", b"new")
        os.replace(tmp_path / "b", path)
        assert log.read(0) == b"old bytes"
        assert (log.read(4), log.read(4, 2), log.read(9), log.read(100)) == (
            b"bytes",
            b"by",
            b"",
            b"",
        )
        assert log.stat().size == 9


def test_closing_a_log_twice_is_harmless(tmp_path: Path) -> None:
    touch(tmp_path / "a")
    before = len(os.listdir("/dev/fd"))
    log = OpenLog(os.fsencode(tmp_path / "a"))
    log.close()
    log.close()
    assert len(os.listdir("/dev/fd")) == before


def test_opening_a_fifo_does_not_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a")
    began = time.monotonic()
    with OpenLog(os.fsencode(tmp_path / "a")):
        pass
    assert time.monotonic() - began < 1


def test_a_stat_identifies_a_file(tmp_path: Path) -> None:
    touch(tmp_path / "a", b"123")
    with (tmp_path / "a").open("rb") as file:
        ours, theirs = stat_of(file.fileno()), os.stat(tmp_path / "a")
    assert (ours.device, ours.inode, ours.size) == (theirs.st_dev, theirs.st_ino, 3)
    assert (ours.mtime_ns, ours.ctime_ns) == (theirs.st_mtime_ns, theirs.st_ctime_ns)


def test_spans_are_read_as_they_lie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.jsonl"
    touch(path, b"one\ntwo\nthree\n")
    name = os.fsencode(path)
    assert read_spans(name, [(0, 3), (8, 5), (4, 3)]) == [b"one", b"three", b"two"]
    assert read_spans(name, [(0, 3), (8, 50), (100, 3)]) == [b"one"]
    assert read_spans(os.fsencode(tmp_path / "gone"), [(0, 3)]) == []
    monkeypatch.setattr(sessions, "MAX_RECORD", 4)
    assert read_spans(name, [(0, 3), (8, 5)]) == [b"one"]
    assert records.MAX_RECORD == 32 * 1024 * 1024


def test_what_cannot_be_listed_is_not_taken_for_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    touch(tmp_path / "a" / "1.jsonl")
    touch(tmp_path / "b" / "2.jsonl")
    scan, look = os.scandir, os.lstat

    def scanned(path: bytes) -> Any:
        if path.endswith(b"/b"):
            raise OSError(errno.EIO, "Input/output error", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", scanned)
    listing = discover(tmp_path)
    assert [os.path.basename(file.path) for file in listing.files] == [b"1.jsonl"]
    assert listing.unlisted == (os.fsencode(tmp_path / "b"),)

    def dead(path: Any, **options: Any) -> Any:
        if path == os.fsencode(tmp_path):
            raise OSError(errno.ENOTCONN, "Transport endpoint is not connected", path)
        return look(path, **options)

    monkeypatch.setattr(os, "lstat", dead)
    monkeypatch.setattr(os, "scandir", dead)
    assert discover(tmp_path).unlisted == (os.fsencode(tmp_path),)
