"""What is told when something has changed, in one line each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import ROUND_HALF_UP, Context, Decimal

from fabricd.core.entropy.signals import Signal
from fabricd.core.javascript import number_text
from fabricd.core.plain import counted

_MINUS = "\u2212"
_DECIMALS = 6
_MOST_DECIMALS = 12
# Twenty-one digits before the point and twelve behind it, and no more are ever asked for.
_EXACT = Context(prec=40, rounding=ROUND_HALF_UP)

_WORDS: Mapping[str, tuple[str, str]] = {
    "declare-enum": ("enum to declare", "enums to declare"),
    "overload-split": ("action to split", "actions to split"),
    "sequence-fuse": ("sequence to fuse", "sequences to fuse"),
    "rules-cut": ("plan that was cut", "plans that were cut"),
    "property-not-judged": ("property nobody can judge", "properties nobody can judge"),
    "not-on-surface": ("action called but not declared", "actions called but not declared"),
}


def _fixed(value: float, decimals: int) -> str:
    """`value.toFixed(decimals)`: of the exact value, ties away from zero."""
    if abs(value) >= 1e21:
        return number_text(value)
    return f"{Decimal(value).quantize(Decimal(1).scaleb(-decimals), context=_EXACT):f}"


def _exponential(value: float) -> str:
    """`value.toExponential(2)` of a small positive number."""
    digits, _, exponent = f"{value:.2e}".partition("e")
    return f"{digits}e{int(exponent):+d}"


def score_change(before: float, after: float) -> str:
    """How a score moved, with as many decimals as it takes to see that it did."""
    if before == after:
        return f"score unchanged at {_fixed(before, _DECIMALS)} (lower is better)"
    decimals = _DECIMALS
    while decimals < _MOST_DECIMALS and _fixed(before, decimals) == _fixed(after, decimals):
        decimals += 1
    by = _fixed(abs(after - before), decimals)
    if not by.strip("0."):
        by = _exponential(abs(after - before))
    sign = _MINUS if after < before else "+"
    word = "improved" if after < before else "changed"
    was, now = _fixed(before, decimals), _fixed(after, decimals)
    return f"score {word} {was} → {now} ({sign}{by}; lower is better)"


def compiled_notice(
    seconds: float, plans: int, before: float | None, after: float, suggestions: int
) -> str:
    """An artifact was written.

    Args:
        before: the score stored in the artifact that was replaced, where it can be compared.
    """
    parts = [
        f"compiled in {seconds * 1000:,.0f} ms",
        counted(plans, "normal-form plan", "normal-form plans"),
        f"score {_fixed(after, _DECIMALS)}" if before is None else score_change(before, after),
        "safety checks passed",
    ]
    if suggestions:
        parts.append(
            f"{counted(suggestions, 'suggestion', 'suggestions')} to review (fabricd report)"
        )
    return " · ".join(parts)


def review_notice(signals: Iterable[Signal]) -> str:
    """How many suggestions there are, and of what kind."""
    kinds = Counter(type(signal).__struct_config__.tag for signal in signals)
    total = counted(sum(kinds.values()), "suggestion", "suggestions")
    parts = [counted(kinds[kind], *words) for kind, words in _WORDS.items() if kinds[kind]]
    return " · ".join((f"{total} to review", *parts))
