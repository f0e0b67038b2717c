"""Where events are trusted, what a broken watch means, and how often is looked instead."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.watching import (
    FIRST_PAUSE,
    LAST_PAUSE,
    POLL_SECONDS,
    QUIET_AFTER,
    QUIET_POLL,
    QUIET_RESCAN,
    Events,
    Polling,
    cause_of,
    how_to_watch,
    is_elsewhere,
    next_pause,
    seconds_to_look,
    type_at,
)

MOUNTS = b"""\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
30 27 0:40 / /home rw shared:1 - nfs4 server:/home rw,vers=4.2
31 30 0:41 / /home/me/with\\040blank rw - tmpfs tmpfs rw
32 27 0:42 / /mnt/c rw master:1 propagate_from:2 - 9p C:\\134 rw
33 27 0:43 / /mnt/over rw - ext4 /dev/vdb rw
34 27 0:44 / /mnt/over rw - fuse.sshfs me@there: rw
torn line
35 27 0:45 / /mnt/torn
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (b"/", b"ext4"),
        (b"/home2/x", b"ext4"),
        (b"/home", b"nfs4"),
        (b"/home/me/.pi/agent/sessions", b"nfs4"),
        (b"/home/me/with blank/x", b"tmpfs"),
        (b"/home/me/with blanks", b"nfs4"),
        (b"/mnt/c/Users", b"9p"),
        (b"/mnt/over/x", b"fuse.sshfs"),
        (b"/mnt/torn/x", b"ext4"),
    ],
)
def test_the_deepest_and_latest_mount_tells_the_type(path: bytes, kind: bytes) -> None:
    assert type_at(MOUNTS, path) == kind


@given(st.binary(max_size=200), st.binary(max_size=20))
def test_no_mount_table_is_too_odd(mounts: bytes, path: bytes) -> None:
    assert isinstance(type_at(mounts, path), bytes)
    assert type_at(b"", path) == b""


@pytest.mark.parametrize("kind", [b"nfs", b"nfs4", b"9p", b"cifs", b"fuse.sshfs", b"virtiofs"])
@pytest.mark.parametrize("tested", [True, False, None])
def test_what_lies_elsewhere_is_polled_whatever_a_test_here_said(
    kind: bytes, tested: bool | None
) -> None:
    assert is_elsewhere(kind)
    match how_to_watch(False, kind, tested):
        case Polling(why=why, cure=cure):
            assert kind.decode() in why and "watch.force_polling" in cure
        case Events():
            raise AssertionError


@pytest.mark.parametrize(
    ("kind", "tested", "trusted"),
    [
        (b"ext4", True, True),
        (b"btrfs", None, True),
        (b"", True, True),
        (b"novel", True, True),
        (b"novel", None, False),
        (b"", None, False),
        (b"ext4", False, False),
        (b"fuseblk", True, True),
    ],
)
def test_elsewise_the_test_decides_and_the_type_where_there_was_none(
    kind: bytes, tested: bool | None, trusted: bool
) -> None:
    assert isinstance(how_to_watch(False, kind, tested), Events) is trusted


def test_polling_that_is_wanted_is_no_ailment() -> None:
    assert how_to_watch(True, b"ext4", True) == Polling("watch.force_polling is set")


@pytest.mark.parametrize(
    ("message", "cure"),
    [
        ('OS file watch limit reached. about ["/x"] (Error { kind: MaxFilesWatch })', "watches="),
        ("Error creating recommended watcher: Too many open files (os error 24)", "instances="),
        ('Unable to decode path "/x/\\xFF.jsonl" to string', "UTF-8"),
        ("something nobody foresaw", "tried again"),
        ("", "tried again"),
    ],
)
def test_every_cause_has_a_cure(message: str, cure: str) -> None:
    found = cause_of(message)
    assert cure in found.cure and found.cure.endswith("looked for every few seconds")


def test_a_long_message_is_cut() -> None:
    assert len(cause_of("x" * 10_000).why) == 200


def test_pauses_grow_up_to_a_minute() -> None:
    pause, found = FIRST_PAUSE, [FIRST_PAUSE]
    for _ in range(9):
        pause = next_pause(pause)
        found.append(pause)
    assert found[:4] == [1.0, 2.0, 4.0, 8.0] and found[-1] == LAST_PAUSE


@pytest.mark.parametrize(
    ("rescan", "polling", "quiet", "seconds"),
    [
        (10, False, 0, 10),
        (10, False, QUIET_AFTER + 1, QUIET_RESCAN),
        (60, False, QUIET_AFTER + 1, 60),
        (10, True, 0, POLL_SECONDS),
        (1, True, 0, 1),
        (3600, True, 0, POLL_SECONDS),
        (3600, True, QUIET_AFTER + 1, QUIET_POLL),
        (1, True, QUIET_AFTER + 1, 1),
    ],
)
def test_how_often_is_looked(rescan: float, polling: bool, quiet: float, seconds: float) -> None:
    assert seconds_to_look(rescan, polling, quiet) == seconds
