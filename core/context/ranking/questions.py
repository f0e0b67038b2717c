"""What a question is about, apart from the words in which questions are put."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fabricd.core.context.terms import STOP_WORDS, stem, terms_of


def _stems(words: str) -> frozenset[str]:
    return frozenset(map(stem, words.split()))


# How people put that something should change; they say little of where.
WISHES = _stems("""
    add allow always avoid bug broken change correctly ensure error fix get handle implement
    improve instead introduce issue make missing more never new only problem properly raise remove
    return set support update use using when without wrong
""")
# How people ask for something that has a name.
_ASKING = _stems("""
    bug call called caller calls code declaration declare declared define defined definition does
    explain find found go implementation implemented jump locate located location look open see
    show tell usage use used uses using where work working works
""")
_QUESTION = re.compile(
    r"\W*(?:where|how|what|which|who|why|find|show|open|locate|explain|go to|jump to|see"
    r"|look (?:at|for)|(?:the )?(?:definition|declaration|implementation|usages?) of)\b",
    re.IGNORECASE,
)
# No word of a sentence: it is a name, whatever it says.
_NAME = re.compile(r"_|[a-z0-9][A-Z]")


def fillers(query: str, words: Sequence[str]) -> frozenset[str]:
    """The words of a query that only ask for the others.

    Those that wish are among them where but one other is left, which is no scope (`docs: …`). None
    are, where none would be left.
    """
    # A capital within a sentence is a name's.
    plain = {word for word in words[1:] if word[:1].islower()}.union(words[:1])
    asking = {word for word in plain if _is_of(word, _ASKING)}
    others = [word for word in words if word not in asking and word.lower() not in STOP_WORDS]
    matter = {word for word in others if word not in plain or not _is_of(word, WISHES)}
    if len(matter) == 1 and ": " not in query:
        return frozenset(words) - matter
    return frozenset(asking) if others and _QUESTION.match(query) else frozenset()


def _is_of(word: str, known: frozenset[str]) -> bool:
    return not _NAME.search(word) and not known.isdisjoint(terms_of(word)[:1])
