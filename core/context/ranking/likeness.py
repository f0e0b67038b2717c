"""Units that say the same, or nearly the same, as a better one."""

from __future__ import annotations

from collections.abc import Sequence

# Of sketches: two texts with nine of ten shingles in common.
NEARLY = 0.9
_LEAST = 8
# Sketches of nearly the same texts share one of so many smallest hashes.
_KEYS = 3


def first_alike(digests: Sequence[bytes]) -> list[int]:
    """For each text the index of the first before it that is equal, else -1."""
    seen: dict[bytes, int] = {}
    found: list[int] = []
    for index, digest in enumerate(digests):
        first = seen.setdefault(digest, index)
        found.append(first if first != index else -1)
    return found


def nearly_alike(sketches: Sequence[Sequence[int]]) -> list[bool]:
    """For each text whether one before it is nearly the same. Very short texts never are.

    Args:
        sketches: each ascending.
    """
    by_key: dict[int, list[int]] = {}
    found: list[bool] = []
    for index, sketch in enumerate(sketches):
        keys = sketch[:_KEYS] if len(sketch) >= _LEAST else ()
        before = {other for key in keys for other in by_key.get(key, ())}
        found.append(any(_are_near(sketch, sketches[other]) for other in sorted(before)))
        for key in keys:
            by_key.setdefault(key, []).append(index)
    return found


def _are_near(a: Sequence[int], b: Sequence[int]) -> bool:
    """By the smallest hashes of both together, as many as the smaller sketch has."""
    size = min(len(a), len(b))
    common = set(a).intersection(b)
    if len(common) < NEARLY * size:
        return False
    smallest = sorted({*a, *b})[:size]
    return sum(key in common for key in smallest) >= NEARLY * size
