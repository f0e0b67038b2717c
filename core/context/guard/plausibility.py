"""Whether a value looks like a secret that somebody drew, or like something that somebody wrote."""

from __future__ import annotations

import re
from collections import Counter
from math import log2

_MADE_UP = re.compile(
    r"[Ee]xample|EXAMPLE|[Cc]hange[-_. ]?(?:me|this|it)|CHANGE[-_]?(?:ME|THIS)|"
    r"replace|REPLACE|[Pp]laceholder|PLACEHOLDER|dummy|DUMMY|[Ss]ample|redacted|REDACTED|"
    r"[Yy]our[-_A-Z]|YOUR|[Ii]nsert|INSERT|fixme|FIXME|TODO|xxxxx|XXXXX|\*\*\*|\.\.\.|0123456|"
    r"1234567|[Aa]bcdefg|ABCDEFG|qwerty|[Ff]oobar|[Nn]ot[-_]?(?:a[-_])?(?:real|secret)|[-_]fake|"
    r"fake[-_]|FAKE|[Ll]orem|deadbeef|s3cr3t|[Pp][4a]ssw0rd|hunter2|[Aa]bcd?1234|‹|…|"
    r"[Aa]-[Zz]|\[[^\]]{1,40}\][{+*?]|"  # a regular expression
    r"(.)\1{5}"
)
_FILLED = re.compile(
    r"[Ee]xample|EXAMPLE|xxxxx|XXXXX|(.)\1{5}|0123456|1234567|[Aa]bcdefg|ABCDEFG|\*\*\*|\.\.\.|"
    r"[Pp]laceholder|redacted|REDACTED|[Cc]hangeme|[Yy]our[-_]"
)
# Whole values that stand for another one: <name>, ${NAME}, {{ name }}, %(name)s, $NAME, [name].
_STAND_IN = re.compile(
    r"<[^>]*>|\$\{[^}]*\}|\$\([^)]*\)|\{+[^}]*\}+|%\([^)]*\)[sd]|%[A-Za-z_]\w*%|\$[A-Za-z_]\w*|"
    r"\[[^\]]*\]|@@?\w+@@?"
)


def made_up(value: str) -> bool:
    """Whether it is a stand-in: an example, a row of x, a reference to something else."""
    return _MADE_UP.search(value) is not None or _STAND_IN.fullmatch(value) is not None


def filled(token: str) -> bool:
    """Whether a maker's token is filled with what nobody draws, however long it is."""
    return _FILLED.search(token) is not None


def entropy(value: str) -> float:
    """Bits a character, by the value's own frequencies."""
    size = len(value)
    return -sum(n / size * log2(n / size) for n in Counter(value).values()) if size else 0.0


_CLASSES = tuple(map(re.compile, ("[a-z]", "[A-Z]", "[0-9]", "[^A-Za-z0-9]")))


def classes(value: str) -> int:
    """How many of lower case, upper case, digits and the rest occur."""
    if value.isascii():
        return sum(one.search(value) is not None for one in _CLASSES)
    lower = upper = digit = other = 0
    for char in value:
        if char.islower():
            lower = 1
        elif char.isupper():
            upper = 1
        elif char.isdigit():
            digit = 1
        else:
            other = 1
    return lower + upper + digit + other


_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^A-Za-z0-9]+")
_UUID = re.compile(r"\{?[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\}?")
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F]+")
_NUMBER = re.compile(r"[0-9.,:_/TZ+eE-]+")
_PLACE = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]{1,20}:)?//|[~.]{0,2}/|[A-Za-z]:[/\\]|www\.")
_CALL = re.compile(r"([A-Za-z_$][\w.$:<>-]*)[(\[{]")
_DOTTED = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|->|/)[A-Za-z_$][\w$-]*)+")
_CONSTANT = re.compile(r"[A-Z]{2,20}(?:_[A-Z]{2,20})+")
_DIGEST = re.compile(r"(?:sha[0-9]{1,3}|md5)[-:=]")


def is_uuid(value: str) -> bool:
    """Whether it has the form of a UUID: drawn, but most often a name."""
    return _UUID.fullmatch(value) is not None


def drawn(value: str, *, strict: bool) -> bool:
    """Whether a value of at least 12 characters looks drawn at random.

    Args:
        strict: nothing but the value speaks for a secret.
    """
    if classes(value) < 2 or entropy(value[:64]) < (3.5 if strict else 3.0):
        return False
    if _NUMBER.fullmatch(value) or _DIGEST.match(value) or _CONSTANT.fullmatch(value):
        return False
    if _PLACE.match(value) and (strict or common_pairs(re.findall("[A-Za-z]+", value)) >= 0.5):
        return False
    if _UUID.fullmatch(value) or _HEX.fullmatch(value):
        return not strict
    return not (is_written(value) or _is_call(value, strict) or _is_dotted(value, strict))


# The pairs of letters that make up five sixths of the words in programs, a quarter of drawn ones.
_PAIRS = frozenset(
    "ab ac ad ag ai al am an ap ar as at au ay ba be bi bl bo ca ce ch ci ck cl co cr ct cu da de "
    "di do ds ea ec ed ee ef eg el em en ep er es et ev ex fe ff fi fo ge gi gr ha he hi ho ia ib "
    "ic id ie if ig il im in io ip ir is it iv iz ke la le li ll lo ls lt lu ly ma me mi mo mp mu "
    "na nc nd ne nf ng ni no ns nt oc od ol om on oo op or os ot ou ow pa pe pi pl po pp pr pt qu "
    "ra rc rd re ri rm ro rr rs rt ru ry sa sc se sh si so sp ss st su ta te th ti to tr ts tt tu "
    "ty ub ue ul um un up ur us ut va ve vi wa ze".split()
)


def common_pairs(letters: list[str]) -> float:
    """The share of usual pairs in runs of letters; 1 where there is no pair."""
    usual = total = 0
    for run in letters:
        for at in range(len(run) - 1):
            total += 1
            usual += run[at : at + 2].lower() in _PAIRS
    return usual / total if total else 1.0


_JUDGED = 160


def is_written(value: str) -> bool:
    """Whether it is made of words: letters in long runs and usual pairs, few digits."""
    parts = _PARTS.findall(value[:_JUDGED])
    letters = [part for part in parts if part[0].isalpha()]
    digits = sum(part[0].isdigit() for part in parts)
    if not letters or common_pairs(letters) < 0.5:
        return False
    mean = sum(map(len, letters)) / len(letters)
    return mean >= 3.0 if digits == 0 else mean >= 3.5 and digits <= 1 + len(letters) // 3


def _is_call(value: str, strict: bool) -> bool:
    match = _CALL.match(value)
    if match is None:
        return False
    return is_written(match.group(1)) or (strict and value.rstrip(";")[-1:] in ")]}")


def _is_dotted(value: str, strict: bool) -> bool:
    return _DOTTED.fullmatch(value) is not None and (strict or is_written(value))
