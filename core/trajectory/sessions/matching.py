"""The call of each result, by the rules that count calls in a history.

The adapter of the history reads every record and enters calls and results; here it is only watched.
So a copy, a replay or a second telling of a call is one call here as it is there.
"""

from __future__ import annotations

from msgspec import Struct

from fabricd.core.history.calls import KEY_BYTES, UNDATED, AgentName, CallTable, key_of
from fabricd.core.history.judging import Judge
from fabricd.core.history.recorder import Arguments, Recorder
from fabricd.core.trajectory.sessions.results import Result, Shown, measured

# Longer than the key of any call.
_ORPHAN = bytes(KEY_BYTES + 1)


class Entry(Struct, frozen=True, gc=False):
    """A call or a result as the adapter entered it. A result without its call has no key."""

    call_id: str
    key: bytes | None


class Watched(Recorder):
    """Enters what an adapter reads, and notes what was entered since it was last asked."""

    def __init__(self, agent: AgentName) -> None:
        super().__init__(CallTable(agent), Judge())
        self.asked: dict[bytes, bytes] = {}
        self.sessions: dict[str, None] = {}
        self.versions: dict[str, dict[str, None]] = {}
        self._calls: list[Entry] = []
        self._results: list[Entry] = []

    def session(self, session: str, parent: str | None = None) -> None:
        """Enter a session that the log names, and the session it was forked from."""
        super().session(session, parent)
        self.sessions.setdefault(session)

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
        if arguments.is_whole:
            self.asked[key] = key_of("", "", tool, arguments.identity)
        if session:
            self.sessions.setdefault(session)
        if version:
            self.versions.setdefault(session, {}).setdefault(version)
        self._calls.append(Entry(call_id, key))
        return key

    def result(self, call_id: str, outcome: int) -> bytes | None:
        """Enter a result; gives the key of its call where that stands in this log."""
        key = super().result(call_id, outcome)
        self._results.append(Entry(call_id, key))
        return key

    def calls_entered(self) -> list[Entry]:
        """The calls since the last question, in order."""
        found, self._calls = self._calls, []
        return found

    def results_entered(self) -> list[Entry]:
        """The results since the last question, in order."""
        found, self._results = self._results, []
        return found


class Log(Struct):
    """What one log tells: its calls, and the result of each by the key of the call.

    Attributes:
        copied: keys of calls that a fork has copied from its parent, and says so.
    """

    watched: Watched
    results: dict[bytes, Result]
    copied: set[bytes]

    @property
    def table(self) -> CallTable:
        """The calls."""
        return self.watched.table

    def enter(self, entry: Entry, shown: Shown, session: str, is_last: bool = False) -> None:
        """Enter a result, once for all its copies.

        Args:
            is_last: a later version of it stands, not the first.
        """
        new = self._result(entry, shown, session)
        # Results that answer nobody by an id are told apart by what they show.
        key = entry.key or _orphan_key(entry.call_id or new.shown.identity)
        before = self.results.get(key)
        if before is None or is_last or _says_more(new, before):
            self.results[key] = new

    def _result(self, entry: Entry, shown: Shown, session: str) -> Result:
        key = entry.key or b""
        row = self.table.calls.get(key)
        names = self.table.names
        return Result(
            entry.call_id,
            "" if row is None else names[row.tool],
            self.watched.asked.get(key, b""),
            session,
            UNDATED if row is None else row.at,
            measured(shown.text),
            None if shown.full is None else measured(shown.full),
            shown.is_cut,
            shown.told,
            shown.others,
            shown.is_absent,
        )


def new_log(agent: AgentName) -> Log:
    """A log of which nothing has been read."""
    return Log(Watched(agent), {}, set())


def is_orphan(key: bytes) -> bool:
    """Whether this is the key of a result whose call is not in its log."""
    return key.startswith(_ORPHAN)


def take_of(entries: list[Entry], call_id: str) -> Entry | None:
    """Take the first entry with this call id out of a list."""
    for index, entry in enumerate(entries):
        if entry.call_id == call_id:
            return entries.pop(index)
    return None


def _orphan_key(name: str) -> bytes:
    return _ORPHAN + name.encode("utf-8", "replace")


def _says_more(new: Result, before: Result) -> bool:
    """Whether a copy keeps all there was, of which the one before kept what was shown."""
    return before.full is None and new.full is not None and new.shown == before.shown
