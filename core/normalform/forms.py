"""The form of a name and the exact text of a number: what two spellings must share to be one."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable

from fabricd.core.javascript import number_text
from fabricd.core.plain import MAX_SAFE_INTEGER

_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9 _-]*\Z")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?(e[+-][0-9]+)?\Z")


def form(name: str) -> str | None:
    """Lower case without space, `_` and `-`; None where the name is not plain ASCII words."""
    if _NAME.match(name) is None:
        return None
    return name.lower().replace(" ", "").replace("_", "").replace("-", "")


def unique_forms(names: Iterable[str]) -> dict[str, str]:
    """Form → name, for the forms that exactly one listed name has."""
    listed = [(form(name), name) for name in names]
    seen = Counter(shape for shape, _ in listed)
    return {shape: name for shape, name in listed if shape is not None and seen[shape] == 1}


def number_of(text: str) -> float | None:
    """The number whose JavaScript text is exactly `text`, or None.

    A safe integer comes back as `int`, anything else as the double it is.
    """
    if len(text) > 32 or _NUMBER.match(text) is None:
        return None
    value = float(text)
    if not math.isfinite(value) or number_text(value) != text:
        return None
    return int(value) if value.is_integer() and abs(value) <= MAX_SAFE_INTEGER else value
