from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from fabricd.store.configurations import (
    MAX_BYTES,
    ChangedMeanwhile,
    Found,
    NotWritable,
    backup_path,
    read,
    remove,
    require_writable,
    write,
)
from fabricd.store.durable import Damaged


def found(path: Path) -> Found:
    result = read(path)
    assert isinstance(result, Found)
    return result


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "settings.json"
    path.write_bytes(b"old")
    path.chmod(0o640)
    return path


def test_bytes_are_replaced_and_the_mode_stays(file: Path) -> None:
    write(found(file), b"new")
    assert (file.read_bytes(), mode(file)) == (b"new", 0o640)
    assert os.listdir(file.parent) == [file.name]


def test_a_link_stays_a_link_and_what_it_leads_to_is_written(file: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    link = tmp_path / "other" / "link.json"
    link.symlink_to(Path("..") / file.name)
    write(found(link), b"new")
    assert link.is_symlink() and not file.is_symlink()
    assert (file.read_bytes(), mode(file)) == (b"new", 0o640)
    assert os.listdir(link.parent) == [link.name]


def test_a_link_to_nothing_makes_and_removes_what_it_names(tmp_path: Path) -> None:
    link, target = tmp_path / "link", tmp_path / "target"
    link.symlink_to(target)
    write(found(link), b"new")
    assert link.is_symlink() and target.read_bytes() == b"new"
    remove(found(link))
    assert link.is_symlink() and not target.exists()


def test_what_was_changed_after_it_was_read_is_left_alone(file: Path) -> None:
    before = found(file)
    file.write_bytes(b"theirs")
    for attempt in (lambda: write(before, b"ours"), lambda: remove(before)):
        with pytest.raises(ChangedMeanwhile, match="changed by somebody else"):
            attempt()
    assert file.read_bytes() == b"theirs"
    assert os.listdir(file.parent) == [file.name]


def test_what_came_or_went_after_it_was_read_is_left_alone(tmp_path: Path, file: Path) -> None:
    new = tmp_path / "new.json"
    before, gone = found(new), found(file)
    new.write_bytes(b"theirs")
    file.unlink()
    with pytest.raises(ChangedMeanwhile):
        write(before, b"ours")
    with pytest.raises(ChangedMeanwhile):
        remove(gone)
    with pytest.raises(OSError):
        write(gone, b"ours")
    assert new.read_bytes() == b"theirs" and not file.exists()


def test_a_link_that_was_turned_elsewhere_is_left_alone(tmp_path: Path, file: Path) -> None:
    other, link = tmp_path / "other.json", tmp_path / "link.json"
    other.write_bytes(file.read_bytes())
    link.symlink_to(file)
    before = found(link)
    link.unlink()
    link.symlink_to(other)
    with pytest.raises(ChangedMeanwhile):
        write(before, b"ours")
    assert file.read_bytes() == other.read_bytes() == b"old"


def test_a_new_file_is_private_unless_it_is_shared(tmp_path: Path) -> None:
    private, shared = tmp_path / "a" / "b" / "mine.json", tmp_path / "c" / "d" / "ours.json"
    write(found(private), b"x")
    write(found(shared), b"x", shared=True)
    assert (mode(private), mode(private.parent)) == (0o600, 0o700)
    assert mode(shared) == 0o644
    assert mode(shared.parent) & 0o500 == 0o500


def test_a_read_only_file_is_not_for_us_whoever_we_are(file: Path) -> None:
    require_writable(found(file))
    file.chmod(0o444)
    with pytest.raises(NotWritable, match="read-only"):
        require_writable(found(file))
    require_writable(found(file.parent / "missing"))


def test_a_file_of_somebody_else_is_not_for_us(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    uid = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: uid + 1)
    with pytest.raises(NotWritable, match=f"belongs to uid {uid}"):
        require_writable(found(file))


def test_what_is_no_file_is_damaged(tmp_path: Path, file: Path) -> None:
    fifo, loop = tmp_path / "fifo", tmp_path / "loop"
    os.mkfifo(fifo)
    loop.symlink_to(loop)
    for path in (tmp_path, fifo, loop, file / "below"):
        assert isinstance(read(path), Damaged)
    large = tmp_path / "large"
    large.write_bytes(b" " * (MAX_BYTES + 1))
    assert isinstance(read(large), Damaged)


def test_a_backup_lies_beside_its_file(file: Path) -> None:
    assert backup_path(file) == file.parent / "settings.json.fabricd-backup"
