from __future__ import annotations

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from fabricd.core.context.asking import Refused
from fabricd.core.steps import Steps
from fabricd.daemon.context.scheduling import (
    ALONE,
    LONG_SECONDS,
    LONG_SLICE_SECONDS,
    SLICE_SECONDS,
    Ended,
    Scheduler,
)


class Time:
    """A clock that moves when a step is made."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Work:
    """Requests that take so many steps of so many seconds; `made` tells whose step came when."""

    def __init__(self) -> None:
        self.time = Time()
        self.made: list[int] = []
        self.left: list[int] = []
        self.scheduler = Scheduler(self.time)

    def steps(self, id: int, count: int, seconds: float = 0.001) -> Callable[[], Steps[bytes]]:
        def steps() -> Steps[bytes]:
            try:
                for _ in range(count):
                    self.time.now += seconds
                    self.made.append(id)
                    yield
            except GeneratorExit:
                self.left.append(id)
                raise
            return b"%d" % id

        return steps

    def add(self, id: int, lane: str | None, count: int, seconds: float = 0.001) -> None:
        self.scheduler.add(id, lane, self.steps(id, count, seconds))

    def finish(self) -> list[int]:
        """Everything to its end; gives the ids in the order in which they ended."""
        ended: list[int] = []
        while self.scheduler:
            if (one := self.scheduler.turn()) is not None:
                assert one == Ended(one.id, b"%d" % one.id)
                ended.append(one.id)
        return ended


def test_a_long_request_does_not_hold_up_one_of_another_tree() -> None:
    work = Work()
    work.add(1, "one", 10_000)
    work.scheduler.turn()
    work.add(2, "two", 10)
    assert work.finish() == [2, 1]


def test_requests_of_one_tree_come_in_order_and_one_after_the_other() -> None:
    work = Work()
    for id in (1, 2, 3):
        work.add(id, "tree", 50)
    assert work.finish() == [1, 2, 3]
    assert work.made == sorted(work.made)


def test_a_lookup_waits_for_no_tree() -> None:
    work = Work()
    work.add(1, "tree", 10_000)
    work.add(2, "tree", 10)
    work.add(3, None, 1)
    assert work.finish() == [3, 1, 2]


def test_what_is_done_alone_waits_for_all_and_all_wait_for_it() -> None:
    work = Work()
    work.add(1, "one", 100)
    work.scheduler.turn()
    work.add(2, ALONE, 100)
    work.add(3, "two", 100)
    assert work.finish() == [1, 2, 3]
    assert work.made == sorted(work.made)


def test_a_lookup_goes_ahead_of_what_waits_to_be_alone() -> None:
    work = Work()
    work.add(1, "one", 1000)
    work.scheduler.turn()
    work.add(2, ALONE, 10)
    work.add(3, None, 1)
    assert work.finish() == [3, 1, 2]


def test_nothing_begins_beside_what_is_alone() -> None:
    work = Work()
    work.add(1, ALONE, 1000)
    work.scheduler.turn()
    work.add(2, None, 1)
    assert work.finish() == [1, 2]


def test_what_takes_long_gets_shorter_slices() -> None:
    work = Work()
    work.add(1, "one", 100_000)
    while work.time.now < LONG_SECONDS + 2 * SLICE_SECONDS:
        work.scheduler.turn()
    before = work.time.now
    work.scheduler.turn()
    assert work.time.now - before < LONG_SLICE_SECONDS + 0.002


def test_a_request_that_is_called_off_is_left_where_it_is() -> None:
    work = Work()
    work.add(1, "tree", 1000)
    work.add(2, "tree", 10)
    work.scheduler.turn()
    work.scheduler.cancel(1)
    work.scheduler.cancel(99)
    assert work.left == [1]
    assert work.finish() == [2]


def test_what_has_not_begun_is_called_off_without_a_step() -> None:
    work = Work()
    work.add(1, "tree", 100)
    work.add(2, "tree", 100)
    work.scheduler.turn()
    work.scheduler.cancel(2)
    assert work.finish() == [1]
    assert 2 not in work.made


def test_closing_leaves_all() -> None:
    work = Work()
    work.add(1, "one", 100)
    work.add(2, "two", 100)
    work.scheduler.turn()
    work.scheduler.turn()
    work.scheduler.close()
    assert work.left == [1, 2]
    assert not work.scheduler


def test_a_request_that_breaks_ends_alone() -> None:
    work = Work()

    def broken() -> Steps[bytes]:
        yield
        raise KeyError("x")

    def refused() -> Steps[bytes]:
        raise Refused("gone", "it is gone")
        yield

    def unknown() -> Steps[bytes]:
        raise LookupError

    for id, start in ((1, broken), (2, refused), (3, unknown)):
        work.scheduler.add(id, None, start)
    work.add(4, None, 3)
    ended: dict[int, object] = {}
    while work.scheduler:
        if (one := work.scheduler.turn()) is not None:
            ended[one.id] = one.outcome
    assert isinstance(ended[1], KeyError)
    assert isinstance(ended[2], Refused)
    assert isinstance(ended[3], LookupError)
    assert ended[4] == b"4"


_LANES = st.sampled_from([None, "a", "b", "c", ALONE])


@settings(max_examples=200)
@given(st.lists(st.tuples(_LANES, st.integers(0, 60)), max_size=12))
def test_everything_ends_once_and_each_lane_in_order(asked: list[tuple[str | None, int]]) -> None:
    work = Work()
    for id, (lane, count) in enumerate(asked):
        work.add(id, lane, count)
    ended = work.finish()
    assert sorted(ended) == list(range(len(asked)))
    for lane in ("a", "b", "c", ALONE):
        mine = [id for id in ended if asked[id][0] == lane]
        assert mine == sorted(mine)
    for id, (lane, _) in enumerate(asked):
        steps = [at for at, made in enumerate(work.made) if made == id]
        if lane == ALONE and steps:
            assert steps == list(range(steps[0], steps[-1] + 1))
