"""Two short names of a text: one that equal texts share, one that similar texts nearly share."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from zlib import crc32

import numpy as np
import numpy.typing as npt

SHINGLE = 5  # words
KEPT = 32

_REMEMBERED = 65_536
_LONG = 100  # letters of a word that is not remembered
_FACTORS = np.array([0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1], np.uint32)
_MIX = np.uint32(0x2C1B3C6D)
_SHIFT = np.uint32(15)
_WIDTH = np.uint64(32)
_FIRST = np.ones(1, np.bool_)
_LOW = np.uint64(0xFFFFFFFF)


def _hash(word: str) -> int:
    return crc32(word.encode("utf-8", "replace"))


class _Hashes(dict[str, int]):
    """Hashes of words; of those that are not remembered they are made each time."""

    def __missing__(self, word: str) -> int:
        return _hash(word)


_HASHES = _Hashes()


def digest(text: str) -> bytes:
    """8 bytes that are equal where texts are but for white space."""
    return blake2b(" ".join(text.split()).encode(errors="replace"), digest_size=8).digest()


def sketches(words: Sequence[str], each: set[str], sizes: Sequence[int]) -> tuple[bytes, ...]:
    """For each unit the `KEPT` smallest hashes of five words in a row, ascending, 4 bytes each.

    A unit of fewer words has none: it is too short to be like another.

    Args:
        words: those of all units, one unit's behind the other's.
        each: the same, each once.
        sizes: how many are each unit's.
    """
    row = np.fromiter(map(_hashes(each).__getitem__, words), np.uint32, len(words))
    width = len(row) - SHINGLE + 1
    if width < 1:
        return (b"",) * len(sizes)
    mixed = row[:width] * _FACTORS[0]
    for k in range(1, SHINGLE):
        mixed ^= mixed >> _SHIFT
        mixed *= _MIX
        mixed += row[k : k + width] * _FACTORS[k]
    return _smallest(mixed, np.array(sizes, np.int64))


def forget() -> None:
    """Let go of what is remembered of words."""
    _HASHES.clear()


def _hashes(words: set[str]) -> dict[str, int]:
    """32 bits of each word, the same in every process; those of others are in it as well."""
    if len(_HASHES) >= _REMEMBERED:
        _HASHES.clear()
    # Few words of a file stand in none that was read lately. (`difference` would go through all of
    # what is remembered each time.)
    for word in words:
        if word not in _HASHES and len(word) <= _LONG:
            _HASHES[word] = _hash(word)
    return _HASHES


def _smallest(hashes: npt.NDArray[np.uint32], sizes: npt.NDArray[np.int64]) -> tuple[bytes, ...]:
    """The sketches of units whose words have these hashes, of five words from each on."""
    size = len(hashes)
    starts = np.cumsum(sizes) - sizes
    unit = np.repeat(np.arange(len(sizes), dtype=np.uint64), sizes)[:size]
    room = np.repeat(starts + sizes - (SHINGLE - 1), sizes)[:size]
    keys = ((unit << _WIDTH) | hashes)[np.arange(size) < room]
    keys.sort()
    keys = keys[np.concatenate([_FIRST, keys[1:] != keys[:-1]])[: len(keys)]]
    ends = np.searchsorted(keys, np.arange(1, len(sizes) + 1, dtype=np.uint64) << _WIDTH).tolist()
    values = (keys & _LOW).astype("<u4").tobytes()
    begins = [0, *ends[:-1]]
    return tuple(
        values[4 * begin : 4 * min(end, begin + KEPT)]
        for begin, end in zip(begins, ends, strict=True)
    )
