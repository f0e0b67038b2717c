"""Long pure work is written as generators that yield between chunks and return the result."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeAlias, TypeVar

T = TypeVar("T")
Steps: TypeAlias = Generator[None, None, T]

OPERATIONS = 256
ACTIONS = 8
REPLAYS = 16


def finish(steps: Steps[T]) -> T:
    """Drive steps to their end without a pause: what offline commands and tests do."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: T = end.value
            return result
