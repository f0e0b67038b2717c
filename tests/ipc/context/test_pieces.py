from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.ipc.context import pieces
from fabricd.ipc.context.pieces import Pieces


@given(st.binary(max_size=60).map(lambda data: data.replace(b"y", b"\n")), st.data())
def test_lines_are_the_same_whatever_the_cuts(data: bytes, draw: st.DataObject) -> None:
    cuts = draw.draw(st.lists(st.integers(0, len(data)), max_size=6).map(sorted))
    reader = Pieces()
    found: list[bytes | None] = []
    for start, end in pairwise([0, *cuts, len(data)]):
        found += reader.take(data[start:end])
    found += reader.last()
    assert found == (data.split(b"\n")[:-1] if data.endswith(b"\n") or not data else
                     data.split(b"\n"))  # fmt: skip
    assert reader.last() == []


def test_of_what_is_too_long_nothing_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "LONGEST", 10)
    reader = Pieces()
    assert reader.take(b"0123456789\n0123456") == [b"0123456789"]
    assert reader.take(b"789x") == []
    assert len(reader._held) == 0
    assert reader.take(b"more\nx\n0123456789x") == [None, b"x"]
    assert reader.last() == [None]
