"""Where to go on reading a session file: the decisions, without the reading.

A path proves nothing and an inode is reused, so identity is device, inode, birth time, and the hash
of the head, of the bytes just before the cursor, and of a stretch in between: a file rewritten in
place to a larger size keeps the first three and often the fourth. Of a file of up to 33 KiB every
byte before the cursor is looked at.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Literal, TypeAlias

from msgspec import Struct

from fabricd.core.window import SessionFile

HEAD = 1024
ANCHOR = 16 * 1024
MIDDLE = 16 * 1024
YOUNG_NS = 2_000_000_000

RestartReason: TypeAlias = Literal[
    "new-file",
    "replaced",
    "truncated",
    "rewritten",
    "head-changed",
    "anchor-changed",
    "middle-changed",
]


class FileStat(Struct, frozen=True, gc=False):
    """What the file system says of an open file. `birth_ns` is 0 where it does not tell."""

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int
    birth_ns: int = 0


class Print(Struct, frozen=True, gc=False):
    """The hash of a stretch of bytes and its length."""

    digest: str = ""
    length: int = 0


def print_of(data: bytes) -> Print:
    """The print of a stretch of bytes."""
    return Print(blake2b(data, digest_size=16).hexdigest(), len(data))


NOTHING = print_of(b"")


class Mark(Struct, frozen=True, gc=False):
    """How far a file was read, and how to recognise it.

    `offset` is the byte after the last whole record; `seen` the file as it was when everything
    up to `seen.size` had been read. `young` means that it had been modified so shortly before
    that an equal time stamp does not prove equal content.
    """

    seen: FileStat
    offset: int
    head: Print
    anchor: Print
    young: bool
    middle: Print = NOTHING


class Unchanged(Struct, frozen=True, gc=False):
    """Nothing to read."""


class Look(Struct, frozen=True, gc=False):
    """The stat alone does not tell: read head, anchor and middle, then ask `second_look`."""


class Resume(Struct, frozen=True, gc=False):
    """Go on at this byte."""

    offset: int


class Restart(Struct, frozen=True, gc=False):
    """Read from the start; what was counted of the old content no longer stands."""

    reason: RestartReason


def middle_of(offset: int) -> tuple[int, int]:
    """Where the stretch between head and anchor starts that a cursor vouches for, and its size.

    Chosen by the cursor itself, so that it is another one after each record.
    """
    room = offset - ANCHOR - HEAD
    if room <= 0:
        return HEAD, 0
    size = min(MIDDLE, room)
    mixed = offset * 0x9E3779B97F4A7C15 >> 20
    return HEAD + mixed % (room - size + 1), size


def is_young(stat: FileStat, now_ns: int) -> bool:
    """Whether a file was modified so recently that its time stamp may repeat."""
    return now_ns - stat.mtime_ns < YOUNG_NS


def first_look(mark: Mark | None, stat: FileStat) -> Unchanged | Look | Restart:
    """Decide by the stat alone, as far as that goes."""
    if mark is None:
        return Restart("new-file")
    seen = mark.seen
    if (stat.device, stat.inode, stat.birth_ns) != (seen.device, seen.inode, seen.birth_ns):
        return Restart("replaced")
    if stat.size < mark.offset or stat.size < seen.size:
        return Restart("truncated")
    if stat.size == seen.size:
        if stat.mtime_ns != seen.mtime_ns:
            return Restart("rewritten")
        if stat.ctime_ns == seen.ctime_ns and not mark.young:
            return Unchanged()
    return Look()


def is_as_seen(mark: Mark | None, file: SessionFile) -> bool:
    """Whether a listing alone says that a file need not even be opened."""
    if mark is None or mark.young:
        return False
    seen = mark.seen
    return (file.inode, file.size, file.mtime_ns, file.ctime_ns) == (
        seen.inode,
        seen.size,
        seen.mtime_ns,
        seen.ctime_ns,
    )


def second_look(
    mark: Mark, stat: FileStat, head: bytes, anchor: bytes, middle: bytes
) -> Unchanged | Resume | Restart:
    """Decide with the bytes at hand.

    Args:
        head: the first `mark.head.length` bytes of the file.
        anchor: the `mark.anchor.length` bytes before `mark.offset`.
        middle: the `mark.middle.length` bytes where `middle_of` says.
    """
    if print_of(head) != mark.head:
        return Restart("head-changed")
    if print_of(anchor) != mark.anchor:
        return Restart("anchor-changed")
    if print_of(middle) != mark.middle:
        return Restart("middle-changed")
    # An open end lies behind the anchor: only reading it again tells whether it is the same.
    is_same = stat.size == mark.seen.size == mark.offset
    return Unchanged() if is_same else Resume(mark.offset)
