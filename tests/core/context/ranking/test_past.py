"""What history says of files."""

from __future__ import annotations

from fabricd.core.context.corpus import Changes
from fabricd.core.context.ranking.past import by_subject, recent, together
from fabricd.core.context.ranking.wanted import Term
from fabricd.core.context.ranking.weights import MILLION

CHANGES = Changes(
    {0: 0, 1: 2, 2: 50},
    {0: 2, 1: 2, 2: 1},
    [("bump version", (0,)), ("parse cookies", (0, 1)), ("parse headers", (1, 2))],
)


def test_files_of_commits_with_such_subjects() -> None:
    scores = by_subject(CHANGES, [Term("cooky", 1.0), Term("pars", 1.0)], 4, 20)
    assert scores[1] == MILLION
    assert scores[1] > scores[0] > scores[2] > scores[3] == 0
    assert not by_subject(CHANGES, [Term("nothing", 1.0)], 4, 20).any()


def test_files_that_change_together() -> None:
    scores = together(CHANGES, [2], 4)
    assert list(scores) == [0, MILLION, MILLION, 0]


def test_files_that_changed_last() -> None:
    assert list(recent(CHANGES, 4, 50)) == [MILLION, MILLION * 50 // 52, MILLION // 2, 0]
