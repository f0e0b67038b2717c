from __future__ import annotations

import contextlib
import os
import stat
from hashlib import sha256
from pathlib import Path

import pytest

from fabricd.store.context.perils import Perils

ONE, OTHER = sha256(b"one").digest(), sha256(b"other").digest()


def died_over(folder: Path, digest: bytes) -> None:
    """A process that dies while it parses a text."""
    child = os.fork()
    if not child:
        with Perils(folder).holding(digest):
            os._exit(9)
    os.waitpid(child, 0)


def is_dreaded(folder: Path) -> bool:
    """Whether the next process fears a text."""
    with contextlib.closing(Perils(folder)) as perils:
        return perils.is_dreaded(ONE)


def test_a_text_is_dreaded_once_three_processes_died_over_it(tmp_path: Path) -> None:
    for expected in (False, False, True, True):
        died_over(tmp_path, ONE)
        perils = Perils(tmp_path)
        assert perils.is_dreaded(ONE) is expected
        assert not perils.is_dreaded(OTHER)
        perils.close()


def test_what_is_raised_while_parsing_is_no_death(tmp_path: Path) -> None:
    for _ in range(3):
        perils = Perils(tmp_path)
        with pytest.raises(KeyError), perils.holding(ONE):
            raise KeyError
        perils.close()
    assert not is_dreaded(tmp_path)


def test_fear_is_forgotten_on_request(tmp_path: Path) -> None:
    for _ in range(3):
        died_over(tmp_path, ONE)
    perils = Perils(tmp_path)
    assert perils.is_dreaded(ONE)
    perils.forget()
    perils.close()
    assert not is_dreaded(tmp_path)


def test_files_are_private_and_damage_is_no_authority(tmp_path: Path) -> None:
    died_over(tmp_path, ONE)
    Perils(tmp_path).close()
    for name in ("in-hand", "perils.json"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    (tmp_path / "perils.json").write_bytes(b"\xff{")
    (tmp_path / "in-hand").write_bytes(b"short")
    assert not is_dreaded(tmp_path)
