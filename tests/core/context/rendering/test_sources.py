"""What a header costs, word by word, is what the tokenizer says of the whole line."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricd.core.context.asking import Tokenizer
from fabricd.core.context.corpus import UnitFacts
from fabricd.core.context.counting import counter
from fabricd.core.context.model import Kind, Unit
from fabricd.core.context.rendering.pieces import renumbered
from fabricd.core.context.rendering.sources import Source, Wanted, offers_of, piece_of
from fabricd.core.context.rendering.writing import text_of

_KINDS: tuple[Kind, ...] = ("function", "impl", "section", "block")
_NAMES = st.one_of(
    st.text(max_size=12),
    st.from_regex(r"[A-Za-z_$][A-Za-z0-9_$.?!=<>\[\]'-]{0,20}", fullmatch=True),
    st.sampled_from(("", "in", "skeleton", "it's", "a b", "#1", "1234", "日本語", "x\n", "'s")),
)
_NUMBERS = st.tuples(st.integers(1, 2_000_000), st.integers(0, 5000)).map(
    lambda both: (both[0], sum(both))
)


@st.composite
def _sources(draw: st.DrawFn) -> Source:
    kind = draw(st.sampled_from(_KINDS))
    part = draw(st.sampled_from(((0, 0), (1, 2), (12, 1345))))
    lines = draw(_NUMBERS)
    unit = Unit(
        kind, draw(_NAMES), draw(_NAMES), lines, skeleton=((lines[0], lines[0]),), part=part
    )
    path = "/".join(draw(st.lists(_NAMES.filter(bool), min_size=1, max_size=3)))
    return Source(path, [UnitFacts(unit, (1000, 500, 0))])


@pytest.mark.parametrize("tokenizer", ["o200k", "cl100k"])
@given(source=_sources())
@settings(max_examples=150)
def test_words_add_up_to_headers(tokenizer: Tokenizer, source: Source) -> None:
    counting = counter(tokenizer)
    [offer] = offers_of([source], [Wanted(0, 0, 1)], counting)
    whole = [
        counting.plain(text_of(renumbered(piece_of(source, 0, shown), 1)))
        for shown in ("reference", "skeleton", "full")
    ]
    assert [offer.reference, offer.skeleton - 500, offer.full - 1000] == whole
