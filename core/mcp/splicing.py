"""Edits carried out in the bytes that were sent: what no edit is about stays as it was written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fabricd.core.canonical import string_text, utf8
from fabricd.core.mcp.objects import Member, NotRead, members, require_unique, scan, skip
from fabricd.core.normalform.extended import Edit


class _Place:
    """What happens at one place, and below it."""

    __slots__ = ("below", "drop", "rename", "replace")

    def __init__(self) -> None:
        self.rename: str | None = None
        self.drop = False
        self.replace: str | None = None
        self.below: dict[str | int, _Place] = {}


def spliced(line: bytes, span: tuple[int, int], edits: Sequence[Edit]) -> bytes:
    """The line with the edits carried out in the JSON text that stands at `span`.

    Raises:
        NotRead: the text has a name twice somewhere, or no place that an edit is about.
    """
    text = line.decode("latin-1")
    require_unique(text, span[0])
    top = _tree(edits)
    if top.replace is not None:
        cuts = [(*span, _raw(top.replace))]
    else:
        cuts = list(_cuts(text, span[0], top))
    del text
    whole = memoryview(line)
    parts: list[bytes | memoryview] = []
    at = 0
    for start, end, new in cuts:
        parts += (whole[at:start], new)
        at = end
    return b"".join([*parts, whole[at:]])


def _tree(edits: Iterable[Edit]) -> _Place:
    top = _Place()
    for edit in edits:
        place = top
        for step in edit.path:
            below = place.below.get(step)
            if below is None:
                below = place.below[step] = _Place()
            place = below
        match edit.kind:
            case "rename":
                place.rename = edit.text
            case "drop":
                place.drop = True
            case "replace":
                place.replace = edit.text
    return top


def _raw(text: str) -> bytes:
    # A message is a line: white space between tokens must not end it. In strings there is none.
    text = text.replace("\n", " ").replace("\r", " ")
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise NotRead("a text without a UTF-8 form") from None


def _cuts(text: str, at: int, place: _Place) -> Iterator[tuple[int, int, bytes]]:
    """What is cut out and put in, in the order of the text."""
    if text.startswith("{", at):
        found, _ = members(text, at)
        if not place.below.keys() <= {member.name for member in found}:
            raise NotRead("no such member")
        yield from _member_cuts(text, found, place)
    elif text.startswith("[", at):
        yield from _item_cuts(text, at, place)
    else:
        raise NotRead("nothing is in a scalar")


def _member_cuts(
    text: str, found: Sequence[Member], place: _Place
) -> Iterator[tuple[int, int, bytes]]:
    index = 0
    while index < len(found):
        here = place.below.get(found[index].name)
        if here is None or not here.drop:
            if here is not None:
                yield from _change(text, found[index], here)
            index += 1
            continue
        first = index
        while index < len(found) and _is_dropped(found[index], place):
            index += 1
        # With the comma behind them; of the last ones with the comma before them.
        if index < len(found):
            yield found[first].key[0], found[index].key[0], b""
        else:
            start = found[first - 1].end if first else found[first].key[0]
            yield start, found[-1].end, b""


def _is_dropped(member: Member, place: _Place) -> bool:
    here = place.below.get(member.name)
    return here is not None and here.drop


def _change(text: str, member: Member, here: _Place) -> Iterator[tuple[int, int, bytes]]:
    if here.rename is not None:
        yield *member.key, utf8(string_text(here.rename))
    if here.replace is not None:
        yield member.start, member.end, _raw(here.replace)
    elif here.below:
        yield from _cuts(text, member.start, here)


def _item_cuts(text: str, at: int, place: _Place) -> Iterator[tuple[int, int, bytes]]:
    index, at, met = 0, skip(text, at + 1), 0
    while not text.startswith("]", at):
        _, end = scan(text, at)
        here = place.below.get(index)
        if here is not None:
            met += 1
            if here.replace is not None:
                yield at, end, _raw(here.replace)
            else:
                yield from _cuts(text, at, here)
        at = skip(text, end)
        if text.startswith(",", at):
            at = skip(text, at + 1)
        elif not text.startswith("]", at):
            raise NotRead("a comma is missing")
        index += 1
    if met != len(place.below):
        raise NotRead("no such item")
