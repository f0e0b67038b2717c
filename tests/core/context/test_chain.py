"""The chain: what it finds, and the two things that it does not."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from fabricd.core.context.chain import Chain, Delivery, Gap, Kept, Row, check_chain, closed, linked

_DELIVERIES = st.lists(
    st.builds(
        Delivery,
        st.from_regex(r"cr_[0-9a-f]{16}", fullmatch=True),
        st.integers(0, 1 << 40),
        st.integers(0, 1 << 45),
        st.integers(0, 1 << 45),
        st.integers(0, 20_000),
        st.none() | st.text(max_size=8),
        st.just("/tree"),
    ),
    max_size=8,
)


def chain_of(deliveries: Sequence[Delivery]) -> list[Kept]:
    chain: list[Kept] = []
    for delivery in deliveries:
        row = linked(delivery, chain[-1] if chain else None)
        chain.append(Kept(row, row.digest))
    return chain


def kept_of(gaps: Sequence[Gap]) -> list[Kept]:
    return [Kept(gap, gap.digest) for gap in gaps]


def forget(chain: Chain, gone: frozenset[int]) -> list[Kept]:
    left = [kept for kept in chain if isinstance(kept.link, Row) and kept.link.seq not in gone]
    return sorted([*left, *kept_of(closed(chain, gone))], key=lambda kept: kept.link.first)


@given(_DELIVERIES)
def test_a_chain_as_it_was_written_is_sound(deliveries: list[Delivery]) -> None:
    assert check_chain(chain_of(deliveries)) == []


@given(_DELIVERIES.filter(bool), st.data())
def test_each_changed_member_is_found(deliveries: list[Delivery], data: st.DataObject) -> None:
    chain = chain_of(deliveries)
    at = data.draw(st.integers(0, len(chain) - 1))
    row = chain[at].link
    name = data.draw(st.sampled_from([field.name for field in structs.fields(row)]))
    before: Any = getattr(row, name)
    after: Any = before + 1 if isinstance(before, int) else f"{before}x"
    chain[at] = Kept(structs.replace(row, **{name: after}), chain[at].digest)
    assert check_chain(chain)


@given(_DELIVERIES.filter(lambda found: len(found) > 1), st.data())
def test_an_inner_row_is_missed_and_a_cut_end_is_not(
    deliveries: list[Delivery], data: st.DataObject
) -> None:
    chain = chain_of(deliveries)
    at = data.draw(st.integers(0, len(chain) - 2))
    assert check_chain(chain[:at] + chain[at + 1 :])
    # What `verify` says of itself.
    assert check_chain(chain[:-1]) == []


@given(_DELIVERIES.filter(lambda found: len(found) > 1), st.data())
def test_two_rows_in_each_others_place_are_found(
    deliveries: list[Delivery], data: st.DataObject
) -> None:
    chain = chain_of(deliveries)
    one, two = data.draw(
        st.lists(st.integers(0, len(chain) - 1), min_size=2, max_size=2, unique=True)
    )
    chain[one], chain[two] = chain[two], chain[one]
    assert check_chain(chain)


@settings(max_examples=60)
@given(_DELIVERIES, st.data())
def test_what_was_forgotten_is_no_finding_and_writing_goes_on(
    deliveries: list[Delivery], data: st.DataObject
) -> None:
    chain: list[Kept] = chain_of(deliveries)
    for _ in range(2):
        gone = data.draw(st.frozensets(st.integers(1, max(1, len(deliveries)))))
        chain = forget(chain, gone)
        assert check_chain(chain) == []
        gaps = [kept.link for kept in chain if isinstance(kept.link, Gap)]
        assert all(left.last + 1 < right.first for left, right in pairwise(gaps))
    new = linked(
        Delivery("cr_" + "0" * 16, 1, 2, 3, 4, None, "/tree"), chain[-1] if chain else None
    )
    assert new.seq == len(deliveries) + 1
    assert check_chain([*chain, Kept(new, new.digest)]) == []


def test_a_gap_that_was_changed_is_found() -> None:
    deliveries = [Delivery("cr_" + "0" * 16, 1, at, at, 0, None, "/tree") for at in range(6)]
    chain = forget(chain_of(deliveries), frozenset({2, 3}))
    assert [str(kept.link.first) for kept in chain] == ["1", "2", "4", "5", "6"]
    at = 1
    for name in ("first", "last", "prev", "head", "root"):
        value: Any = getattr(chain[at].link, name)
        after: Any = value + 1 if isinstance(value, int) else f"{value}x"
        changed = structs.replace(chain[at].link, **{name: after})
        assert check_chain([chain[0], Kept(changed, chain[at].digest), *chain[2:]])
    assert check_chain([chain[0], *chain[2:]])
