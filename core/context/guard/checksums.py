"""Checksums that makers put into their tokens, so that a made-up one can be told."""

from __future__ import annotations

from zlib import crc32

# Makers name base 62 without its order; the three in use are accepted, and chance stays nil.
_ORDERS = (
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
)
_DIGITS = 6


def ends_in_crc32(token: str) -> bool:
    """Whether what follows the last `_` ends in the CRC-32 of the rest, as six base 62 digits."""
    body = token.rpartition("_")[2]
    number = crc32(body[:-_DIGITS].encode("utf-8", "replace"))
    return any(body[-_DIGITS:] == _base62(number, digits) for digits in _ORDERS)


def _base62(number: int, digits: str) -> str:
    text = ""
    for _ in range(_DIGITS):
        number, digit = divmod(number, 62)
        text = digits[digit] + text
    return text
