from __future__ import annotations

import os
from pathlib import Path

import pytest

from fabricd.daemon.doctor.places import (
    Folder,
    Owned,
    Room,
    folder,
    judge_files,
    judge_folder,
    judge_room,
    owned,
)

HOME = Path("/home/me/fabric home")
MIB = 1 << 20


@pytest.mark.parametrize(
    ("found", "state", "cure"),
    [
        (Folder(HOME, True, 1000, 0o700, True), "ok", None),
        (Folder(HOME, True, 1000, 0o755, True), "ok", None),
        (Folder(HOME, is_usable=True), "ok", None),
        (Folder(HOME, is_usable=False), "wrong", "mkdir -p '/home/me/fabric home'"),
        (Folder(HOME, False, 1000, 0o600, True), "wrong", "mv '/home/me/fabric home' "),
        (Folder(HOME, True, 0, 0o700, True), "wrong", "sudo chown -R 1000 "),
        (Folder(HOME, True, 1000, 0o500, False), "wrong", "chmod u+rwx '/home/me/fabric home'"),
        (Folder(HOME, True, 1000, 0o777, True), "warning", "chmod go-w '/home/me/fabric home'"),
    ],
)
def test_a_folder_has_to_be_ours_and_usable(found: Folder, state: str, cure: str | None) -> None:
    check = judge_folder("home", found, 1000)
    assert (check.id, check.state) == ("home", state) and str(HOME) in check.found
    assert check.cure is None if cure is None else (check.cure or "").startswith(cure)


def test_a_folder_is_looked_at_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir(mode=0o750)
    (tmp_path / "f").write_text("")
    assert folder(tmp_path / "d") == Folder(tmp_path / "d", True, os.getuid(), 0o750, True)
    assert not folder(tmp_path / "f").is_directory
    missing = folder(tmp_path / "a" / "b")
    assert missing.mode is None and missing.is_usable


def test_files_that_others_may_read_are_named_with_one_command_for_all(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a", "b", "c", "missing")]
    for path, mode in zip(paths, (0o600, 0o644, 0o660), strict=False):
        path.write_text("")
        path.chmod(mode)
    seen = owned(paths)
    assert [file.mode for file in seen] == [0o600, 0o644, 0o660]
    check = judge_files(seen, os.getuid())
    assert check.state == "warning"
    assert check.cure == f"chmod 600 {paths[1]} {paths[2]}"
    assert judge_files(seen[:1], os.getuid()).state == "ok"
    assert judge_files([], os.getuid()).state == "ok"


def test_a_file_of_somebody_else_is_wrong_before_any_mode() -> None:
    check = judge_files([Owned(Path("/a"), 0, 0o666), Owned(Path("/b"), 1000, 0o666)], 1000)
    assert (check.state, check.cure) == ("wrong", "sudo chown 1000 /a")


@pytest.mark.parametrize(
    ("free", "nodes", "state"),
    [
        (200 * MIB, 10**6, "ok"),
        (100 * MIB, None, "ok"),
        (100 * MIB - 1, 10**6, "warning"),
        (10 * MIB, 10**6, "warning"),
        (10 * MIB - 1, 10**6, "wrong"),
        (0, None, "wrong"),
        (200 * MIB, 999, "wrong"),
        (200 * MIB, 0, "wrong"),
    ],
)
def test_room_is_judged_by_bytes_and_by_files(free: int, nodes: int | None, state: str) -> None:
    check = judge_room("space-home", HOME, Room(free, nodes))
    assert check.state == state
    assert (check.cure is None) == (state == "ok")
