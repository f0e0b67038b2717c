"""Who is connected, and who makes room where there is none left. Decides; closes nothing itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import anyio

MAX_CONNECTIONS = 64
MAX_SUBSCRIBERS = 16
MAX_ATTACHED = 32
MAX_HELD = 8 * 1024 * 1024
_SMALL = 64 * 1024

# What a connection waits for: the client's next frame, our answer, the client to take that
# answer, events, or whatever its agent may ask as long as that lives.
Stage: TypeAlias = Literal["listening", "answering", "sending", "subscribed", "attached"]


class Place:
    """One client: what its connection waits for and since when, and the bytes held for it."""

    def __init__(self, leave: Callable[[], None], since: float) -> None:
        """`leave` makes the client's task give the place back soon."""
        self.leave = leave
        self.stage: Stage = "listening"
        self.since = since
        self.held = 0


class Places:
    """The places of all clients, by age of their stage.

    A client that says nothing, or does not take what it asked for, is waited for as long as nobody
    else needs the room: then whoever has been waited for longest goes, and never a newcomer.
    """

    def __init__(self) -> None:
        self._taken: dict[Place, None] = {}
        self._held = 0

    def __len__(self) -> int:
        return len(self._taken)

    @property
    def held(self) -> int:
        """The bytes that are held for all of them."""
        return self._held

    def in_stage(self, stage: Stage) -> int:
        """How many are in a stage."""
        return sum(place.stage == stage for place in self._taken)

    def take(self, leave: Callable[[], None]) -> Place | None:
        """A place, or None where each client is being answered, is subscribed or attached."""
        if len(self._taken) >= MAX_CONNECTIONS and not self._send_one_away():
            return None
        place = Place(leave, anyio.current_time())
        self._taken[place] = None
        return place

    def give_back(self, place: Place) -> None:
        """Leave. A place may be given back twice."""
        if place in self._taken:
            del self._taken[place]
            self._held -= place.held
            place.held = 0

    def enter(self, place: Place, stage: Stage) -> None:
        """The client enters a stage now."""
        place.stage = stage
        place.since = anyio.current_time()

    def hold(self, place: Place, size: int) -> None:
        """So many bytes are held for a client now; where all hold too many, the oldest goes."""
        if place not in self._taken:
            return
        self._held += size - place.held
        place.held = size
        while self._held > MAX_HELD and self._release_one():
            pass

    def _send_one_away(self) -> bool:
        waited_for = [place for place in self._taken if place.stage in ("listening", "sending")]
        if not waited_for:
            return False
        # A silent client first: one that takes its answer slowly has at least asked.
        self._dismiss(min(waited_for, key=lambda place: (place.stage == "sending", place.since)))
        return True

    def _release_one(self) -> bool:
        # One client alone may hold what it likes: its frame and its reply have their own bounds.
        holding = [place for place in self._taken if place.held > _SMALL]
        if len(holding) < 2:
            return False
        self._dismiss(min(holding, key=lambda place: place.since))
        return True

    def _dismiss(self, place: Place) -> None:
        self.give_back(place)
        place.leave()
