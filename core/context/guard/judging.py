"""Whether words near each other are an order to an assistant."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache

from fabricd.core.context.guard.lexicon import (
    CALLED,
    COMMON,
    DO,
    EARLIER,
    LOOSE,
    NEW_PART,
    NOT,
    ROUND,
    RULE,
    SECRETLY,
    SET_ASIDE,
    TELL,
    THING,
    WEAK,
    WHO,
    WIDTH,
    YOU,
)


@lru_cache(maxsize=8192)
def plausible(bits: int) -> tuple[int, ...]:
    """The languages (by number) in which words of these kinds could be an order."""
    return tuple(
        number
        for number in range((bits.bit_length() + WIDTH - 1) // WIDTH)
        if _could_be((bits >> (number * WIDTH)) & ((1 << WIDTH) - 1), number)
    )


def _bits(*kinds: int) -> int:
    return sum(1 << kind for kind in kinds)


_ASIDE = _bits(SET_ASIDE, RULE)
_EARLIER = _bits(SET_ASIDE, RULE, EARLIER)
_LOOSE = _bits(SET_ASIDE, LOOSE)
_ROUND = _bits(WEAK, ROUND)
_UNTOLD = _bits(NOT, TELL, WHO)
_ASKED = _bits(DO, THING, YOU)
_DEED = _bits(DO, THING)
_ALONE = _bits(SET_ASIDE, NEW_PART, SECRETLY)
_SPOKEN = _bits(CALLED)
_OTHER = _bits(NEW_PART), _bits(SECRETLY)
# Every rule has one of these near where it begins. Those who are told are too common in English.
_BEGINNING = _bits(CALLED, ROUND, RULE, NEW_PART, SECRETLY)
ANCHOR = (_BEGINNING, *(_BEGINNING | _bits(WHO) for _ in range(8)))


def _could_be(bits: int, number: int) -> bool:
    called = bits & _SPOKEN or bits & _ROUND == _ROUND
    aside = bits & _ASIDE == _ASIDE
    asked = bits & _ASKED == _ASKED or (number > 0 and bits & _DEED == _DEED)
    deed = bits & _DEED == _DEED
    if aside and (called or asked or bits & _EARLIER == _EARLIER):
        return True
    if called and (asked or bits & _LOOSE == _LOOSE):
        return True
    if bits & _OTHER[0] and (called or deed):
        return True
    if asked and bits & _LOOSE == _LOOSE:
        return True
    return bool(bits & _UNTOLD == _UNTOLD or bits & _OTHER[1]) and bool(called or aside or asked)


def judged(
    words: Sequence[str],
    meanings: Sequence[int],
    language: int,
    spoken_to: int,
    *,
    english: bool = True,
) -> tuple[str, int] | None:
    """The rule that applies to words (with their bits), and the word it begins at.

    Args:
        spoken_to: 2 where the place itself speaks to a machine (what no reader sees), 1 where it
            may (comments), 0 in plain text.
        english: whether the first language is English.
    """
    if not _could_weigh(meanings, language):
        return None
    places: list[list[int]] = [[] for _ in range(WIDTH)]
    for at, bits in enumerate(meanings):
        mine = (bits >> (language * WIDTH)) & ((1 << WIDTH) - 1)
        while mine:
            kind = (mine & -mine).bit_length() - 1
            places[kind].append(at)
            mine &= mine - 1
    verdict = weighed(places, 1, spoken_to, is_english=not language and english)
    if verdict and language:
        near = slice(max(0, verdict[1] - _AROUND), verdict[1] + _AROUND)
        if not _is_in(words[near], meanings[near], language):
            return None
    return verdict


def _could_weigh(meanings: Sequence[int], language: int) -> bool:
    """Whether words could be a verdict if they all stood near each other."""
    bits = 0
    for meaning in meanings:
        bits |= meaning
    bits >>= language * WIDTH
    return bool(bits & _ALONE) or bits & _DEED == _DEED or bits & _UNTOLD == _UNTOLD


_AROUND = 15
_REACH = 45  # words between an address and what is said to it


def _is_in(words: Sequence[str], meanings: Sequence[int], language: int) -> bool:
    """Whether words are in a language other than English, by the commonest of both."""
    own, other = (
        len({word for word, bits in zip(words, meanings, strict=True) if bits >> common & 1})
        for common in (language * WIDTH + COMMON, COMMON)
    )
    return own > 1 and own * 2 > other


def weighed(
    places: list[list[int]], step: int, spoken_to: int, *, is_english: bool = False
) -> tuple[str, int] | None:
    """The same, from where each kind of word stands. Distances are in units of `step`."""
    called = places[CALLED] or _near(places[WEAK], places[ROUND], 2 * step)
    near = _REACH * step

    def sure(those: list[int]) -> list[int]:
        """Those that are said to an assistant: one is called nearby, or nobody else reads them."""
        return those if spoken_to > 1 else _near(those, called, near)

    deeds = _near(places[DO], places[THING], 9 * step)
    # English gives no sign of a request in the verb; other languages mostly leave the person out.
    asked = _near(deeds, places[YOU], 6 * step) if is_english else deeds
    asides = _near(places[SET_ASIDE], places[RULE], 10 * step)
    earlier = _near(asides, places[EARLIER], 9 * step)
    loose = _near(places[SET_ASIDE], places[LOOSE], 9 * step)
    if is_english:
        untold = _near(_before(places[NOT], places[TELL], 5 * step), places[WHO], 7 * step)
    else:
        untold = _near(_near(places[TELL], places[NOT], 8 * step), places[WHO], 12 * step)
    if earlier and (called or spoken_to or deeds or places[YOU]):
        return "override", earlier[0]
    if found := sure(asides) or sure(loose) or (asides if asked else []):
        return "override", found[0]
    if asked and (found := _near(loose, places[EARLIER], 9 * step)):
        return "override", found[0]
    if found := sure(places[NEW_PART]):
        return "override", found[0]
    if places[NEW_PART] and deeds and (places[YOU] or not is_english):
        return "override", places[NEW_PART][0]
    if found := sure(untold or places[SECRETLY]):
        return "secrecy", found[0]
    if (untold and asked) or (asides and (untold or places[SECRETLY])):
        return "secrecy", (untold or places[SECRETLY])[0]
    if found := sure(asked):
        return "order", found[0]
    return None


def _near(these: list[int], those: list[int], far: int) -> list[int]:
    """Those of the first that have one of the second, not themselves, within reach."""
    found: list[int] = []
    for one in these:
        at = bisect_left(those, one - far)
        if at < len(those) and those[at] == one:
            at += 1
        if at < len(those) and those[at] <= one + far:
            found.append(one)
    return found


def _before(these: list[int], those: list[int], far: int) -> list[int]:
    """Those of the second that follow one of the first within reach."""
    found: list[int] = []
    for other in those:
        at = bisect_left(these, other - far)
        if at < len(these) and these[at] < other:
            found.append(other)
    return found
