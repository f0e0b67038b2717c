"""What a selection chose from, kept beside its receipt so that it can be made again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import MsgspecError, Struct
from msgspec.json import Decoder, encode

from fabricd.core.context.selecting.choosing import choose
from fabricd.core.context.selecting.offering import FULL, Offer, best_of_files
from fabricd.core.steps import Steps

LARGEST_BUDGET = 64_000


class Offered(Struct, frozen=True, array_like=True):
    """The offers of a selection.

    Attributes:
        offers: all of them, in the order in which they were given.
        headers: what the header line of each file costs, by file.
        places: for each offer its path and lines.
        fixed: tokens of an answer that are no unit's, whatever the budget: trailer, first line.
    """

    offers: tuple[Offer, ...]
    headers: tuple[int, ...]
    places: tuple[tuple[str, int, int], ...]
    fixed: int = 0

    def at(self, path: str, start: int, end: int) -> int | None:
        """The index of the offer with this path and these lines."""
        place = (path, start, end)
        return next((index for index, found in enumerate(self.places) if found == place), None)


class NotOffers(ValueError):
    """Bytes that are no offers of this version."""


_OFFERED = Decoder(Offered)


def packed_offers(offered: Offered) -> bytes:
    """The bytes that are kept."""
    return encode(offered)


def read_offers(data: bytes) -> Offered:
    """The offers again.

    Raises:
        NotOffers: these bytes are none.
    """
    try:
        found = _OFFERED.decode(data)
    except MsgspecError as error:
        raise NotOffers("these bytes are no offers") from error
    if len(found.places) != len(found.offers):
        raise NotOffers("each offer needs its place")
    return found


def ranks(offers: Sequence[Offer]) -> list[int]:
    """For each offer its rank by relevance, from 1."""
    order = sorted(
        range(len(offers)), key=lambda at: (-offers[at].relevance, offers[at].file, offers[at].unit)
    )
    found = [0] * len(offers)
    for rank, index in enumerate(order, start=1):
        found[index] = rank
    return found


def budgets(budget: int) -> Iterator[int]:
    """The budgets that are tried: this one, and each a quarter larger, up to 64,000 tokens."""
    tried, power = budget, 0
    while tried <= LARGEST_BUDGET:
        yield tried
        power += 1
        # Exact: floats would round differently from one machine to another.
        tried = budget * 5**power // 4**power


def including_steps(
    offered: Offered, index: int, budget: int, within: Callable[[int], int] = int
) -> Steps[int | None]:
    """The least budget tried for which the selection gives an offer whole; None: there is none.

    A larger budget may leave out what a smaller one gives, so each is tried in its turn.

    Args:
        within: the tokens that offers cost of those that a budget is told in.
    """
    offer = offered.offers[index]
    if not offer.full or offer.relevance <= 0:
        return None
    least = offer.full + offered.headers[offer.file]
    best = best_of_files(offered.offers)
    for tried in budgets(budget):
        # The last line tells the budget and what is used of it: larger numbers take more.
        more = 2 * (_number_tokens(tried) - _number_tokens(budget))
        room = within(tried) - offered.fixed - more
        if room >= least:
            yield
            if choose(offered.offers, offered.headers, room, best).levels[index] == FULL:
                return tried
    return None


def _number_tokens(number: int) -> int:
    """Both vocabularies have a token for up to three digits."""
    return -(-len(str(number)) // 3)
