"""One pass over a session log, from its mark to its end, as steps that ask for bytes.

The steps do no I/O but `stat`: they ask for a stretch of the file and go on once they are sent it.
So an offline command reads in place, the daemon reads in a thread, and both run the same code.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Protocol, TypeAlias, TypeVar

from msgspec import Struct, structs

from fabricd.core.book import SessionBook
from fabricd.core.evidence import Evidence, total_steps
from fabricd.core.resume import (
    ANCHOR,
    HEAD,
    FileStat,
    Look,
    Mark,
    Restart,
    Resume,
    Unchanged,
    first_look,
    is_young,
    middle_of,
    print_of,
    second_look,
)
from fabricd.core.sessions.pi import ScanState, open_end_steps, scan_into
from fabricd.core.sessions.records import BLOCK, Tail
from fabricd.core.steps import OPERATIONS, Steps

T = TypeVar("T")


class Log(Protocol):
    """A session log held open."""

    def stat(self) -> FileStat:
        """The file as it is now."""
        ...

    def read(self, offset: int, size: int = BLOCK) -> bytes:
        """Up to `size` bytes at an offset; empty at the end."""
        ...


class Want(Struct, frozen=True, gc=False):
    """A request for `size` bytes at `offset`, and for those of `also` behind them.

    Fewer come only at the end of the file.
    """

    offset: int
    size: int
    also: tuple[tuple[int, int], ...] = ()


def fetch(log: Log, want: Want) -> bytes:
    """The bytes that a pass wants."""
    first = log.read(want.offset, want.size)
    if not want.also:
        return first
    return b"".join((first, *(log.read(offset, size) for offset, size in want.also)))


def in_place(
    log: Log,
    steps: Generator[Want | None, bytes, T],
    progress: Callable[[int], None] | None = None,
) -> T:
    """Carry out steps at once, reading where they ask; gives what they return."""
    data = b""
    try:
        want = next(steps)
        while True:
            if want is not None:
                data = fetch(log, want)
                if progress is not None:
                    progress(len(data))
            want = steps.send(data)
    except StopIteration as end:
        result: T = end.value
        return result


class Pass(Struct, frozen=True):
    """What one pass found.

    `fresh` is the evidence read in it: what is new since the last pass, or after a restart all
    there is. `book` is the session's book after it, except that its evidence is still that of
    before: `commit_steps` adds what is fresh, so that a cancelled pass changes nothing.
    """

    decision: Unchanged | Resume | Restart
    book: SessionBook
    fresh: Evidence
    bytes_read: int


ReadSteps: TypeAlias = Generator[Want | None, bytes, Pass]


class Trail:
    """The bytes that identify a file on the next look: its head and what precedes the cursor."""

    def __init__(self, head: bytes, anchor: bytes) -> None:
        self._head = head
        self._anchor = anchor
        self._before = anchor

    def passed(self, chunk: bytes, position: int, cursor: int) -> None:
        """A chunk that starts at `position` was read; the cursor then stood at `cursor`."""
        if len(self._head) < HEAD and len(self._head) == position:
            self._head += chunk[: HEAD - len(self._head)]
        inside = cursor - position
        if inside > 0:
            start = max(0, inside - ANCHOR)
            self._anchor = (self._before + chunk[start:inside])[-ANCHOR:]
        self._before = (self._before + chunk[-ANCHOR:])[-ANCHOR:]

    def mark(self, seen: FileStat, cursor: int, middle: bytes, now_ns: int) -> Mark:
        """The mark of a file read so far."""
        head = print_of(self._head[:cursor])
        anchor = print_of(self._anchor[-min(cursor, ANCHOR) :] if cursor else b"")
        return Mark(seen, cursor, head, anchor, is_young(seen, now_ns), print_of(middle))


Looked: TypeAlias = tuple[Unchanged | Resume | Restart, Trail]


def look_steps(mark: Mark, stat: FileStat) -> Generator[Want | None, bytes, Looked]:
    """What has become of a file that may have grown, and the trail to go on with."""
    near = (mark.offset - mark.anchor.length, mark.anchor.length)
    between = (middle_of(mark.offset)[0], mark.middle.length)
    # All in one request: in the daemon each costs a trip to a worker thread.
    found = yield Want(0, mark.head.length, (near, between))
    head, rest = found[: mark.head.length], found[mark.head.length :]
    anchor, middle = rest[: mark.anchor.length], rest[mark.anchor.length :]
    return second_look(mark, stat, head, anchor, middle), Trail(head, anchor)


def read_steps(log: Log, book: SessionBook, now_ns: int) -> ReadSteps:
    """Read what is new in a log.

    Raises:
        OSError: the log could not be read; the book is as it was.
    """
    stat = log.stat()
    decision: Unchanged | Look | Resume | Restart = first_look(book.mark, stat)
    trail = Trail(b"", b"")
    if isinstance(decision, Look) and book.mark is not None:
        decision, trail = yield from look_steps(book.mark, stat)
    match decision:
        case Resume(offset=offset):
            tail = Tail(offset, b"", book.skipping)
            state = ScanState(tail, book.model)
            found = yield from _read_on(log, book, state, trail, now_ns)
            return structs.replace(found, decision=Unchanged()) if _is_same(book, found) else found
        case Restart() as restart:
            empty = SessionBook()
            found = yield from _read_on(log, empty, ScanState(), Trail(b"", b""), now_ns)
            return structs.replace(found, decision=restart)
        case Unchanged() | Look():
            return Pass(Unchanged(), _settled(book, stat, now_ns), Evidence(), 0)


def _is_same(before: SessionBook, found: Pass) -> bool:
    """Whether a pass only read an open end again and found nothing new in it."""
    after = found.book
    if before.mark is None or after.mark is None or not found.fresh.is_empty:
        return False
    return (before.mark.offset, before.mark.seen.size, before.open_end) == (
        after.mark.offset,
        after.mark.seen.size,
        after.open_end,
    )


def _settled(book: SessionBook, stat: FileStat, now_ns: int) -> SessionBook:
    mark = book.mark
    if mark is None or (mark.seen == stat and not mark.young):
        return book
    return structs.replace(
        book, mark=structs.replace(mark, seen=stat, young=is_young(stat, now_ns))
    )


def _read_on(log: Log, book: SessionBook, state: ScanState, trail: Trail, now_ns: int) -> ReadSteps:
    start = position = state.tail.offset
    fresh = Evidence()
    stuck = False
    while True:
        chunk = yield Want(position, BLOCK)
        if chunk:
            state = yield from _sent_nothing(scan_into(fresh, chunk, state))
            trail.passed(chunk, position, state.tail.offset)
            position += len(chunk)
        if len(chunk) < BLOCK:
            stat = log.stat()
            # Not every file system can read all that it says is there.
            if stat.size <= position or (stuck and not chunk):
                break
            stuck = not chunk
    open_end = yield from _sent_nothing(open_end_steps(state))
    seen = structs.replace(stat, size=position)
    cursor = state.tail.offset
    where, size = middle_of(cursor)
    # Of a short log head and anchor are all there is.
    middle = (yield Want(where, size)) if size else b""
    after = SessionBook(
        trail.mark(seen, cursor, middle, now_ns),
        state.model,
        state.tail.skipping,
        book.evidence,
        open_end,
    )
    return Pass(Resume(start), after, fresh, position - start)


def commit_steps(found: Pass) -> Steps[SessionBook]:
    """The book with what a pass found in it.

    Given up between two steps, it has changed nothing: much that is fresh is added to a copy, and
    little in place, in the last stretch.
    """
    book = found.book
    if book.evidence.is_empty:
        return structs.replace(book, evidence=found.fresh)
    if found.fresh.size > OPERATIONS:
        whole = yield from total_steps((book.evidence, found.fresh))
        return structs.replace(book, evidence=whole)
    book.evidence.add(found.fresh)
    return book


def _sent_nothing(steps: Steps[T]) -> Generator[Want | None, bytes, T]:
    # `yield from` would send bytes into steps that expect nothing.
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: T = end.value
            return result
        yield None
