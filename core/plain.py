"""Plain JSON values, the questions asked of them before anything else, and plain words."""

from __future__ import annotations

from typing import Any, TypeGuard

MAX_SAFE_INTEGER = 2**53 - 1


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether a decoded JSON value is an object; its keys are then texts."""
    return isinstance(value, dict)


def printable(text: str) -> str:
    """Untrusted text for a terminal: control characters and lone surrogates are spelled out."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape", "replace").decode()
        for char in text
    )


def counted(count: int, one: str, many: str) -> str:
    """A count with its noun."""
    return f"{count:,} {one if count == 1 else many}"


def is_number(value: object, wanted: int) -> bool:
    """Whether a JSON number equals `wanted`; booleans are no numbers."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == wanted


def is_count(value: object) -> TypeGuard[int | float]:
    """A safe non-negative integer; `1.0` is one, `True` is not."""
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and 0 <= value <= MAX_SAFE_INTEGER
        and value == int(value)
    )


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Whether a decoded JSON value is an array."""
    return isinstance(value, list)
