"""An agent's log, read for the books: each result is looked at once, and no text of it is kept."""

from __future__ import annotations

import re
from hashlib import sha256

from msgspec import field

from fabricd.core.context.books import Fact, Ledger, Place, Session, path_digest
from fabricd.core.context.receipt import ids_in
from fabricd.core.context.rereading import Asked, asked_of, read_lines_of
from fabricd.core.history.calls import UNDATED, AgentName
from fabricd.core.history.recorder import Arguments
from fabricd.core.plain import is_object
from fabricd.core.sessions.adapting import text_of
from fabricd.core.trajectory.sessions.matching import Entry, Log, Watched
from fabricd.core.trajectory.sessions.results import Shown

_TRAILER = re.compile(r"-- (cr_[0-9a-f]{16}) [0-9]+/[0-9]+ ")
# Our own tools, under whatever name of a server an agent puts before theirs.
_OWN = re.compile(r"(?:.*[^a-z])?context_(show|recover)\Z")


class _Watched(Watched):
    """Notes besides which file a call of a read tool asked for."""

    def __init__(self, agent: AgentName) -> None:
        super().__init__(agent)
        self.reads: dict[bytes, Asked] = {}
        self.handles: dict[bytes, str] = {}

    def call(
        self,
        call_id: str,
        tool: str,
        arguments: Arguments,
        session: str,
        at: int = UNDATED,
        model: str = "",
        project: str = "",
        version: str = "",
        is_weak: bool = False,
        expects: bool = True,
    ) -> bytes:
        """Enter a call; gives its key."""
        key = super().call(
            call_id, tool, arguments, session, at, model, project, version, is_weak, expects
        )
        asked = asked_of(self.table.agent, tool, arguments.value, project)
        if asked is not None:
            self.reads[key] = asked
        elif _OWN.match(tool) and is_object(arguments.value):
            self.handles[key] = text_of(arguments.value.get("handle"))
        return key


class BookLog(Log):
    """A log that is read for the books alone. No text of it is kept."""

    ledger: Ledger
    reads: dict[bytes, Asked]
    handles: dict[bytes, str]
    stem: str = ""
    # What a session was given so far, in the order of this log.
    given: dict[str, dict[bytes, set[Place]]] = field(
        default_factory=dict[str, dict[bytes, set[Place]]]
    )

    def enter(self, entry: Entry, shown: Shown, session: str, is_last: bool = False) -> None:
        """Enter a result, once for all its copies."""
        told = f"{entry.call_id}\0{shown.text}"
        key = entry.key or sha256(told.encode("utf-8", "replace")).digest()
        name = session or next(reversed(self.watched.sessions), self.stem)
        fact = self._fact(entry, shown, name)
        if name:
            self.ledger.enter(Session(self.table.agent, name), key, fact, is_last)

    def _fact(self, entry: Entry, shown: Shown, session: str) -> Fact:
        fact = Fact()
        given = self.given.setdefault(session, {})
        asked = self.reads.get(entry.key) if entry.key else None
        if asked is not None:
            fact.reread = self._reread(asked, shown, given)
        own = self._own(entry.key)
        if "cr_" in shown.text:
            self._link(fact, shown.text, given, own == "show")
        if own == "recover":
            fact.recovered = self.ledger.count(shown.text)
            fact.handle = self.handles.get(entry.key or b"", "")
        return fact

    def _own(self, key: bytes | None) -> str:
        """Which of our own tools was called, if it was one that fetches."""
        row = None if key is None else self.table.calls.get(key)
        found = None if row is None else _OWN.match(self.table.names[row.tool])
        return "" if found is None else found[1]

    def _link(self, fact: Fact, text: str, given: dict[bytes, set[Place]], is_show: bool) -> None:
        known = {
            receipt: delivered
            for receipt in ids_in(text)
            if (delivered := self.ledger.known(receipt)) is not None
        }
        fact.receipts = tuple(known)
        for found in _TRAILER.finditer(text):
            delivered = known.get(found[1])
            if delivered is not None:
                if is_show or found[1] in self.ledger.shows:
                    fact.recovered += delivered.used
                else:
                    fact.selections += 1
                    fact.gross += delivered.used
                for path, lines in delivered.whole.items():
                    given.setdefault(path, set()).update(lines)

    def _reread(self, asked: Asked, shown: Shown, given: dict[bytes, set[Place]]) -> int:
        lines = given.get(path_digest(self.ledger.resolve(asked.path)))
        if not lines:
            return 0
        text = "".join(
            f"{line}\n"
            for number, line in read_lines_of(asked, shown)
            if any(start <= number <= end for start, end in lines)
        )
        return self.ledger.count(text) if text else 0


def book_log(agent: AgentName, ledger: Ledger, stem: str = "") -> BookLog:
    """A log of which nothing has been read. `stem` names its session where nothing else does."""
    watched = _Watched(agent)
    return BookLog(watched, {}, set(), ledger, watched.reads, watched.handles, stem)
