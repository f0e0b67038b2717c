"""The plain values that arguments took: what the pool counts and the author's review looks at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from msgspec import Struct

from fabricd.core.javascript import is_array_index, number_text
from fabricd.core.model import AuditCall

Scalar: TypeAlias = "str | bool | int | float"


class Observed(Struct, frozen=True, gc=False):
    """How often an argument had a value."""

    ref: str
    key: str
    value: Scalar
    count: int = 1


def typed_text(value: Scalar) -> tuple[str, str]:
    """The JavaScript type name and text of a value: together they identify it.

    Raises:
        NumberOutOfRange: an integer is beyond the range of a double.
    """
    if isinstance(value, bool):
        return "boolean", "true" if value else "false"
    if isinstance(value, str):
        return "string", value
    return "number", number_text(value)


def scalars_of(call: AuditCall) -> Iterator[tuple[str, Scalar]]:
    """The plain arguments of a call, array-index names first as the host lists them."""
    names: Iterable[str] = call.args
    if indices := sorted(filter(is_array_index, call.args), key=int):
        names = dict.fromkeys((*indices, *call.args))
    for name in names:
        value = call.args[name]
        if isinstance(value, (str, bool, int, float)):
            yield name, value


def observed_in(calls: Iterable[AuditCall]) -> Iterator[Observed]:
    """One observation a plain argument. The host's own actions say nothing about a tool."""
    for call in calls:
        if not call.ref.startswith("fabric."):
            for key, value in scalars_of(call):
                yield Observed(call.ref, key, value)
