"""What a gateway knows of one run of a server: its tools, and the requests that await a reply.

Lines go in, lines come out; what is worth logging is told to `note`. Nothing here waits or writes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Literal, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from fabricd.core.mcp.limits import CHANGED_MARK
from fabricd.core.mcp.listing import Declared, Listing
from fabricd.core.mcp.objects import NotRead
from fabricd.core.mcp.repairing import Conventions, Repair, Tool
from fabricd.core.mcp.replies import Changed, Reply, ended, page_of, read_reply
from fabricd.core.mcp.requests import Id, Request, read_request
from fabricd.core.mcp.splicing import spliced
from fabricd.core.nesting import SCHEMA_LEVELS, value_deeper_than

Mode: TypeAlias = Literal["repair", "observe"]
# What was found before a call was forwarded; `unknown`: no surface, or nobody can judge it.
Check: TypeAlias = Literal["unknown", "accepted", "repaired", "resolve", "validate"]
Outcome: TypeAlias = Literal["succeeded", "failed", "aborted"]
Clock: TypeAlias = Callable[[], int]

T = TypeVar("T")

_PENDING = 4096
# Arguments that await a reply; beyond these a call is kept without them.
_KEPT_BYTES = 16 * 1024 * 1024
_KEPT_LINE = 1024 * 1024


class Asked(Struct, frozen=True):
    """A call as it was sent, and what was done with it.

    Attributes:
        at: milliseconds since the epoch.
        surface: the digest of the listing it was judged by; None without one.
        size: bytes of its line; 0 where the arguments are not kept.
        repair: the one that was carried out.
        repairable: a proven repair was at hand, whether it was carried out or not.
    """

    id: Id
    tool: str
    arguments: object
    at: int
    check: Check
    surface: str | None
    schema: object = None
    size: int = 0
    repair: Repair | None = None
    repairable: bool = False


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

    def asked(self, line: bytes) -> bytes:
        """Read a client's line; gives the line to forward: the same object if nothing changed."""
        request = read_request(line)
        if request is None:
            return line
        match request.method:
            case "tools/list":
                if request.id is not None:
                    page = _Listed(request.cursor)
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
                self._listing.drop()
                self._told = None
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
                self._listing.drop()
                self._told = None
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
            if not self._listing.page(listed.cursor, page_of(reply)):
                return
            found = self._listing.declared
            if found is not None and found.digest != self._told:
                self._told = found.digest
                self._note(Surfaced(found))

    def _cancelled(self, request: Request) -> None:
        if request.cancelled is None:
            return
        asked = _answered(self._calls, request.cancelled)
        if asked is not None:
            self._end(asked, "aborted")

    def _end(self, asked: Asked, outcome: Outcome) -> None:
        self._kept -= asked.size
        self._note(Called(asked, outcome))

    def _call(self, line: bytes, request: Request) -> bytes:
        if request.id is None or request.tool is None:
            return line
        asked, repair = self._judged(request, request.id, request.tool)
        if repair is not None and self._mode == "repair":
            try:
                line = spliced(line, request.span, repair.edits)
            except NotRead:
                pass
            else:
                asked = replace(asked, check="repaired", repair=repair)
        for lost in _await(self._calls, request.id, self._kept_of(asked, len(line))):
            self._kept -= lost.size
        return line

    def _kept_of(self, asked: Asked, size: int) -> Asked:
        if size > _KEPT_LINE or self._kept + size > _KEPT_BYTES:
            repair = None if asked.repair is None else asked.repair.settled()
            return replace(asked, arguments=None, repair=repair)
        self._kept += size
        return replace(asked, size=size)

    def _judged(self, request: Request, ident: Id, name: str) -> tuple[Asked, Repair | None]:
        declared, now = self._listing.declared, self._clock()
        nothing: dict[str, object] = {}
        args = request.arguments if request.has_arguments else nothing
        if declared is None or value_deeper_than(args, SCHEMA_LEVELS):
            return Asked(ident, name, args, now, "unknown", None), None
        tool = declared.tools.get(name)
        check = _check(tool, args)
        repair = None
        if tool is not None and check == "validate" and request.has_arguments:
            repair = tool.repair(args)
        schema = None if tool is None else tool.schema
        is_repairable = repair is not None
        digest = declared.digest
        return (
            Asked(ident, name, args, now, check, digest, schema, repairable=is_repairable),
            repair,
        )


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
