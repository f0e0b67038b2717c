"""The times of receipts. Their days are not those of a calendar: every month has 31."""

from __future__ import annotations

import re

_TIME = re.compile(
    r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])T"
    r"(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?|24:00:00(?:\.0+)?)"
    r"(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
)


def is_time(value: object) -> bool:
    """Whether a value is a time as receipts write it."""
    return isinstance(value, str) and _TIME.fullmatch(value) is not None
