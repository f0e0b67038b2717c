from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fabricd.core.pool.file import Entry, Pool, Tracked, Valued, pool_bytes, pool_of
from fabricd.core.pool.ledger import Ledger
from fabricd.core.pool.rows import Gone
from fabricd.core.pool.values import Identity
from fabricd.store import pools
from fabricd.store.durable import Damaged, Loaded, Missing
from fabricd.store.pools import DamagedPool, load, load_ledger, save, save_ledger
from tests.core.pool.worlds import Reader, World

POOL = Pool(
    (Entry("a", "k", 5, (Valued("x", 3), Valued(True, 1), Valued(1, 1))),),
    (Tracked("session:s", "ab" * 32, {"a\0k\0string:x": 3}),),
    ("cd" * 32,),
)
DAMAGE = [b"", b"{", b"{}", b"null", b"\xff", pool_bytes(POOL)[:-3], b"[" * 100_000]


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "entropy" / "observation-pool.json"
    assert load(path) == Missing() and pools.digested(path) == (Missing(), "")
    data, digest = pools.encoded(POOL)
    assert data == pool_bytes(POOL)
    assert save(path, data) == "written"
    assert load(path) == Loaded(POOL, data)
    assert pools.digested(path) == (Loaded(POOL, data), digest)
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_file_is_what_pi_reads(tmp_path: Path) -> None:
    path = tmp_path / "pool.json"
    save(path, pool_bytes(POOL))
    assert path.read_bytes().endswith(b"}\n")
    assert json.loads(path.read_bytes()) == {
        "version": 1,
        "entries": [
            {
                "ref": "a",
                "key": "k",
                "total": 5,
                "values": [
                    {"value": "x", "count": 3},
                    {"value": True, "count": 1},
                    {"value": 1, "count": 1},
                ],
            }
        ],
        "tracked": [{"file": "session:s", "digest": "ab" * 32, "counts": {"a\0k\0string:x": 3}}],
        "baked": ["cd" * 32],
    }


def test_equal_bytes_are_not_written_again(tmp_path: Path) -> None:
    path = tmp_path / "pool.json"
    save(path, pool_bytes(POOL))
    os.utime(path, ns=(1, 1))
    assert save(path, pool_bytes(POOL)) == "already_written"
    assert path.stat().st_mtime_ns == 1
    assert save(path, pool_bytes(Pool())) == "written"


@pytest.mark.parametrize("data", DAMAGE)
def test_a_damaged_file_is_not_overwritten(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "pool.json"
    path.write_bytes(data)
    assert isinstance(load(path), Damaged) and pools.digested(path)[1] == ""
    with pytest.raises(DamagedPool) as raised:
        save(path, pool_bytes(POOL))
    assert path.read_bytes() == data and raised.value.damage.path == path


VALUE = json.loads(pool_bytes(POOL))
BLANK: dict[str, Any] = {"key": "k", "total": 0, "values": []}


def changed(**members: Any) -> Any:
    return {**VALUE, **members}


def entry(**members: Any) -> Any:
    return changed(entries=[{**VALUE["entries"][0], **members}])


def tracked(**members: Any) -> Any:
    return changed(tracked=[{**VALUE["tracked"][0], **members}])


@pytest.mark.parametrize(
    "value",
    [
        changed(version=2),
        changed(version=True),
        changed(entries={}),
        changed(entries=[1]),
        changed(entries=VALUE["entries"] * 2),
        changed(entries=[{"ref": f"r{n}", **BLANK} for n in range(8193)]),
        changed(tracked=VALUE["tracked"] * 2),
        changed(tracked=[{**VALUE["tracked"][0], "file": f"f{n}"} for n in range(65)]),
        changed(baked=["x"] * 2049),
        changed(baked=[" "]),
        changed(baked=[1]),
        entry(ref=" "),
        entry(key="\ufeff"),
        entry(total=-1),
        entry(total=1.5),
        entry(total=2**53),
        entry(values=[{"value": None, "count": 1}]),
        entry(values=[{"value": "x", "count": 0}]),
        entry(values=[{"value": "x", "count": 1}, {"value": "x", "count": 1}]),
        entry(values=[{"value": str(n), "count": 1} for n in range(65)]),
        tracked(digest=""),
        tracked(counts=[]),
        tracked(counts={"a\0k\0string:x": 0}),
    ],
)
def test_the_guard_refuses(value: Any) -> None:
    assert pool_of(value) is None


def test_the_guard_trims_and_drops_what_it_does_not_know() -> None:
    value = changed(entries=[{**VALUE["entries"][0], "ref": " a ", "more": 1}], other=[])
    assert pool_of(value) == POOL
    both = [{**VALUE["entries"][0], "ref": ref} for ref in ("a", "a ")]
    assert pool_of(changed(entries=both)) is None


# --- the books


def books() -> Ledger:
    """Books with a bit of everything, more than fits into one piece."""
    world, reader = World(), Reader()
    parent = world.begin()
    world.grow(parent, [(("r", f"k{n}", f"v{n}"),) for n in range(3000)])
    fork = world.begin(parent)
    world.grow(fork, [(("r", "é", True),)])
    for log in (parent, fork):
        reader.look(log)
    reader.ledger.gone = [Gone("ab" * 32), Gone("cd" * 32, 2**63 - 1, 7, 2**63 - 1)]
    reader.ledger.ceiling = 2**64 - 1
    return reader.ledger


def test_books_are_loaded_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "state" / "ledger"
    assert load_ledger(path) == Missing()
    for ledger in (Ledger(), books()):
        save_ledger(path, ledger, "digest")
        assert load_ledger(path) == Loaded((ledger, "digest"), b"")
        found = load_ledger(path)
        assert isinstance(found, Loaded)
        # Order too: the oldest row goes first.
        assert list(found.value[0].rows) == list(ledger.rows)
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("cut", [0, 1, 20, -1])
def test_damaged_books_are_told(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "ledger"
    save_ledger(path, books(), "digest")
    path.write_bytes(path.read_bytes()[:cut])
    assert isinstance(load_ledger(path), Damaged)


def test_a_row_that_cannot_be_decoded_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    ledger = books()
    name, row = next(iter(ledger.rows.items()))
    ledger.rows[name] = msgspec.structs.replace(row, said=row.said[:-5])
    save_ledger(path, ledger, "digest")
    assert isinstance(load_ledger(path), Damaged)


def test_books_of_another_version_are_rebuilt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ledger"
    save_ledger(path, books(), "digest")
    monkeypatch.setattr(pools, "VERSION", 2)
    assert load_ledger(path) == Missing()
    path.write_bytes(msgspec.msgpack.encode({"version": 1, "rows": "of another kind"}))
    assert load_ledger(path) == Missing()


def test_what_is_read_back_goes_on_as_before(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    world, reader = World(), Reader()
    log = world.begin()
    world.grow(log, [(("r", "k", "x"),)])
    reader.look(log)
    save_ledger(path, reader.ledger, "")
    found = load_ledger(path)
    assert isinstance(found, Loaded)
    later = Reader()
    later.ledger = found.value[0]
    world.grow(log, [(("r", "k", "x"),)])
    later.look(log)
    assert list(later.ledger.counts.values()) == [2]


@pytest.mark.parametrize("text", ["", "1x", "nan", "inf", "1e999"])
def test_a_number_that_is_none_is_damage(tmp_path: Path, text: str) -> None:
    path = tmp_path / "ledger"
    ledger = books()
    ledger.identities[10**6] = Identity("a.b", "n", "number", text)
    save_ledger(path, ledger, "digest")
    assert isinstance(load_ledger(path), Damaged)
