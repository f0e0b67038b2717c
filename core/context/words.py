"""What lookups say to people and agents, in plain lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fabricd.core.context.explaining import RELEVANCE, Displacer, Explanation
from fabricd.core.context.receipt import Item
from fabricd.core.context.rendering.pieces import Piece, Shown
from fabricd.core.context.rendering.writing import file_header, text_of
from fabricd.core.plain import printable

# What is no part of a relevance but a share that was left of it.
_LEFT = {
    "kind": "left of each part, for the query asks for no file of this kind",
    "similar": "left of the relevance, for a better unit is nearly the same",
}
_NO_PARTS = frozenset({RELEVANCE, *_LEFT})


def explained(told: Sequence[Explanation]) -> str:
    """Why units were given, or were not; what stands in their place once, below all of them."""
    lines = [line for found in told for line in _explained(found)]
    displaced = next((found.displaced for found in told if found.displaced), ())
    if displaced:
        lines.append("  what was given for least value per token:")
        lines += [f"    {_displacer(one)}" for one in displaced]
    return "".join(f"{line}\n" for line in lines)


def _explained(found: Explanation) -> Iterator[str]:
    place = f"{found.path}:{found.start}-{found.end} {found.kind} {found.name}".rstrip()
    if found.n is not None:
        yield f"{printable(place)}: given as #{found.n}, {found.level}"
    elif found.recomputed:
        yield f"{printable(place)}: left out; not among the best that the receipt tells of"
    else:
        yield f"{printable(place)}: left out ({found.reason})"
    note = " (ranked again now)" if found.recomputed else ""
    if found.rank is not None:
        yield f"  rank {found.rank}{note}"
    elif found.recomputed:
        yield f"  no rank: nothing of the query is in it, or too much else has more{note}"
    yield from _parts(found.features)
    if found.level != "full" and (found.searched or found.rank is not None):
        yield from _budget(found)


def _parts(features: Mapping[str, int]) -> Iterator[str]:
    """What the relevance is made of, the largest first, on one line: there may be many units."""
    parts = sorted(
        ((name, value) for name, value in features.items() if name not in _NO_PARTS),
        key=lambda one: (-abs(one[1]), one[0]),
    )
    made = ", ".join(f"{name} {_share(value)}" for name, value in parts)
    if RELEVANCE in features:
        yield f"  relevance {_share(features[RELEVANCE])}" + (f" of {made}" if made else "")
    elif made:
        yield f"  {made}"
    for name, why in _LEFT.items():
        if name in features:
            yield f"  {name} {_share(features[name])}: {why}"


def _share(millionths: int) -> str:
    return f"{millionths / 1_000_000:.4f}"


def _budget(found: Explanation) -> Iterator[str]:
    if found.budget is not None:
        yield f"  whole with a budget of {found.budget}"
    elif found.searched:
        yield "  whole with no budget up to 64000"
    else:
        yield "  what budget would give it whole is not known: the choice is not kept"


def _displacer(one: Displacer) -> str:
    name = f" {printable(one.name)}" if one.name else ""
    place = f"{printable(one.path)}:{one.start}-{one.end}{name}"
    return f"#{one.n} {place} {one.level}, {one.tokens} tokens"


def recovered(item: Item, text: str) -> str:
    """An item as it was delivered, below the headers that it would have in an answer."""
    lines = tuple(text.removesuffix("\n").split("\n"))
    shown: Shown = "skeleton" if item.level == "skeleton" else "full"
    _, _, name = item.name.rpartition(".")
    within = item.name[: -len(name) - 1] if name != item.name else ""
    piece = Piece(
        item.path,
        item.start,
        item.end,
        item.kind,
        name,
        shown,
        "" if shown == "skeleton" else within,
        (0, 0),
        item.n,
        bool(item.signals),
        lines,
    )
    return file_header(item.path) + text_of(piece)
