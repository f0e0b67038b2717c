"""What is kept in memory of contents: within its limit, and each unit as it was written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from random import Random

import pytest
import zstandard

from fabricd.core.context.analysing import analyse
from fabricd.core.context.corpus import Units, units_of
from fabricd.core.context.model import Analysed, Guarded
from fabricd.store.context.contents import Cache, packed
from fabricd.store.context.failures import IndexDamaged

_FILES = 40
_LIMIT = 20_000


def _analysed(number: int) -> Analysed:
    text = "".join(
        f"def f{n}(a):\n    return other{number}(a)\n\n\n" for n in range(number % 9 * 3)
    )
    return analyse(Guarded(text), "python", len)


@pytest.fixture
def index() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE analysed (blob INTEGER PRIMARY KEY, data BLOB NOT NULL)")
    for number in range(_FILES):
        data = zstandard.compress(packed(_analysed(number)))
        connection.execute("INSERT INTO analysed VALUES (?, ?)", (number, data))
    yield connection
    connection.close()


def _no_damage(said: str) -> None:
    pytest.fail(said)


def test_it_gives_what_was_put_in(index: sqlite3.Connection) -> None:
    cache = Cache(_no_damage)
    for number in range(_FILES):
        found, expected = cache.read(index, number), _analysed(number)
        assert list(found.units) == units_of(expected)
        assert (found.lines, found.spans) == (expected.parsed.lines, expected.spans)


def test_its_size_is_that_of_what_it_keeps(index: sqlite3.Connection) -> None:
    rng = Random(1)
    cache = Cache(_no_damage, _LIMIT)
    held: list[tuple[int, Units]] = []
    for _ in range(4000):
        blob = rng.randrange(_FILES)
        match rng.randrange(20):
            case 0:
                cache.clear()
                assert cache._bytes == 0
            case 1 | 2:
                cache.prepare(index, rng.sample(range(_FILES), 5))
            case 3 | 4 | 5 | 6 | 7:
                held = [*held[-20:], (blob, cache.read(index, blob).units)]
            case _ if held:
                # Of what was let go meanwhile, too.
                blob, units = rng.choice(held)
                expected = units_of(_analysed(blob))
                if expected:
                    at = rng.randrange(len(expected))
                    assert units[at] == expected[at]
            case _:
                pass
        assert cache._bytes == sum(entry.size for entry in cache._kept.values())
        assert cache._bytes <= _LIMIT or len(cache._kept) == 1


def test_what_is_larger_than_the_limit_is_kept_alone(index: sqlite3.Connection) -> None:
    cache = Cache(_no_damage, 1)
    for blob in (7, 8):
        assert list(cache.read(index, blob).units)
        assert list(cache._kept) == [blob]


def test_a_content_that_is_kept_twice_counts_once(index: sqlite3.Connection) -> None:
    cache = Cache(_no_damage)
    (data,) = index.execute("SELECT data FROM analysed WHERE blob = 8").fetchone()
    for _ in range(3):
        cache._keep(8, data)
    assert cache._bytes == cache._kept[8].size


@pytest.mark.parametrize("data", [b"", b"\0", "text", None, zstandard.compress(b"\xff")])
def test_what_is_no_content_is_damage(index: sqlite3.Connection, data: object) -> None:
    with pytest.raises(IndexDamaged):
        Cache(_no_damage)._keep(0, data)
