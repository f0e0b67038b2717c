"""The logs of one session become one run: the results of its calls, each once, in their order.

Other sessions' logs beside them take away what is theirs: of the copies of a call the earliest
decides whose it is, as in the history.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from msgspec import Struct

from fabricd.core.history.calls import UNDATED, AgentName, Losses, Row
from fabricd.core.trajectory.sessions.matching import Log, is_orphan
from fabricd.core.trajectory.sessions.results import Result

_Age = tuple[bool, int, str]


class NoRun(ValueError):
    """Raised by `run_of`: the logs are not of one session. The message is a sentence."""


class Source(Struct, frozen=True):
    """A log that was read whole. `stem` is the name of its file without its ending."""

    log: Log
    stem: str = ""

    @property
    def session(self) -> str:
        """The session whose log it is; empty where it names none.

        The first lines of a fork are its own header; a resumed session ends with its own rows.
        """
        named = list(self.log.watched.sessions)
        if not named:
            return ""
        if self.stem in named:
            return self.stem
        return named[0 if self.log.table.agent in ("codex", "pi") else -1]


class Run(Struct, frozen=True):
    """A session of an agent.

    Attributes:
        versions: of the agent, in the order in which the logs name them.
        unanswered: calls whose result is not in the logs.
        repeated: results that are those of another session.
        parent: the session that this one says it was forked from, if its log was not given.
    """

    agent: AgentName
    session: str
    versions: tuple[str, ...]
    results: tuple[Result, ...]
    unanswered: int
    repeated: int
    parent: str
    losses: Losses


def run_of(sources: Sequence[Source], wanted: str | None = None) -> Run:
    """The run of a session.

    Args:
        sources: logs of one agent, in their order.
        wanted: the session, where the logs are of several.

    Raises:
        NoRun: which session it is of cannot be told, or there is no such one.
    """
    session = _session(sources, wanted)
    others = _others(sources, session)
    results: dict[bytes, Result] = {}
    repeated: set[bytes] = set()
    answered = _whereabouts(sources)
    for source in sources:
        for own, result in source.log.results.items():
            key = answered.get(result.call_id, own) if is_orphan(own) else own
            if (result.session or source.session) != session or _is_gone(source.log, own):
                continue
            if _is_theirs(others.get(key), result):
                repeated.add(key)
            elif key not in results or (results[key].full is None and result.full is not None):
                results[key] = result
    losses = Losses()
    for source in sources:
        losses.add(source.log.table.losses)
    return Run(
        sources[0].log.table.agent,
        session,
        _versions(sources, session),
        tuple(results.values()),
        len(_unanswered(sources, session) - results.keys() - others.keys()),
        len(repeated),
        _parent(sources, session),
        losses,
    )


def _session(sources: Sequence[Source], wanted: str | None) -> str:
    named = dict.fromkeys(source.session for source in sources)
    named.pop("", None)
    if wanted is not None:
        every = chain(named, *(source.log.watched.sessions for source in sources))
        if wanted not in every:
            raise NoRun(f"no log given here is of the session {wanted}")
        return wanted
    parents = {parent for _, parent in _forks(sources)}
    left = [session for session in named if session not in parents] or list(named)
    if len(left) == 1:
        return left[0]
    if not left:
        raise NoRun("no session is named in what was given")
    raise NoRun(f"these are logs of {len(left)} sessions, such as {left[0]} and {left[1]}")


def _forks(sources: Iterable[Source]) -> Iterable[tuple[str, str]]:
    for source in sources:
        table = source.log.table
        for child, parent in table.parents.items():
            yield table.names[child], table.names[parent]


def _parent(sources: Sequence[Source], session: str) -> str:
    given = {source.session for source in sources}
    # Pi tells by itself which of its entries are copies.
    if sources[0].log.table.agent == "pi":
        return ""
    found = (parent for child, parent in _forks(sources) if child == session)
    return next((parent for parent in found if parent not in given), "")


def _others(sources: Sequence[Source], session: str) -> dict[bytes, _Age]:
    """The calls of other sessions, with the age of their earliest copy."""
    found: dict[bytes, _Age] = {}
    for source in sources:
        table = source.log.table
        for key, row in table.calls.items():
            if table.names[row.session] != session:
                age = _age(row.at, table.names[row.session])
                found[key] = min(age, found.get(key, age))
    return found


def _age(at: int, session: str) -> _Age:
    return at == UNDATED, at, session


def _is_theirs(other: _Age | None, result: Result) -> bool:
    return other is not None and other < _age(result.at, result.session)


def _is_gone(log: Log, key: bytes) -> bool:
    """Whether a call has become another one: its arguments were edited before it was made."""
    return not is_orphan(key) and key not in log.table.calls


def _whereabouts(sources: Iterable[Source]) -> dict[str, bytes]:
    """The key of the last call with an id, for results that stand in another log than it."""
    found: dict[str, bytes] = {}
    for source in sources:
        found |= source.log.table.ids
    return found


def _unanswered(sources: Iterable[Source], session: str) -> set[bytes]:
    def is_open(row: Row, source: Source) -> bool:
        return source.log.table.names[row.session] in (session, "")

    return {
        key
        for source in sources
        for key, row in source.log.table.calls.items()
        if is_open(row, source) and key not in source.log.copied
    }


def _versions(sources: Iterable[Source], session: str) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for source in sources:
        found |= source.log.watched.versions.get(session, {})
    return tuple(found)
