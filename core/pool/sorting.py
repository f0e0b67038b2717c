"""Sorting that can be paused: a long list in one go would hold up whoever drives it."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

from fabricd.core.steps import OPERATIONS, Steps

_RUN = 4096


class _Ordered(Protocol):
    def __lt__(self, other: Any, /) -> bool: ...


T = TypeVar("T", bound=_Ordered)


def sorted_steps(items: Sequence[T]) -> Steps[list[T]]:
    """The items in order."""
    runs: list[list[T]] = []
    for first in range(0, len(items), _RUN):
        runs.append(sorted(items[first : first + _RUN]))
        yield
    if len(runs) < 2:
        return runs[0] if runs else []
    merged: list[T] = []
    for item in heapq.merge(*runs):
        merged.append(item)
        if len(merged) % OPERATIONS == 0:
            yield
    return merged
