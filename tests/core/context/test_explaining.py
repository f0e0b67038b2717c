"""Why a unit is given or left out, and the budget that would give it whole."""

from __future__ import annotations

import pytest
from hypothesis import given as law
from hypothesis import settings
from hypothesis import strategies as st
from msgspec import structs

from fabricd.core.context.asking import Refused
from fabricd.core.context.explaining import Explanation, explain_steps, subjects
from fabricd.core.context.offered import (
    NotOffers,
    Offered,
    budgets,
    including_steps,
    packed_offers,
    read_offers,
)
from fabricd.core.context.receipt import Item, Left, Receipt, receipt_id
from fabricd.core.context.selecting.choosing import choose
from fabricd.core.context.selecting.offering import FULL, Offer, best_of_files
from fabricd.core.steps import finish
from tests.core.context.receipting import given, left


def offered() -> Offered:
    """Three units that were given, and two of three that were left out."""
    units = [(10, 900), (20, 800), (30, 90)]
    offers = [
        Offer(0, n, relevance, full=start * 7, reference=9)
        for n, (start, relevance) in enumerate(units)
    ]
    offers += [Offer(1, 0, 700, full=5000), Offer(1, 1, 60, skeleton=40, full=70_000)]
    places = [("src/client.py", start, start + 9) for start, _ in units]
    places += [("src/old.py", 10, 19), ("src/old.py", 20, 29)]
    return Offered(tuple(offers), (12, 14), tuple(places), 30)


def explained(receipt: Receipt, what: str, kept: Offered | None = None) -> list[Explanation]:
    found = subjects(receipt, receipt_id(receipt), what)
    return [finish(explain_steps(receipt, subject, kept)) for subject in found]


def test_a_handle_a_path_lines_and_a_symbol_mean_units() -> None:
    receipt = given().receipt
    name = receipt_id(receipt)
    assert [found.name for found in explained(receipt, f"{name}#2")] == ["send_2"]
    assert [found.n for found in explained(receipt, "src/client.py")] == [1, 2, 3]
    assert [found.n for found in explained(receipt, "src/client.py:19-25")] == [1, 2]
    assert [found.name for found in explained(receipt, "src/old.py:15-15")] == ["old_1"]
    assert [found.reason for found in explained(receipt, "old_3")] == ["budget"]
    assert explained(receipt, "src/nowhere.py") == explained(receipt, "nothing") == []
    for unknown in (f"{name}#9", "cr_0123456789abcdef#1"):
        with pytest.raises(Refused) as refused:
            explained(receipt, unknown)
        assert refused.value.reason == "unknown"


def test_a_symbol_of_several_units_is_asked_about() -> None:
    receipt = given().receipt
    more = (left(7, "a.py"), structs.replace(left(7, "b.py"), name="Other.old_7"))
    receipt = structs.replace(receipt, omitted=structs.replace(receipt.omitted, top=more))
    with pytest.raises(Refused) as refused:
        explained(receipt, "old_7")
    assert refused.value.reason == "ambiguous"
    assert "a.py:70-79 function old_7; b.py:70-79 function Other.old_7" in refused.value.message
    assert [found.path for found in explained(receipt, "Other.old_7")] == ["b.py"]


def test_what_was_left_out_is_shown_with_what_stands_in_its_place() -> None:
    (found,) = explained(given().receipt, "old_1", offered())
    assert (found.reason, found.rank, found.n, found.level) == ("budget", 3, None, None)
    # The reference is worth least for its tokens.
    assert [(item.n, item.density) for item in found.displaced] == [
        (3, 90 * 6),
        (2, 800 * 10),
        (1, 900 * 10),
    ]
    assert found.searched and found.budget == 8000
    (found,) = explained(given().receipt, "old_2", offered())
    assert found.searched and found.budget is None


def test_what_was_given_is_not_displaced() -> None:
    receipt = given().receipt
    (found,) = explained(receipt, f"{receipt_id(receipt)}#1", offered())
    assert (found.rank, found.level, found.displaced, found.budget) == (1, "full", (), 8000)
    # A reference was not given whole.
    (found,) = explained(receipt, f"{receipt_id(receipt)}#3", offered())
    assert found.level == "reference" and found.displaced


def test_after_a_purge_ranks_come_from_the_receipt_and_budgets_are_not_searched() -> None:
    (found,) = explained(given().receipt, "old_1")
    assert not found.searched and found.budget is None and found.rank == 6
    units: list[Item | Left] = [*given().receipt.items, *given().receipt.omitted.top]
    assert len(units) == 6


def test_budgets_are_whole_and_grow_by_a_quarter() -> None:
    assert list(budgets(8000))[:4] == [8000, 10000, 12500, 15625]
    assert list(budgets(64_000)) == [64_000]
    assert list(budgets(100_000)) == []
    assert all(isinstance(one, int) and one <= 64_000 for one in budgets(101))


_OFFERS = st.lists(
    st.builds(
        Offer,
        st.just(0),
        st.just(0),
        st.integers(1, 1000),
        parent=st.just(-1),
        opening=st.just(0),
        skeleton=st.just(0),
        full=st.integers(20, 3000),
        reference=st.sampled_from([0, 12]),
    ),
    min_size=1,
    max_size=8,
).map(lambda offers: tuple(structs.replace(offer, unit=n) for n, offer in enumerate(offers)))


def longer(budget: int, tried: int) -> int:
    """How many more tokens the last line takes: it has two numbers, of three digits a token."""
    return 2 if budget <= 999 < tried else 0


@settings(max_examples=25, deadline=None)
@law(_OFFERS, st.integers(100, 9000), st.data())
def test_the_budget_is_the_least_of_those_tried(
    offers: tuple[Offer, ...], budget: int, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(offers) - 1))
    kept = Offered(offers, (10,), tuple(("a.py", n, n) for n in range(len(offers))), 20)
    best = best_of_files(offers)
    gives = [
        tried
        for tried in budgets(budget)
        if choose(offers, (10,), max(0, tried - 20 - longer(budget, tried)), best).levels[at]
        == FULL
    ]
    assert finish(including_steps(kept, at, budget)) == (gives[0] if gives else None)


def test_offers_read_back_and_other_bytes_do_not() -> None:
    assert read_offers(packed_offers(offered())) == offered()
    for data in (b"", b"[]", b'[[],[],[["a",1,2]],0]', b"{}"):
        with pytest.raises(NotOffers):
            read_offers(data)
