"""Numbers as Prometheus text, version 0.0.4."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

from fabricd.core.plain import is_object


class Family(NamedTuple):
    """One metric: where its numbers stand, and under which name they go out.

    `labels` name the levels of an object of numbers, from the outside in.
    """

    group: Literal["counters", "gauges"]
    member: str
    name: str
    purpose: str
    labels: tuple[str, ...] = ()


class Sample(NamedTuple):
    """One number, with the values of its family's labels."""

    values: tuple[str, ...]
    number: int | float


def rendered(families: Iterable[Family], numbers: Mapping[str, object]) -> str:
    """Every family that has numbers, in order; what has none, or no sound one, is left out."""
    return "".join(line for family in families for line in _lines(family, numbers))


def _lines(family: Family, numbers: Mapping[str, object]) -> Iterator[str]:
    group = numbers.get(family.group)
    found = group.get(family.member) if is_object(group) else None
    kind = "counter" if family.group == "counters" else "gauge"
    samples = [*_samples(found, len(family.labels), ())]
    if not samples:
        return
    yield f"# HELP {family.name} {_escaped(family.purpose)}\n# TYPE {family.name} {kind}\n"
    for sample in samples:
        pairs = zip(family.labels, sample.values, strict=True)
        labels = ",".join(f'{label}="{_quoted(value)}"' for label, value in pairs)
        yield f"{family.name}{f'{{{labels}}}' if labels else ''} {sample.number!r}\n"


def _samples(found: object, levels: int, values: tuple[str, ...]) -> Iterator[Sample]:
    if levels:
        inner = sorted(found.items()) if is_object(found) else ()
        for value, deeper in inner:
            yield from _samples(deeper, levels - 1, (*values, value))
    elif isinstance(found, (int, float)) and not isinstance(found, bool):
        yield Sample(values, found)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def _quoted(text: str) -> str:
    # A lone surrogate has no UTF-8 form; whoever reads this expects one.
    sound = text.encode("utf-8", "backslashreplace").decode()
    return _escaped(sound).replace('"', '\\"')
