"""What a JSON text would take in memory as values, told by its characters before it is read."""

from __future__ import annotations

# Lighter texts fit beside everything else.
_WEIGHED = 64 * 1024
_LIGHT = 3 * 1024 * 1024
_LARGE = 2 * 1024 * 1024
_BLOCK = 64 * 1024


def is_heavy(text: bytes) -> bool:
    """Whether a long text would take several times its size, and more than 3 MiB, as values."""
    if len(text) <= _WEIGHED:
        return False
    if len(text) > _LARGE and not text.isascii():
        return True
    most = max(_LIGHT, 2 * len(text))
    # The cheap question first: what stands in texts makes no values.
    return _weight(text, text.count(b'"')) > most and _is_heavier(text, most)


def _is_heavier(text: bytes, most: int) -> bool:
    # Pairs first: what is left before a quote is then a backslash that escapes it.
    if b"\\" in text:
        text = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    weight, is_inside = 0, False
    for start in range(0, len(text), _BLOCK):
        pieces = text[start : start + _BLOCK].split(b'"')
        weight += _weight(b"".join(pieces[is_inside::2]), len(pieces) - 1)
        if weight > most:
            return True
        is_inside ^= len(pieces) % 2 == 0
    return False


def _weight(bare: bytes, quotes: int) -> int:
    boxes = 240 * bare.count(b"{") + 80 * bare.count(b"[")
    return boxes + 36 * quotes + 32 * bare.count(b",")
