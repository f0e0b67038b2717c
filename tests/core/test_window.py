from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.window import SessionFile, departure_of, project_folder, select

files = st.lists(
    st.builds(
        SessionFile,
        path=st.binary(min_size=1, max_size=2),
        project=st.sampled_from([b"a", b"b", b"\xff", b""]),
        size=st.just(0),
        mtime_ns=st.integers(0, 3),
    ),
    max_size=14,
    unique_by=lambda file: file.path,
)


def rank(file: SessionFile) -> tuple[int, bytes]:
    return (-file.mtime_ns, file.path)


@given(files, st.integers(-1, 10), st.sampled_from([None, b"a", b"b", b"c"]))
def test_the_window_is_the_newest_files_newest_first(
    found: list[SessionFile], limit: int, project: bytes | None
) -> None:
    chosen = select(found, limit, project)
    assert len(chosen) == min(len(found), max(1, limit))
    assert chosen == sorted(chosen, key=rank)
    newest = sorted(found, key=rank)[: len(chosen)]
    own = min((file for file in found if file.project == project), key=rank, default=None)
    if own is None or own in newest:
        assert chosen == newest
    else:
        assert set(chosen) == {*newest[:-1], own}


@given(files, st.randoms(use_true_random=False))
def test_the_order_of_discovery_changes_nothing(found: list[SessionFile], rng: Any) -> None:
    other = found[:]
    rng.shuffle(other)
    assert select(other, 4, b"a") == select(found, 4, b"a")


def test_the_window_is_eight_files_unless_told() -> None:
    found = [SessionFile(b"%d" % n, b"", 0, n) for n in range(20)]
    assert [file.mtime_ns for file in select(found)] == [19, 18, 17, 16, 15, 14, 13, 12]


@pytest.mark.parametrize(
    ("cwd", "folder"),
    [
        ("/repo/x", "--repo-x--"),
        ("/", "----"),
        ("//a", "---a--"),
        ("/a b/ü.x/-", "--a b-ü.x----"),
        ("C:\\repo\\x", "--C--repo-x--"),
        ("\\\\host\\share", "---host-share--"),
        ("/a:b\\c", "--a-b-c--"),
    ],
)
def test_a_project_has_the_folder_that_pi_gives_it(cwd: str, folder: str) -> None:
    assert project_folder(cwd) == folder


def log(path: bytes, inode: int = 0) -> SessionFile:
    return SessionFile(path, b"p", 1, 1, 1, inode)


@pytest.mark.parametrize(
    ("listed", "others", "how"),
    [
        ([log(b"a", 7)], set[bytes](), "outranked"),
        ([log(b"b", 7)], set[bytes](), "renamed"),
        ([log(b"b", 7)], {b"a.zst"}, "renamed"),
        ([log(b"b", 8)], {b"a.zst"}, "compressed"),
        ([log(b"b", 8)], {b"b.zst"}, "gone"),
        ([log(b"b", 0)], set[bytes](), "gone"),
        ([], set[bytes](), "gone"),
    ],
)
def test_how_a_session_left(listed: list[SessionFile], others: set[bytes], how: str) -> None:
    assert departure_of(log(b"a", 7), listed, others) == how


def test_an_inode_that_is_not_told_proves_no_other_name() -> None:
    assert departure_of(log(b"a"), [log(b"b")], set()) == "gone"
