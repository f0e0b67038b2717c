"""Words of other languages that say nothing of what a query is about.

English ones are left out of every query. These are left out only where a query is in their
language: many are words of English or of code too (`die`, `man`, `mit`, `des`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

# A language is told by so many different words of it that are none of English or code.
_TELLING = 2


class _Language(NamedTuple):
    telling: frozenset[str]
    others: frozenset[str]


def _language(telling: str, others: str) -> _Language:
    return _Language(frozenset(telling.split()), frozenset(others.split()))


_LANGUAGES = (
    _language(
        """
        aber auch auf aus beim dabei damit dann das dass daß dein der deren dessen dies diese diesem
        diesen dieser dieses durch ein eine einem einen einer eines gibt haben ich ihr ihre ist kann
        kein keine können nach nicht nur oder sein seine sich sie sind soll sollen sonst über und
        unter vom von vor wann warum weil welche welchem welchen welcher welches wenn werden wie
        wird wir wo wurde wurden zu zum zur zwischen
        """,
        """
        alle als am an bei bin bis da dem den denn der des die du er es für gegen hat im in ins man
        mit muss ob ohne so um war was wer
        """,
    ),
    _language(
        """
        au aux avec ce cela ces cette chez comment dans depuis dont du elle elles est et être il ils
        je la le les leur leurs lorsque mais ne nous où par pas peut pour pourquoi quand que quel
        quelle quelles quels qui quoi sans ses sont sous sur une vous à été
        """,
        "a de des en entre fait l m mon n on ou s sa si son t un y",
    ),
    _language(
        """
        al como cómo con cuando cuándo cuál del desde donde dónde el ella ellos entre es esta este
        esto está están fue hay la las lo los más para pero por porque qué que quién según ser si
        sin sobre su sus también un una unos y
        """,
        "a cada de en era ha le me mi muy no o se son te ya",
    ),
)


def function_words(words: Iterable[str]) -> frozenset[str]:
    """What to leave out of a query of these words (lower case)."""
    given = frozenset(words)
    found: set[str] = set()
    for one in _LANGUAGES:
        if len(given & one.telling) >= _TELLING:
            found |= given & (one.telling | one.others)
    return frozenset(found)
