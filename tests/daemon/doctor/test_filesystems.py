from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fabricd.daemon.doctor.filesystems import as_mountinfo, judge, kind_of, mount_table

PLACE = Path("/somewhere/place")
MACOS = b"""/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)
devfs on /dev (devfs, local, nobrowse)
//me@server/share on /Volumes/A share (smbfs, nodev, nosuid)
map auto_home on /System/Volumes/Data/home (autofs, automounted, nobrowse)
gibberish
"""


@pytest.mark.parametrize("kind", ["ext4", "apfs", "btrfs", "xfs"])
def test_a_local_disk_serves_everything(kind: str) -> None:
    for what in ("home", "state", "sessions"):
        assert judge(what, PLACE, kind).state == "ok"


@pytest.mark.parametrize("kind", ["nfs4", "nfs", "fuse.sshfs", "9p", "cifs", "virtiofs"])
def test_what_lies_elsewhere_is_doubtful_and_the_cure_depends_on_what_lies_there(
    kind: str,
) -> None:
    home, state, sessions = (judge(what, PLACE, kind) for what in ("home", "state", "sessions"))
    assert {check.state for check in (home, state, sessions)} == {"warning"}
    assert "lock" in home.found and "lock" in state.found and kind in sessions.found
    assert "FABRICD_HOME" in (home.cure or "") and "FABRICD_STATE_DIR" in (state.cure or "")
    assert "force_polling" in (sessions.cure or "")


def test_what_does_not_last_is_doubtful() -> None:
    assert judge("home", PLACE, "overlay").state == "warning"
    assert judge("state", PLACE, "tmpfs").state == "warning"
    assert judge("sessions", PLACE, "tmpfs").state == "ok"


def test_an_unknown_file_system_cannot_be_judged() -> None:
    assert judge("home", PLACE, "").state == "unknown"


def test_what_mount_prints_elsewhere_is_read_as_mountinfo() -> None:
    mounts = as_mountinfo(MACOS)
    assert kind_of(mounts, Path("/nowhere/at/all")) == "apfs"
    assert kind_of(mounts, Path("/Volumes/A share/x")) == "smbfs"
    assert kind_of(mounts, Path("/System/Volumes/Data/home/me")) == "autofs"


@pytest.mark.skipif(sys.platform != "linux", reason="asks this kernel")
def test_this_system_tells_its_mounts(tmp_path: Path) -> None:
    assert kind_of(mount_table(), tmp_path)
