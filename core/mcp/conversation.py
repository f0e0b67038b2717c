"""What a gateway knows of one run of a server: its tools, and the requests that await a reply.

Lines go in, lines come out; what is worth logging is told to `note`. Nothing here waits or writes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Literal, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from fabricd.core.jsontext.members import NotRead, value_of
from fabricd.core.mcp.limits import CHANGED_MARK
from fabricd.core.mcp.listing import Declared, Listing
from fabricd.core.mcp.repairing import Conventions, Repair, Tool
from fabricd.core.mcp.replies import Changed, Reply, ended, page_of, read_reply
from fabricd.core.mcp.requests import Id, Request, read_request
from fabricd.core.nesting import SCHEMA_LEVELS, value_deeper_than
from fabricd.core.normalform.splicing import spliced

Mode: TypeAlias = Literal["repair", "observe"]
# What was found before a call was forwarded; `unknown`: no surface, or nobody can judge it.
Check: TypeAlias = Literal["unknown", "accepted", "repaired", "resolve", "validate"]
Outcome: TypeAlias = Literal["succeeded", "failed", "aborted"]
Clock: TypeAlias = Callable[[], int]

T = TypeVar("T")

_PENDING = 4096
# Arguments that await a reply; beyond these a call is kept without them.
_KEPT_BYTES = 6 * 1024 * 1024
_KEPT_LINE = 1024 * 1024
# Short ones are kept as values, which take so many times their text at most; edits are many boxes.
_SHORT = 2048
_VALUES = 24
_EDITED = 96
_TOOL = 128


class Asked(Struct, frozen=True):
    """A call as it was sent, and what was done with it.

    Attributes:
        at: milliseconds since the epoch.
        surface: the digest of the listing it was judged by; None without one.
        judge: the tool as that listing declares it.
        size: bytes that it takes; 0 where the arguments are not kept.
        repair: the one that was carried out.
        repairable: a proven repair was at hand, whether it was carried out or not.
        is_declared: a listing of this run knows the name of the tool.
        texts: of arguments that are not kept as values, as they were sent and as they went on.
    """

    id: Id
    tool: str
    arguments: object
    at: int
    check: Check
    surface: str | None
    judge: Tool | None = None
    size: int = 0
    repair: Repair | None = None
    repairable: bool = False
    is_declared: bool = False
    texts: tuple[bytes, bytes] | None = None

    @property
    def schema(self) -> object:
        """What the tool declares."""
        return None if self.judge is None else self.judge.schema

    def whole(self) -> Asked:
        """The same with its arguments as values."""
        if self.texts is None:
            return self
        sent, forwarded = self.texts
        repair = self.repair
        if repair is not None:
            repair = replace(repair, args=value_of(forwarded))
        return replace(self, arguments=value_of(sent), repair=repair, texts=None)


class Called(Struct, frozen=True):
    """A call that has ended."""

    asked: Asked
    outcome: Outcome


class Surfaced(Struct, frozen=True):
    """A complete listing that says something new."""

    declared: Declared


Event: TypeAlias = Called | Surfaced


class _Listed(Struct, frozen=True):
    cursor: str | None
    generation: int


class Conversation:
    """One run of one server, seen from between."""

    def __init__(
        self,
        name: str,
        mode: Mode,
        conventions: Conventions,
        note: Callable[[Event], None],
        clock: Clock,
    ) -> None:
        self._mode: Mode = mode
        self._note = note
        self._clock = clock
        self._listing = Listing(name, conventions)
        self._calls: OrderedDict[Id, list[Asked]] = OrderedDict()
        self._lists: OrderedDict[Id, list[_Listed]] = OrderedDict()
        self._told: str | None = None
        self._kept = 0
        # How often the list has changed.
        self._generation = 0

    @property
    def is_expecting(self) -> bool:
        """Whether a reply is awaited that has to be read."""
        return bool(self._calls or self._lists)

    @property
    def is_listing(self) -> bool:
        """Whether a page of tools is on its way."""
        return bool(self._lists)

    @property
    def has_tools(self) -> bool:
        """Whether a complete listing is in force."""
        return self._listing.declared is not None

    @property
    def has_pages(self) -> bool:
        """Whether there is anything that a changed list makes void."""
        return self._listing.declared is not None or self._listing.is_open

    def asked(self, line: bytes) -> bytes:
        """Read a client's line; gives the line to forward: the same object if nothing changed."""
        request = read_request(line)
        if request is None:
            return line
        match request.method:
            case "tools/list":
                if request.id is not None:
                    page = _Listed(request.cursor, self._generation)
                    _await(self._lists, request.id, page)
                return line
            case "notifications/cancelled":
                self._cancelled(request)
                return line
            case _:
                return self._call(line, request)

    def heard(self, line: bytes) -> None:
        """Read a server's line."""
        match read_reply(line):
            case Reply() as reply:
                self._replied(reply)
            case Changed():
                self._drop()
            case None:
                pass

    def changed(self, piece: bytes) -> bool:
        """Read server bytes that nobody awaits, for a changed list; gives whether it was dropped.

        Where the piece does not hold the whole line, the list counts as changed.
        """
        at = piece.find(CHANGED_MARK)
        while at >= 0:
            start, end = piece.rfind(b"\n", 0, at) + 1, piece.find(b"\n", at)
            if not start or end < 0 or read_reply(piece[start:end]) == Changed():
                self._drop()
                return True
            at = piece.find(CHANGED_MARK, end)
        return False

    def close(self) -> None:
        """The run has ended: what awaits a reply gets none."""
        for waiting in self._calls.values():
            for asked in waiting:
                self._note(Called(asked, "aborted"))
        self._calls.clear()

    def _replied(self, reply: Reply) -> None:
        if (asked := _answered(self._calls, reply.id)) is not None:
            self._end(asked, ended(reply))
        elif (listed := _answered(self._lists, reply.id)) is not None:
            if listed.cursor and listed.generation != self._generation:
                # A page of what was listed before the change, whatever its cursor means by now.
                return
            if not self._listing.page(listed.cursor, page_of(reply)):
                return
            found = self._listing.declared
            if found is not None and found.digest != self._told:
                self._told = found.digest
                self._note(Surfaced(found))

    def _drop(self) -> None:
        self._listing.drop()
        self._told = None
        self._generation += 1

    def _cancelled(self, request: Request) -> None:
        if request.cancelled is None:
            return
        asked = _answered(self._calls, request.cancelled)
        if asked is not None:
            self._end(asked, "aborted")
        else:
            _answered(self._lists, request.cancelled)

    def _end(self, asked: Asked, outcome: Outcome) -> None:
        self._kept -= asked.size
        self._note(Called(asked, outcome))

    def _call(self, line: bytes, request: Request) -> bytes:
        if request.id is None or request.tool is None:
            return line
        asked, repair = self._judged(request, request.id, request.tool)
        sent, (start, end) = line, request.span
        if repair is not None and self._mode == "repair":
            try:
                line = spliced(line, request.span, repair.edits)
            except NotRead:
                pass
            else:
                asked = replace(asked, check="repaired", repair=repair)
        before = memoryview(sent)[start:end]
        after = memoryview(line)[start : end + len(line) - len(sent)]
        kept = self._kept_of(asked, before, after if line is not sent else before[:0])
        for lost in _await(self._calls, request.id, kept):
            self._kept -= lost.size
        return line

    def _kept_of(self, asked: Asked, sent: memoryview, forwarded: memoryview) -> Asked:
        """A call as it awaits its reply: with its arguments as values, as texts, or without."""
        repair, size = asked.repair, len(sent) + len(forwarded)
        values = size * (_VALUES if repair is None else _EDITED)
        if len(sent) <= _SHORT and 2 * (self._kept + values) <= _KEPT_BYTES:
            self._kept += values
            return replace(asked, size=values)
        if repair is not None:
            repair = repair.settled()
        if size > _KEPT_LINE or self._kept + size > _KEPT_BYTES:
            return replace(asked, arguments=None, repair=repair)
        self._kept += size
        texts = (bytes(sent), bytes(forwarded)) if sent else None
        return replace(asked, arguments=None, repair=repair, size=size, texts=texts)

    def _judged(self, request: Request, ident: Id, name: str) -> tuple[Asked, Repair | None]:
        declared, now = self._listing.declared, self._clock()
        nothing: dict[str, object] = {}
        args = request.arguments if request.has_arguments else nothing
        short, is_declared = name[:_TOOL], name in self._listing.names
        if declared is None or value_deeper_than(args, SCHEMA_LEVELS):
            return Asked(ident, short, args, now, "unknown", None, is_declared=is_declared), None
        tool = declared.tools.get(name)
        check = _check(tool, args)
        repair = None
        if tool is not None and check == "validate" and request.has_arguments:
            repair = tool.repair(args)
        is_repairable = repair is not None
        asked = Asked(
            *(ident, short, args, now, check, declared.digest, tool),
            repairable=is_repairable,
            is_declared=is_declared,
        )
        return asked, repair


def _check(tool: Tool | None, args: object) -> Check:
    if tool is None:
        return "resolve"
    match tool.accepts(args):
        case None:
            return "unknown"
        case True:
            return "accepted"
        case False:
            return "validate"


def _await(waiting: OrderedDict[Id, list[T]], ident: Id, what: T) -> list[T]:
    waiting.setdefault(ident, []).append(what)
    # Those that nobody ever answers must not fill the memory.
    return waiting.popitem(last=False)[1] if len(waiting) > _PENDING else []


def _answered(waiting: OrderedDict[Id, list[T]], ident: Id) -> T | None:
    found = waiting.get(ident)
    if not found:
        return None
    first = found.pop(0)
    if not found:
        del waiting[ident]
    return first
