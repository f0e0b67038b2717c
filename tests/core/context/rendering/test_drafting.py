"""The index's word for the lines of a unit is what the tokenizer says of them."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fabricd.core.context.asking import Tokenizer
from fabricd.core.context.corpus import UnitFacts
from fabricd.core.context.counting import counter
from fabricd.core.context.model import Signal, Unit
from fabricd.core.context.receipt import Certificate
from fabricd.core.context.rendering.drafting import Draft, drafted
from fabricd.core.context.rendering.sources import Source, Wanted
from fabricd.core.context.selecting.offering import FULL, OBJECTIVE, Offer, Selection

_NAMES = ("", "f", "it's", "x!", "日本", "a b", "1234")
# What tokens stretch over where they may: blanks of all sorts, slashes, line ends of others.
_LINES = st.lists(
    st.text(" \t\r\x0b\x1c\x85\u2028/\\#@.a1é日_-{}'", max_size=6), min_size=1, max_size=4
)


def _draft(lines: list[str], name: str, signals: bool, tokenizer: Tokenizer, trust: bool) -> Draft:
    count = counter(tokenizer)
    unit = Unit("function", name, "In.Side", (1, len(lines)))
    tokens = count.plain("".join(f"{line}\n" for line in lines))
    signal = [Signal("rule", 1)] if signals else []
    source = Source("a.py", [UnitFacts(unit, (tokens, 0, 0))], signal)
    selection = Selection((FULL,), 0, Certificate(OBJECTIVE, True, 0, 0, 0, 1))
    wanted, offers = [Wanted(0, 0, 1)], [Offer(0, 0, 1, full=1)]
    return drafted([source], wanted, offers, selection, lambda _: lines, count, 1, trust)


@pytest.mark.parametrize("tokenizer", ["o200k", "cl100k", "claude"])
@given(lines=_LINES, name=st.sampled_from(_NAMES), signals=st.booleans())
@settings(max_examples=300)
@example(lines=["// a"], name="x!", signals=False)
@example(lines=["/a"], name="f", signals=True)
@example(lines=["  \r a"], name="f", signals=False)
@example(lines=["", "a"], name="f", signals=False)
@example(lines=["\t \t", "a"], name="f", signals=False)
def test_header_and_lines_add_up(
    lines: list[str], name: str, signals: bool, tokenizer: Tokenizer
) -> None:
    taken = _draft(lines, name, signals, tokenizer, trust=True)
    assert taken == _draft(lines, name, signals, tokenizer, trust=False)
    assert taken.plain == counter(tokenizer).plain(taken.body)
