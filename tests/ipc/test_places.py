"""Who makes room, and for whom."""

from __future__ import annotations

import anyio
import pytest

from fabricd.ipc import places
from fabricd.ipc.places import MAX_CONNECTIONS, MAX_HELD, Place, Places

pytestmark = pytest.mark.asyncio


class Clients:
    """Clients that note when they are sent away."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr(places.anyio, "current_time", lambda: self.now)
        self.places = Places()
        self.left: list[str] = []

    def take(self, name: str) -> Place | None:
        self.now += 1
        return self.places.take(lambda: self.left.append(name))

    def taken(self, name: str) -> Place:
        found = self.take(name)
        assert found is not None
        return found


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> Clients:
    return Clients(monkeypatch)


def full(clients: Clients, name: str = "c") -> list[Place]:
    return [clients.taken(f"{name}{number}") for number in range(MAX_CONNECTIONS)]


async def test_room_is_made_by_the_client_that_has_been_silent_for_longest(
    clients: Clients,
) -> None:
    taken = full(clients)
    clients.now += 1
    clients.places.enter(taken[0], "listening")
    assert clients.take("late") is not None
    assert clients.left == ["c1"] and len(clients.places) == MAX_CONNECTIONS


async def test_the_silent_go_before_those_that_take_their_answer_slowly(clients: Clients) -> None:
    taken = full(clients)
    for place in taken[:-1]:
        clients.places.enter(place, "sending")
    assert clients.take("a") is not None and clients.take("b") is not None
    # Only a newcomer was silent besides; then come those that are being sent to.
    assert clients.left == ["c63", "a"]
    clients.places.enter(clients.taken("d"), "answering")
    assert clients.left[-1] == "b"


async def test_nobody_who_is_being_answered_or_subscribed_goes(clients: Clients) -> None:
    for number, place in enumerate(full(clients)):
        clients.places.enter(place, "answering" if number % 2 else "subscribed")
    assert clients.take("late") is None
    assert clients.left == []


async def test_the_one_that_has_held_most_for_longest_goes_where_too_much_is_held(
    clients: Clients,
) -> None:
    first, second, small = (clients.taken(name) for name in ("first", "second", "small"))
    clients.places.hold(small, 100)
    clients.places.hold(first, MAX_HELD // 2)
    clients.places.hold(second, MAX_HELD // 2 - 100)
    assert clients.left == [] and clients.places.held == MAX_HELD
    clients.places.hold(second, MAX_HELD // 2)
    assert clients.left == ["first"] and clients.places.held == MAX_HELD // 2 + 100


async def test_one_alone_may_hold_what_it_likes(clients: Clients) -> None:
    alone, small = clients.taken("alone"), clients.taken("small")
    clients.places.hold(small, 1000)
    clients.places.hold(alone, 4 * MAX_HELD)
    assert clients.left == []
    clients.places.hold(alone, 0)
    assert clients.places.held == 1000


async def test_a_place_given_back_counts_no_longer_and_holds_nothing(clients: Clients) -> None:
    place = clients.taken("a")
    clients.places.hold(place, 500)
    for _ in range(2):
        clients.places.give_back(place)
    clients.places.hold(place, 700)
    assert (len(clients.places), clients.places.held) == (0, 0)


async def test_the_clock_is_that_of_the_loop() -> None:
    found = Places().take(lambda: None)
    assert found is not None and abs(found.since - anyio.current_time()) < 5
