"""Which rules about verdicts concern a case, and so in which reading the reference judged it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.conformance.dialects import dialects_differ
from tests.conformance.drafts import NEWEST, declared_draft
from tests.conformance.format_details import strays
from tests.conformance.numbers import has_long_integers
from tests.conformance.oracles import graphemes
from tests.conformance.readings import (
    DOUBLES,
    DRAFTS,
    FORMATS,
    GRAPHEMES,
    MULTIPLES,
    PATTERNS,
    Reading,
)
from tests.conformance.values import Case, keys_of, walk


def _given(case: Case) -> list[Any]:
    return [case.get("value"), case.get("args")]


def counts_otherwise(case: Case) -> bool:
    """Whether lengths are bounded and some text has more code points than graphemes."""
    bounded = not keys_of(case["schema"]).isdisjoint(("minLength", "maxLength"))
    texts = (inner for inner in walk(case) if isinstance(inner, str))
    return bounded and any(graphemes(text) != len(text) for text in texts)


def _strays(case: Case) -> bool:
    return strays(case["schema"], _given(case))


def _differs_in_dialect(case: Case) -> bool:
    return dialects_differ(case["schema"], _given(case))


def _divides(case: Case) -> bool:
    return "multipleOf" in keys_of(case["schema"])


def _exceeds_doubles(case: Case) -> bool:
    return has_long_integers([case["schema"], *_given(case)])


def _declares_older(case: Case) -> bool:
    return declared_draft(case["schema"]) not in (None, NEWEST)


# In the order of the rules. Drafts come last: as doubles, whole numbers are none to draft 4.
_CONCERNS: Mapping[str, Callable[[Case], bool]] = {
    GRAPHEMES: counts_otherwise,
    FORMATS: _strays,
    PATTERNS: _differs_in_dialect,
    MULTIPLES: _divides,
    DOUBLES: _exceeds_doubles,
    DRAFTS: _declares_older,
}
VERDICT_RULES = tuple(_CONCERNS)


def concerned(case: Case) -> Reading:
    """The reading of a case in which the reference is followed wherever a rule concerns it."""
    return frozenset(name for name, concerns in _CONCERNS.items() if concerns(case))
