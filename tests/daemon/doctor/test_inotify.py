from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fabricd.daemon.doctor import inotify
from fabricd.daemon.doctor.inotify import Usage, folders_below, judge, limit, used


@pytest.mark.parametrize(
    ("usage", "state"),
    [
        (Usage(8192, 100, 0), "ok"),
        (Usage(8192, 100, 8092), "ok"),
        (Usage(8192, 100, 8093), "warning"),
        (Usage(1000, 899, 0), "ok"),
        (Usage(1000, 900, 0), "warning"),
        (Usage(128, 128, 2), "warning"),
    ],
)
def test_what_is_left_has_to_do_for_what_is_needed(usage: Usage, state: str) -> None:
    assert judge("watches", usage).state == state


def test_the_cure_raises_the_limit() -> None:
    assert judge("watches", Usage(8192, 8192, 1)).cure == (
        "sudo sysctl fs.inotify.max_user_watches=524288"
    )
    assert judge("instances", Usage(128, 127, 2)).cure == (
        "sudo sysctl fs.inotify.max_user_instances=1024"
    )
    assert judge("watches", Usage(10**6, 10**6, 1)).cure == (
        "sudo sysctl fs.inotify.max_user_watches=2000000"
    )


def test_folders_are_counted_as_a_recursive_watch_enters_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a/x", "b", "c"):
        (tmp_path / name).mkdir(parents=True)
    assert folders_below(tmp_path) == 5
    assert folders_below(tmp_path / "missing") == 0
    monkeypatch.setattr(inotify, "_MOST_FOLDERS", 3)
    assert folders_below(tmp_path) == 3


@pytest.mark.skipif(sys.platform != "linux", reason="asks this kernel")
def test_this_process_sees_its_own_watches(tmp_path: Path) -> None:
    from watchfiles._rust_notify import RustNotify

    before = used()
    with RustNotify([str(tmp_path)], False, False, 0, True, False):
        instances, watches = used()
        assert instances >= before[0] + 1 and watches >= before[1] + 1
    assert limit("watches") > 0 and limit("instances") > 0
