"""What is chosen, and what is said of it."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from fabricd.core.context.selecting.choosing import CELLS, choose
from fabricd.core.context.selecting.costs import opened, smallest, total
from fabricd.core.context.selecting.dual import Possible
from fabricd.core.context.selecting.forest import NEVER, Forest
from fabricd.core.context.selecting.graph import graph_of
from fabricd.core.context.selecting.offering import FULL, NONE, REFERENCE, SKELETON, Offer
from fabricd.core.context.selecting.table import best_path
from tests.core.context.selecting.wide import wide


def test_nothing_is_chosen_from_nothing() -> None:
    found = choose([], [], 100)
    assert found.levels == ()
    assert found.certificate.exact
    assert found.certificate.units == found.cost == 0


def test_a_member_pays_for_the_header_and_for_its_containers_line() -> None:
    offers = [Offer(0, 0, 0, -1, 5), Offer(0, 1, 100, 0, full=10)]
    assert choose(offers, [3], 17).levels == (NONE, NONE)
    found = choose(offers, [3], 18)
    assert found.levels == (NONE, FULL)
    assert found.cost == 18
    assert opened(offers, found.levels) == [0]


def test_a_head_that_is_shown_covers_its_opening() -> None:
    offers = [Offer(0, 0, 100, -1, 5, full=12), Offer(0, 1, 100, 0, full=10)]
    found = choose(offers, [3], 25)
    assert found.levels == (FULL, FULL)
    assert found.cost == 25
    assert opened(offers, found.levels) == []


def test_every_container_around_a_member_is_opened() -> None:
    offers = [
        Offer(0, 0, 0, -1, 5),
        Offer(0, 1, 0, 0, 4),
        Offer(0, 2, 100, 1, skeleton=10, full=90),
    ]
    found = choose(offers, [3], 30)
    assert found.levels == (NONE, NONE, SKELETON)
    assert found.cost == 22
    assert opened(offers, found.levels) == [0, 1]


def test_references_need_neither_header_nor_opening() -> None:
    offers = [Offer(0, 0, 0, -1, 50), Offer(0, 1, 100, 0, reference=10, full=40)]
    found = choose(offers, [30], 20)
    assert found.levels == (NONE, REFERENCE)
    assert found.cost == 10


def test_tokens_count_with_relevance_so_that_shards_are_not_bought() -> None:
    offers = [Offer(0, unit, 900, full=10) for unit in range(5)]
    whole = Offer(0, 5, 1000, full=50)
    assert choose([*offers, whole], [0], 50).levels == (NONE,) * 5 + (FULL,)


def test_eight_percent_go_first_to_references_into_files_that_are_not_present() -> None:
    # One unit that fills everything, and five files whose units do not fit any more.
    offers = [Offer(0, 0, 1000, reference=10, full=900)]
    offers += [Offer(file, 0, 900, reference=20, full=890) for file in range(1, 6)]
    headers = [5] * 6
    assert choose(offers, headers, 1000).levels[0] == FULL
    found = choose(offers, headers, 1000, best=range(6))
    assert found.given == (1, 2, 3, 4)
    assert found.levels[:5] == (FULL, REFERENCE, REFERENCE, REFERENCE, REFERENCE)
    assert found.certificate.units == 2
    assert found.certificate.value == 1000 * 900 * 10
    assert found.cost <= 1000


def test_at_most_three_hundred_units_take_part() -> None:
    offers = [Offer(0, unit, 1 + unit, full=10) for unit in range(400)]
    found = choose(offers, [2], 100_000)
    assert found.certificate.units == 300
    assert set(found.levels[:100]) == {NONE}
    assert set(found.levels[100:]) == {FULL}


def test_a_missing_head_is_an_error() -> None:
    with pytest.raises(ValueError, match="no offer for head 7 of file 0"):
        choose([Offer(0, 1, 100, 7, full=10)], [3], 100)


def test_heads_in_a_circle_are_an_error() -> None:
    with pytest.raises(ValueError, match="no offer for head"):
        choose([Offer(0, 0, 100, 1, full=10), Offer(0, 1, 100, 0, full=10)], [3], 100)


@pytest.mark.parametrize("budget", [500, 2000, 8000])
def test_three_hundred_units_are_chosen_from_exactly(budget: int) -> None:
    offers, headers = wide(budget)
    found = choose(offers, headers, budget)
    assert found.certificate.exact
    rough = choose(offers, headers, budget, cells=0)
    assert rough.certificate.value <= found.certificate.value <= rough.certificate.bound


@pytest.mark.parametrize("seed", range(4))
def test_what_is_ruled_out_is_in_no_better_choice(seed: int) -> None:
    offers, headers = wide(seed, units=120, files=1 + 12 * seed)
    forest = Forest(offers, headers, range(len(offers)))
    every, files = np.ones(len(forest.nodes), np.bool_), np.ones(len(forest.files), np.bool_)
    able = Possible(forest.value > NEVER, every, every, files, files)
    for budget in (300, 3000):
        graph = graph_of(forest, able, 10_000)
        assert graph is not None
        best = sum(edge.value for edge in best_path(graph, budget) or ())
        assert choose(offers, headers, budget).certificate.value == best


def test_above_the_table_the_bound_is_close() -> None:
    offers, headers = wide(7)
    found = choose(offers, headers, 32_000, cells=1)
    assert found.certificate.regret * 1000 <= found.certificate.bound


def test_deep_containers_are_no_trouble() -> None:
    offers = [Offer(0, unit, 1000, unit - 1, 3, 5, 9, 30) for unit in range(300)]
    for budget in (50, 3000, 20_000):
        found = choose(offers, [4], budget)
        assert found.cost == total(offers, [4], found.levels) <= budget
        assert found.certificate.value > 0


def test_the_order_of_offers_does_not_matter() -> None:
    offers, headers = wide(3, units=80, files=12)
    first = choose(offers, headers, 3000, best=range(0, 80, 7))
    order = list(range(80))
    Random(1).shuffle(order)
    best = [order.index(index) for index in range(0, 80, 7)]
    again = choose([offers[index] for index in order], headers, 3000, best=best)
    assert [again.levels[order.index(index)] for index in range(80)] == list(first.levels)
    assert again.certificate == first.certificate


def test_the_smallest_item_is_what_fits_at_least() -> None:
    offers = [Offer(0, 0, 0, -1, 5), Offer(0, 1, 100, 0, full=10), Offer(1, 0, 9, reference=19)]
    assert smallest(offers, [3, 3]) == 18
    assert any(choose(offers, [3, 3], 18, cells=CELLS).levels)
    assert not any(choose(offers, [3, 3], 17).levels)
