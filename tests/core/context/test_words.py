"""What is said of explanations."""

from __future__ import annotations

from msgspec import structs

from fabricd.core.context.explaining import Displacer, Explanation
from fabricd.core.context.words import explained

LEFT = Explanation(
    "tests/test_lock.py",
    3,
    9,
    "function",
    "test_lock",
    None,
    None,
    "budget",
    168,
    {"relevance": 40_414, "near": 9_054, "text": 172_429, "kind": 200_000},
    (Displacer(7, "core/lock.py", 1, 2, "hold", "full", 12, 900),),
    15_625,
    True,
)


def test_a_unit_is_explained_in_four_lines_and_what_displaced_it_stands_below() -> None:
    assert explained([LEFT]).split("\n") == [
        "tests/test_lock.py:3-9 function test_lock: left out (budget)",
        "  rank 168",
        "  relevance 0.0404 of text 0.1724, near 0.0091",
        "  kind 0.2000: left of each part, for the query asks for no file of this kind",
        "  whole with a budget of 15625",
        "  what was given for least value per token:",
        "    #7 core/lock.py:1-2 hold full, 12 tokens",
        "",
    ]


def test_what_displaced_many_is_told_once() -> None:
    text = explained([LEFT, structs.replace(LEFT, start=20, end=29), LEFT])
    assert text.count("least value per token") == text.count("#7 ") == 1
    assert text.endswith("#7 core/lock.py:1-2 hold full, 12 tokens\n")


def test_a_better_twin_is_told() -> None:
    features = {"relevance": 70_000, "text": 300_000, "similar": 700_000}
    assert "\n  similar 0.7000: left of the" in explained(
        [structs.replace(LEFT, features=features)]
    )


def test_of_what_has_no_rank_no_budget_is_told() -> None:
    found = structs.replace(
        LEFT, rank=None, features={}, displaced=(), budget=None, searched=False, recomputed=True
    )
    assert explained([found]) == (
        "tests/test_lock.py:3-9 function test_lock: left out; not among the best that the receipt "
        "tells of\n  no rank: nothing of the query is in it, or too much else has more (ranked "
        "again now)\n"
    )


def test_nothing_is_explained_of_nothing() -> None:
    assert explained([]) == ""
