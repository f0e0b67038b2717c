"""Answers keep their budget, are whole, and can be read back."""

from __future__ import annotations

from hashlib import sha256
from random import Random

import pytest

from fabricd.core.context.asking import Refused, Tokenizer
from fabricd.core.context.corpus import UnitFacts
from fabricd.core.context.counting import counter
from fabricd.core.context.model import Unit
from fabricd.core.context.rendering.composing import Asked, Composed, compose
from fabricd.core.context.rendering.pieces import Piece
from fabricd.core.context.rendering.reading import parse_answer
from fabricd.core.context.rendering.sources import Source, Wanted
from tests.core.context.rendering.files import Files, files, receipt_of

_O200K = counter("o200k")
_TOKENIZERS: tuple[Tokenizer, ...] = ("o200k", "cl100k", "claude")
_UNITS = 12_345


def _composed(made: Files, budget: int, tokenizer: Tokenizer = "o200k") -> Composed:
    asked = Asked(budget, tokenizer, counter(tokenizer), _UNITS)
    return compose(asked, made.sources, made.wanted, made.lines_of, receipt_of)


def _budget(rng: Random) -> int:
    return rng.choice([rng.randint(100, 400), rng.randint(400, 3000), rng.randint(3000, 20_000)])


@pytest.mark.parametrize("first", range(0, 150, 50))
def test_an_answer_keeps_its_budget_and_is_read_back(first: int) -> None:
    for seed in range(first, first + 50):
        rng = Random(seed)
        made = files(seed, _O200K)
        budget, tokenizer = _budget(rng), rng.choice(_TOKENIZERS)
        try:
            answer = _composed(made, budget, tokenizer)
        except Refused as refused:
            assert refused.reason == "budget-too-small"
            assert refused.smallest is not None
            assert refused.smallest > budget
            answer = _composed(made, refused.smallest, tokenizer)
            budget = refused.smallest
        _is_within(answer, budget, tokenizer)
        _is_whole(answer, made)


