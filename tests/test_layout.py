"""The link farm in src/fabricd is whole, and no folder leaks as a top-level import."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ["core", "daemon", "store", "ipc", "systemd", "surfaces"]


@pytest.mark.skipif(not (ROOT / "core").is_dir(), reason="not a checkout (sdist)")
@pytest.mark.parametrize("name", FOLDERS)
def test_link_points_at_the_root_folder(name: str) -> None:
    link = ROOT / "src" / "fabricd" / name

    assert link.is_symlink()
    assert (ROOT / name) == link.resolve()


def test_no_second_copy_of_a_module() -> None:
    import fabricd.daemon.cli

    assert fabricd.daemon.cli.__name__ in sys.modules
    assert not {"core", "store", "ipc"} & set(sys.modules)
