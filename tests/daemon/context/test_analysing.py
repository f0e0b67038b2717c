"""An index is of one version of all that an analysis goes by."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

from fabricd.core.context.guard.guarding import GUARD
from fabricd.daemon.context.analysing import analyser
from fabricd.store.context.perils import Perils


def test_the_version_names_guard_and_packages(tmp_path: Path) -> None:
    perils = Perils(tmp_path)
    made = analyser(perils)
    perils.close()
    parts = made.version.split(", ")
    assert GUARD in parts
    for package in ("tree-sitter", "tree-sitter-python"):
        assert f"{package} {version(package)}" in parts


def test_subjects_of_commits_pass_the_guard(tmp_path: Path) -> None:
    perils = Perils(tmp_path)
    clean = analyser(perils).clean
    perils.close()
    assert "AKIA" not in clean("Rotate " + "AKIA" + "Z7QHUDW3RNTLX5PB")