def _is_within(answer: Composed, budget: int, tokenizer: Tokenizer) -> None:
    count = counter(tokenizer)
    assert count(answer.text) <= answer.used <= budget
    assert answer.used - count(answer.text) <= 6
    trailer = parse_answer(answer.text).trailer
    assert trailer.used == answer.used
    assert trailer.budget == budget
    assert trailer.tokenizer == tokenizer
    assert trailer.receipt == answer.receipt == receipt_of(answer.draft)(answer.used)
    body, last = answer.text.rsplit("\n", 1)
    assert sha256(f"{body}\n".encode()).hexdigest() == answer.draft.digest
    assert count(last) <= (budget // 20 if budget >= 1000 else 40 if tokenizer != "claude" else 46)


def _is_whole(answer: Composed, made: Files) -> None:
    read = parse_answer(answer.text)
    items = [chosen.piece for chosen in answer.draft.items]
    assert [piece for piece in read.pieces if piece.n] == items
    assert [piece.n for piece in items] == list(range(1, len(items) + 1))
    assert read.trailer.counts.omitted == _UNITS - len(items)
    at = {source.path: file for file, source in enumerate(made.sources)}
    shown = [piece for piece in read.pieces if piece.shown != "reference"]
    assert [(at[piece.path], piece.start) for piece in shown] == sorted(
        (at[piece.path], piece.start) for piece in shown
    )
    for piece in shown:
        lines = made.lines[at[piece.path]]
        if piece.shown != "skeleton":
            assert list(piece.lines) == lines[piece.start - 1 : piece.end]
        units = _units(made.sources[at[piece.path]])
        lines_shown = (piece.start, piece.end)
        unit = next((unit for unit in units if unit.lines == lines_shown), None)
        if unit is not None and unit.parent >= 0:
            _is_opened(units[unit.parent], piece, shown)
    for chosen in answer.draft.items:
        wanted = made.wanted[chosen.wanted]
        source = made.sources[wanted.file]
        assert (source.path, source.units[wanted.unit].unit.lines) == (
            chosen.piece.path,
            (chosen.piece.start, chosen.piece.end),
        )


def _units(source: Source) -> list[Unit]:
    assert isinstance(source.units, list)
    return [one.unit for one in source.units]


def _is_opened(head: Unit, member: Piece, shown: list[Piece]) -> None:
    """The container's line stands before its member, in an item or on its own."""
    assert any(
        piece.path == member.path
        and piece.start <= head.opening[0] <= piece.end
        and piece.shown in ("full", "opening")
        for piece in shown[: shown.index(member)]
    )


def test_most_answers_say_exactly_how_many_tokens_they_are() -> None:
    over = [
        answer.used - _O200K(answer.text)
        for seed in range(60)
        if (answer := _composed(files(seed, _O200K), 900))
    ]
    assert over.count(0) >= 25
    assert over.count(0) + over.count(1) >= 45


def test_the_same_question_has_the_same_answer() -> None:
    made = files(4, _O200K)
    assert _composed(made, 1000).text == _composed(made, 1000).text


def test_below_a_hundred_tokens_nothing_is_tried() -> None:
    with pytest.raises(Refused) as refused:
        _composed(files(1, _O200K), 99)
    assert refused.value.smallest == 100


def test_nothing_is_cut_where_the_smallest_item_does_not_fit() -> None:
    lines = ["word " * 400, "end"]
    unit = Unit("function", "long name " * 50, "", (1, 2))
    tokens = (_O200K("".join(f"{line}\n" for line in lines)), 0, 0)
    made = Files([Source("a.py", [UnitFacts(unit, tokens)])], [lines], [Wanted(0, 0, 1000)])
    with pytest.raises(Refused) as refused:
        _composed(made, 110)
    assert refused.value.reason == "budget-too-small"
    smallest = refused.value.smallest or 0
    assert smallest > 110
    assert [chosen.piece.shown for chosen in _composed(made, smallest).draft.items] == ["reference"]


def test_counts_of_the_index_that_say_too_little_are_made_good() -> None:
    lines = [f"line {number} of it" for number in range(60)]
    units = [Unit("function", f"f{at}", "", (at + 1, at + 6)) for at in range(0, 60, 6)]
    wanted = [Wanted(0, at, 1000) for at in range(len(units))]
    made = Files([Source("a.py", [UnitFacts(unit, (20, 0, 0)) for unit in units])], [lines], wanted)
    answer = _composed(made, 300)
    _is_within(answer, 300, "o200k")
    assert answer.draft.counts.full


def test_a_skeleton_that_cannot_be_counted_is_not_given() -> None:
    lines = ["def f():", "    … 5 lines", *["    work(and_more=True, until='done')"] * 60]
    unit = Unit("function", "f", "", (1, 62), skeleton=((1, 2),))
    tokens = (_O200K("".join(f"{line}\n" for line in lines)), 30, 0)
    made = Files([Source("a.py", [UnitFacts(unit, tokens)])], [lines], [Wanted(0, 0, 1000)])
    shown = [chosen.piece.shown for chosen in _composed(made, 200).draft.items]
    assert shown == ["reference"]


def test_items_with_signals_are_flagged_and_counted() -> None:
    made = files(3, _O200K)
    answers = [_composed(files(seed, _O200K), 4000) for seed in range(12)]
    flagged = [parse_answer(answer.text) for answer in answers]
    assert any(read.warned for read in flagged)
    for read in flagged:
        assert read.warned == sum(piece.signal for piece in read.pieces)
    assert made.sources


def test_duplicates_are_referred_to_alone() -> None:
    lines = ["def f():", "    return 1"] * 2
    units = [Unit("function", "f", "", (1, 2)), Unit("function", "f", "", (3, 4))]
    made = Files(
        [Source("a.py", [UnitFacts(unit, (9, 0, 0)) for unit in units])],
        [lines],
        [Wanted(0, 0, 1000), Wanted(0, 1, 900, ("a.py", (1, 2)))],
    )
    answer = _composed(made, 1000)
    assert "a.py:3-4 function f #2 same as a.py:1-2\n" in answer.text
