"""Whether work grows with the length of what it is given, or with its square.

No second is counted here: how fast a machine is says nothing about the code, and benchmarks tell
the figures. Four times the length takes four times as long where work is linear and sixteen times
where it is quadratic; eight parts the two, also beside others at work.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

MUCH = 8.0
# Shorter than this is noise, and no square of any length that is asked about.
SHORT_SECONDS = 0.04
TRIES = 5


def grows_with_length(make: Callable[[int], T], act: Callable[[T], object], length: int) -> bool:
    """Whether `act` on what `make(length)` gives takes far less than a square of it would."""
    least: dict[int, float] = {}
    for _ in range(TRIES):
        for size in (length // 4, length):
            took = _cpu(act, make(size))
            least[size] = min(took, least.get(size, took))
        if least[length] < SHORT_SECONDS or least[length] < least[length // 4] * MUCH:
            return True
    return False


def _cpu(act: Callable[[T], object], given: T) -> float:
    # A collection costs by what else the process keeps.
    gc.disable()
    try:
        started = time.thread_time()
        act(given)
        return time.thread_time() - started
    finally:
        gc.enable()
