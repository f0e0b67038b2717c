"""How deep a JSON text nests, found by one pass over its bytes before any decoder sees it.

Decoders and the validator recurse; their own limits depend on the caller's stack or end the
process. So depth is bounded here, and no reader has to catch a recursion error.
"""

from __future__ import annotations

from collections.abc import Generator
from itertools import accumulate

from fabricd.core.plain import is_list, is_object

RECORD_LEVELS = 512
SCHEMA_LEVELS = 64

_NOT_BRACKETS = bytes(char for char in range(256) if char not in b"[]{}")
_STEP = bytes(1 if char in b"[{" else 255 if char in b"]}" else 0 for char in range(256))
_BLOCK = 1 << 18


class TooDeep(ValueError):
    """Raised by `require_depth`: a JSON text nests deeper than its reader allows."""

    def __init__(self, levels: int) -> None:
        super().__init__(f"nested more than {levels} levels deep")
        self.levels = levels


def _outside_strings(block: bytes, inside: bool) -> tuple[bytes, bool]:
    pieces = block.split(b'"')
    return b"".join(pieces[inside::2]), inside ^ (len(pieces) % 2 == 0)


def may_exceed(data: bytes, levels: int) -> bool:
    """The cheap question first: are there enough brackets at all, and room to close them?

    What is never closed is no JSON, and its reader says so.
    """
    if len(data) <= 2 * levels:
        return False
    # To take brackets out leaps from one to the next; `count` looks at every byte.
    without = data.replace(b"{", b"", levels + 1).replace(b"[", b"", levels + 1)
    return len(data) - len(without) > levels


def depth_steps(data: bytes, levels: int) -> Generator[None, None, bool]:
    """Whether brackets outside strings ever stand more than `levels` deep.

    Yields every 256 KiB, so that a hostile record of 32 MiB holds nobody up.
    """
    if not may_exceed(data, levels):
        return False
    # Pairs first: what is left before a quote is then a backslash that escapes it.
    plain = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    depth, inside = 0, False
    for start in range(0, len(plain), _BLOCK):
        outside, inside = _outside_strings(plain[start : start + _BLOCK], inside)
        brackets = outside.translate(None, _NOT_BRACKETS)
        for first in range(0, len(brackets), 4096):
            steps = memoryview(brackets[first : first + 4096].translate(_STEP)).cast("b")
            heights = list(accumulate(steps, initial=depth))
            if max(heights) > levels:
                return True
            depth = heights[-1]
        yield
    return False


def deeper_than(data: bytes, levels: int) -> bool:
    """`depth_steps`, driven to its end."""
    if not may_exceed(data, levels):
        return False
    steps = depth_steps(data, levels)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return bool(end.value)


def value_deeper_than(value: object, levels: int) -> bool:
    """Whether a decoded value nests more than `levels` deep; walks without recursion."""
    layer: list[object] = [value]
    for _ in range(levels):
        inner: list[object] = []
        for item in layer:
            if is_object(item):
                inner.extend(item.values())
            elif is_list(item):
                inner.extend(item)
        if not inner:
            return False
        layer = [item for item in inner if isinstance(item, (dict, list))]
    return bool(layer)


def require_depth(data: bytes, levels: int) -> None:
    """Refuse a text that nests too deep.

    Raises:
        TooDeep: more than `levels`.
    """
    if deeper_than(data, levels):
        raise TooDeep(levels)
