"""Private files of an older or newer fabricd: no damage, they are rebuilt without a word."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.pool.ledger import Ledger
from fabricd.store import checkpoints, pools
from fabricd.store.durable import Damaged, Loaded, Missing

Reading = Callable[[Path], Any]
READINGS: list[tuple[Reading, int]] = [
    (checkpoints.load, checkpoints.VERSION),
    (pools.load_ledger, pools.VERSION),
]
each = pytest.mark.parametrize(("load", "version"), READINGS)

plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(max_size=8) | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


def written(folder: Path, value: object) -> Path:
    path = folder / "file.msgpack"
    path.write_bytes(msgspec.msgpack.encode(value))
    return path


@each
@given(members=st.dictionaries(st.text(max_size=10), plain), other=st.integers(-5, 10**6))
def test_whatever_another_version_wrote_counts_as_missing(
    tmp_path_factory: pytest.TempPathFactory,
    load: Reading,
    version: int,
    members: dict[str, Any],
    other: int,
) -> None:
    folder = tmp_path_factory.getbasetemp()
    value = {**members, "version": other if other != version else other + 1}
    assert load(written(folder, value)) == Missing()


@each
@pytest.mark.parametrize("sessions", [{}, [{"path": "text"}], None])
def test_the_members_of_today_in_another_shape_count_as_missing_too(
    tmp_path: Path, load: Reading, version: int, sessions: object
) -> None:
    value = {"version": version + 1, "adapter": 5, "sessions": sessions, "ledger": sessions}
    assert load(written(tmp_path, value)) == Missing()


@each
def test_the_same_in_this_version_is_damage(tmp_path: Path, load: Reading, version: int) -> None:
    value = {"version": version, "adapter": 5, "sessions": {}, "ledger": []}
    assert isinstance(load(written(tmp_path, value)), Damaged)


@each
@pytest.mark.parametrize("value", [[2, "x"], "2", None, {"version": "2"}, {"version": None}, {}])
def test_a_file_that_names_no_version_is_damage(
    tmp_path: Path, load: Reading, version: int, value: object
) -> None:
    assert isinstance(load(written(tmp_path, value)), Damaged)


@each
def test_a_torn_file_of_another_version_is_damage_only_where_its_version_is_lost(
    tmp_path: Path, load: Reading, version: int
) -> None:
    path = written(tmp_path, {"version": version + 1, "members": ["x" * 100]})
    path.write_bytes(path.read_bytes()[:-50])
    assert isinstance(load(path), Damaged)


def test_members_that_a_newer_release_adds_to_this_version_are_passed_over(tmp_path: Path) -> None:
    adapter = checkpoints.ADAPTER
    rows: list[object] = []
    value = {"version": 1, "adapter": adapter, "sessions": rows, "later": [1, {"x": b"y"}]}
    assert checkpoints.load(written(tmp_path, value)) == Loaded({}, b"")
    path = tmp_path / "ledger"
    pools.save_ledger(path, Ledger(), "d")
    value = {**msgspec.msgpack.decode(path.read_bytes()), "later": True}
    assert pools.load_ledger(written(tmp_path, value)) == Loaded((Ledger(), "d"), b"")
