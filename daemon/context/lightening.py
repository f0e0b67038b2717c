"""Giving back memory that a worker has and does not need.

A vocabulary is read once out of 30 MiB of its library, and grammars hold 20 MiB that only indexing
reads; what indexing leaves behind is free, but still with the allocator.
"""

from __future__ import annotations

import contextlib
import re
import resource
import sys
from collections.abc import Callable, Iterable
from typing import NamedTuple

# What has to have come since the last time. Bytes.
WORTH = 16 * 1024 * 1024

_LIBRARY = re.compile(r"/(?:rs_bpe|bpe_openai|tree_sitter_[^/]+)/")
_HEAD = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (r--p) \S+ \S+ \d+ +(/.*)")
_SMALL = 256 * 1024
_DONTNEED = 4


class _Mapping(NamedTuple):
    begin: int
    size: int


class Lightening:
    """Does it whenever it is worth it."""

    def __init__(self, rest: Callable[[], None]) -> None:
        """`rest` is called before: it lets go of what nobody needs."""
        self._rest = rest
        self._least = 0

    def look(self) -> None:
        """Give back what can be, if enough has come."""
        if resident() - self._least > WORTH:
            self._rest()
            lighten()
            self._least = resident()


def resident() -> int:
    """The resident memory of this process in bytes; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return 0


def lighten() -> None:
    """Give back constants of libraries, which are read from the file again if need be.

    Linux alone; elsewhere nothing is done.
    """
    if not sys.platform.startswith("linux"):
        return
    # Of another C library, or without one, something is missing: then nothing is given back.
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import ctypes

        libc = ctypes.CDLL(None)
        libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        with open("/proc/self/smaps", encoding="utf-8", errors="replace") as file:
            found = list(constants(file))
        for mapping in found:
            libc.madvise(mapping.begin, mapping.size, _DONTNEED)
        libc.malloc_trim(0)


def constants(smaps: Iterable[str]) -> Iterable[_Mapping]:
    """Mappings of our libraries that are read only, and whose pages are all those of the file.

    One page that was written, as where addresses were put in, would be lost; also one that was
    swapped out since, which is not counted as anonymous.
    """
    mapping: _Mapping | None = None
    for line in smaps:
        if (head := _HEAD.match(line)) is not None:
            begin, end = int(head[1], 16), int(head[2], 16)
            is_ours = end - begin >= _SMALL and _LIBRARY.search(head[4]) is not None
            mapping = _Mapping(begin, end - begin) if is_ours else None
        elif line[:1].islower() or line[:1].isdigit():
            # Some other mapping: what is told of one begins with a capital.
            mapping = None
        elif mapping is not None and line.startswith(("Anonymous:", "Swap:")):
            if line.split()[1] != "0":
                mapping = None
            elif line.startswith("Swap:"):
                yield mapping
                mapping = None
