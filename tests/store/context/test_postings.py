"""Rows of terms are what units hold, however they came in and whatever they are merged with."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from fabricd.store.context.postings import (
    Counts,
    Entries,
    Gathering,
    Segments,
    Terms,
    entries_of,
    merge,
)

_Units = list[dict[str, Counts]]
_COUNT = st.integers(0, 3) | st.integers(0, 255)
_UNIT = st.dictionaries(
    st.sampled_from(["a", "b", "größe", "d", "e"]),
    st.tuples(_COUNT, _COUNT, _COUNT, _COUNT),
    max_size=4,
)
_FILES = st.lists(st.lists(_UNIT, max_size=4), min_size=1, max_size=4)


def _opened() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.execute(
        "CREATE TABLE postings (segment INTEGER, term TEXT, data BLOB,"
        " PRIMARY KEY (segment, term)) WITHOUT ROWID"
    )
    return connection


def _shown(connection: sqlite3.Connection, segment: int) -> dict[str, list[tuple[int, Counts]]]:
    """All records by term."""
    query = "SELECT term FROM postings WHERE segment = ? ORDER BY term"
    shown: dict[str, list[tuple[int, Counts]]] = {}
    for (term,) in connection.execute(query, (segment,)).fetchall():
        found = Segments([segment]).term(connection, term)
        a, b, c, d = found.counts.T.tolist()
        shown[term] = list(zip(found.units.tolist(), zip(a, b, c, d, strict=True), strict=True))
    return shown


def _expected(units: Sequence[dict[str, Counts]]) -> dict[str, list[tuple[int, Counts]]]:
    expected: dict[str, list[tuple[int, Counts]]] = {}
    for number, unit in enumerate(units):
        for term, counts in unit.items():
            expected.setdefault(term, []).append((number, counts))
    return expected


def _entered(files: Sequence[_Units], terms: Terms) -> list[Entries]:
    return [entries_of(units, terms) for units in files]


@settings(max_examples=60)
@given(files=_FILES, left_out=_FILES)
def test_a_segment_holds_what_its_units_hold(files: list[_Units], left_out: list[_Units]) -> None:
    terms = Terms()
    # What waited with them and was entered by another refresh has numbered its terms as well.
    _entered(left_out, terms)
    gathering = Gathering(terms, _entered(files, terms))
    units = [unit for one in files for unit in one]
    connection = _opened()

    gathering.write(connection, 3)

    assert _shown(connection, 3) == _expected(units)
    assert gathering.sums().tolist() == [
        [sum(counts[field] for counts in unit.values()) for field in range(4)] for unit in units
    ]


@settings(max_examples=40)
@given(files=_FILES, data=st.data())
def test_what_stays_of_segments_is_one(files: list[_Units], data: st.DataObject) -> None:
    connection = _opened()
    moves: dict[int, list[tuple[int, int, int]]] = {}
    kept: _Units = []
    for segment, units in enumerate(files, 1):
        terms = Terms()
        Gathering(terms, _entered([units], terms)).write(connection, segment)
        stays = data.draw(st.lists(st.booleans(), min_size=len(units), max_size=len(units)))
        moves[segment] = []
        for number, unit in enumerate(units):
            if stays[number]:
                moves[segment].append((number, 1, len(kept)))
                kept.append(unit)

    merge(connection, moves, 9)

    assert _shown(connection, 9) == _expected(kept)
    assert connection.execute("SELECT DISTINCT segment FROM postings").fetchall() in ([], [(9,)])
