"""Edits carried out in the bytes that were sent: what no edit is about stays as it was written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from fabricd.core.canonical import string_text, utf8
from fabricd.core.jsontext.members import Member, NotRead, members, require_unique, scan, skip
from fabricd.core.normalform.extended.repaired import Edit

# Start, end, and what stands there instead.
Cut: TypeAlias = tuple[int, int, bytes]


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
    require_unique(line[slice(*span)])
    text = line.decode("latin-1")
    top = _tree(edits)
    if top.replace is not None:
        cuts = [(*span, _raw(top.replace))]
    else:
        cuts = _cuts(text, span[0], top)
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


def _cuts(text: str, at: int, top: _Place) -> list[Cut]:
    """What is cut out and put in, in the order of the text."""
    cuts: list[Cut] = []
    # Nothing recurses: a call may nest deeper than the interpreter likes.
    pending = [(at, top)]
    while pending:
        at, place = pending.pop()
        if text.startswith("{", at):
            found, _ = members(text, at)
            if not place.below.keys() <= {member.name for member in found}:
                raise NotRead("no such member")
            _member_cuts(found, place, cuts, pending)
        elif text.startswith("[", at):
            _item_cuts(text, at, place, cuts, pending)
        else:
            raise NotRead("nothing is in a scalar")
    return sorted(cuts)


def _member_cuts(
    found: Sequence[Member], place: _Place, cuts: list[Cut], deeper: list[tuple[int, _Place]]
) -> None:
    index = 0
    while index < len(found):
        here = place.below.get(found[index].name)
        if here is None or not here.drop:
            if here is not None:
                _change(found[index], here, cuts, deeper)
            index += 1
            continue
        first = index
        while index < len(found) and _is_dropped(found[index], place):
            index += 1
        # With the comma behind them; of the last ones with the comma before them.
        if index < len(found):
            cuts.append((found[first].key[0], found[index].key[0], b""))
        else:
            start = found[first - 1].end if first else found[first].key[0]
            cuts.append((start, found[-1].end, b""))


def _is_dropped(member: Member, place: _Place) -> bool:
    here = place.below.get(member.name)
    return here is not None and here.drop


def _change(
    member: Member, here: _Place, cuts: list[Cut], deeper: list[tuple[int, _Place]]
) -> None:
    if here.rename is not None:
        cuts.append((*member.key, utf8(string_text(here.rename))))
    if here.replace is not None:
        cuts.append((member.start, member.end, _raw(here.replace)))
    elif here.below:
        deeper.append((member.start, here))


def _item_cuts(
    text: str, at: int, place: _Place, cuts: list[Cut], deeper: list[tuple[int, _Place]]
) -> None:
    index, at, met = 0, skip(text, at + 1), 0
    while not text.startswith("]", at):
        _, end = scan(text, at)
        here = place.below.get(index)
        if here is not None:
            met += 1
            if here.replace is not None:
                cuts.append((at, end, _raw(here.replace)))
            else:
                deeper.append((at, here))
        at = skip(text, end)
        if text.startswith(",", at):
            at = skip(text, at + 1)
        elif not text.startswith("]", at):
            raise NotRead("a comma is missing")
        index += 1
    if met != len(place.below):
        raise NotRead("no such item")
