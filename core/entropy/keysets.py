"""What the author's review needs beside the counts: argument names, and unbroken runs of success.

Both are kept as texts that add up like any other count. Argument names mostly follow from the shape
of a call; they are kept apart only where a shape does not tell them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence

from fabricd.core.canonical import as_given, text
from fabricd.core.javascript import sorted_by_units

RUN = 3
_GLUE = "\0"
# The host's own actions end a run.
_PRIMITIVE = re.compile("\0(?:pi|fabric)\\.[^\0]*")
_LONG = re.compile("[^\0]\0[^\0]+\0[^\0]")
_MAX_REFS = 2048
_REMEMBERED = 4096
_DOUBTFUL = 1 << 32


class _Widths(dict[str, int]):
    """How many argument names can be read off a shape, remembered: sessions repeat a few shapes."""

    def __missing__(self, shape: str) -> int:
        width = 0 if shape == "()" else shape.count(",") + 1
        if shape.count(":") != width or "{" in shape or "\u2026" in shape:
            width = _DOUBTFUL
        if len(self) >= _REMEMBERED:
            self.clear()
        self[shape] = width
        return width


_widths = _Widths()


def tells_names(shape: str, args: Mapping[str, object]) -> bool:
    """Whether the shape of these arguments tells their names without doubt.

    A name with a comma or a colon in it makes more parts than there are arguments.
    """
    return _widths[shape] == len(args)


def keyset_text(args: Iterable[str]) -> str:
    """The sorted argument names as a JSON list."""
    return text(sorted_by_units(args), as_given)


def _names_in(shape: str) -> str:
    inner = shape[1:-1]
    return keyset_text(part.rpartition(":")[0] for part in inner.split(",")) if inner else "[]"


def keysets_of(
    shapes: Mapping[str, int], odd: Mapping[str, Mapping[str, int]]
) -> dict[tuple[str, ...], int]:
    """Calls by their exact argument names, sorted."""
    counts: dict[str, int] = {}
    for shape, calls in shapes.items():
        apart = odd.get(shape, {})
        for keyset, times in apart.items():
            counts[keyset] = counts.get(keyset, 0) + times
        plain = calls - sum(apart.values())
        if plain:
            keyset = _names_in(shape)
            counts[keyset] = counts.get(keyset, 0) + plain
    return {tuple(json.loads(keyset)): calls for keyset, calls in counts.items()}


def runs_text(ended: Sequence[str]) -> str:
    """The unbroken successes of a trace, of those with at least three; empty where there are none.

    Only the first 2,048 operations are looked at: no host writes more.

    Args:
        ended: the refs of its operations in order, empty for those that did not succeed.
    """
    first = ended if len(ended) <= _MAX_REFS else ended[:_MAX_REFS]
    joined = _GLUE + _GLUE.join(first)
    if joined.count(_GLUE) > len(first):
        # A ref with the separator inside could not be told apart again: it ends a run.
        joined = _GLUE.join(("", *("" if _GLUE in ref else ref for ref in first)))
    if "\0pi." in joined or "\0fabric." in joined:
        joined = _PRIMITIVE.sub(_GLUE, joined)
    # Without a break in it, it is one run; most are.
    unbroken = len(first) >= RUN and _GLUE * 2 not in joined and joined[-1] != _GLUE
    return joined if unbroken or _LONG.search(joined) else ""


def runs_in(joined: str) -> list[list[str]]:
    """The runs of at least three refs in a text that `runs_text` made."""
    runs = [part.strip(_GLUE).split(_GLUE) for part in joined.split(_GLUE * 2)]
    return [run for run in runs if len(run) >= RUN]
