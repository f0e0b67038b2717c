"""The tables of all logs of one agent become its calls: each once, however many copies there are.

Nothing here depends on the order in which logs were found. Of the copies of a call the greatest
outcome stands, and model, project and time of the earliest copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from fabricd.core.entropy.fingerprint import distance_millionths
from fabricd.core.history.calls import FAILED, TIMED_OUT, UNDATED, UNKNOWN, CallTable, Row, within
from fabricd.core.steps import OPERATIONS, Steps

_Age = tuple[bool, int, str, str, str, int, int]


class Call(Struct, gc=False):
    """One call of an agent.

    Attributes:
        files: positions of the tables that hold a copy.
        churn: of a retry, how far its shape is from that of the failed call, in millionths.
    """

    tool: str
    session: str
    model: str
    project: str
    at: int
    outcome: int
    answered: bool
    verdict: int
    kinds: int
    repairable: bool
    recorded: int
    refused: int
    files: tuple[int, ...]
    is_retry: bool = False
    churn: int = 0
    repaired: bool = False


class _Kept(Struct):
    """A call being put together: the row of its earliest copy, and what all copies say."""

    row: Row
    table: CallTable
    outcome: int
    answered: bool
    recorded: tuple[int, int]
    files: list[int]
    is_retry: bool = False
    churn: int = 0


class _Family:
    """What only all tables together tell: roots of forks, weak ids, results without a call."""

    def __init__(self, tables: Sequence[CallTable]) -> None:
        self._parents = _parents(tables)
        self._roots: dict[str, str] = {}
        self._ended = _ended(tables)
        self._ambiguous = _ambiguous(tables, self)
        self.orphans = _orphans(tables)
        self._claims: dict[int, _Kept | None] = {}

    def root(self, session: str) -> str:
        """The session that a family of forks goes back to; of a circle its least member."""
        found = self._roots.get(session)
        if found is None:
            trail = [session]
            while (parent := self._parents.get(trail[-1])) is not None and parent not in trail:
                trail.append(parent)
            found = trail[-1] if parent is None else min(trail[trail.index(parent) :])
            self._roots[session] = found
        return found

    def is_left_behind(self, row: Row, table: CallTable) -> bool:
        """Whether a row is an older state of a call that another log tells whole."""
        if row.answered or row.weak or not self._ended:
            return False
        names = table.names
        return (row.ident, names[row.tool], names[row.session]) in self._ended

    def claim(self, row: Row, found: _Kept) -> None:
        """Note which call has the id of a result that has no call in its own log."""
        if not row.weak and row.ident in self.orphans:
            if self._claims.setdefault(row.ident, found) is not found:
                self._claims[row.ident] = None

    def settle(self) -> None:
        """End the calls whose result stands in another log.

        An id of several calls tells nothing of any, and what the copies of a call say comes first.
        """
        for ident, found in self._claims.items():
            outcome, is_answer = self.orphans[ident]
            if found is not None and found.outcome == UNKNOWN:
                found.outcome = outcome
                found.answered = found.answered or is_answer

    def key(self, key: bytes, row: Row, table: CallTable) -> bytes:
        """The key of a row among all tables."""
        if row.weak:
            return within(table.bases[key], self.root(table.names[row.session]))
        if row.ident in self._ambiguous:
            return within(key, self.root(table.names[row.session]))
        return key


def _orphans(tables: Iterable[CallTable]) -> dict[int, tuple[int, bool]]:
    found: dict[int, tuple[int, bool]] = {}
    for table in tables:
        for ident, (outcome, answered) in table.orphans.items():
            before, was = found.get(ident, (UNKNOWN, False))
            found[ident] = (max(outcome, before), answered or was)
    return found


def _ended(tables: Iterable[CallTable]) -> frozenset[tuple[int, str, str]]:
    """OpenCode's answered calls by id, tool and session.

    Its records are rewritten as a call goes on, its arguments too: where an older copy of one was
    left behind, what stands there unanswered is no call of its own.
    """
    return frozenset(
        (row.ident, table.names[row.tool], table.names[row.session])
        for table in tables
        if table.agent == "opencode"
        for row in table.calls.values()
        if row.answered and not row.weak
    )


def _parents(tables: Iterable[CallTable]) -> Mapping[str, str]:
    parents: dict[str, str] = {}
    for table in tables:
        for child, parent in table.parents.items():
            name, other = table.names[child], table.names[parent]
            parents[name] = min(other, parents.get(name, other))
    return parents


def _ambiguous(tables: Iterable[CallTable], family: _Family) -> frozenset[int]:
    """Ids under which OpenCode has stored two different calls: they say too little alone."""
    seen: dict[int, bytes] = {}
    several: set[int] = set()
    for table in tables:
        if table.agent == "opencode":
            for key, row in table.calls.items():
                if row.weak or family.is_left_behind(row, table):
                    continue
                if seen.setdefault(row.ident, key) != key:
                    several.add(row.ident)
    return frozenset(several)


def _age(row: Row, table: CallTable) -> _Age:
    names = table.names
    return (
        row.at == UNDATED,
        row.at,
        names[row.session],
        names[row.model],
        names[row.project],
        row.verdict,
        row.kinds,
    )


def join_steps(tables: Sequence[CallTable]) -> Steps[list[Call]]:
    """The calls of one agent, in no order that means anything, yielding between rows."""
    family = _Family(tables)
    kept: dict[bytes, _Kept] = {}
    chains: list[list[_Kept | None]] = []
    done = 0
    for position, table in enumerate(tables):
        chain: list[_Kept | None] = []
        for own, row in table.calls.items():
            if family.is_left_behind(row, table):
                chain.append(None)
            else:
                key = family.key(own, row, table)
                found = _keep(kept, key, row, table, position)
                if family.orphans:
                    family.claim(row, found)
                chain.append(found)
            done += 1
            if done % OPERATIONS == 0:
                yield
        chains.append(chain)
    family.settle()
    for table, chain in zip(tables, chains, strict=True):
        yield from _mark_retries(table, chain)
    return [_call(each) for each in kept.values()]


def _keep(
    kept: dict[bytes, _Kept],
    key: bytes,
    row: Row,
    table: CallTable,
    position: int,
) -> _Kept:
    outcome, answered = row.outcome, row.answered
    recorded = (row.recorded, row.refused)
    before = kept.get(key)
    if before is None:
        kept[key] = new = _Kept(row, table, outcome, answered, recorded, [position])
        return new
    if outcome > before.outcome:
        before.outcome = outcome
    before.answered = answered or before.answered
    if recorded > before.recorded:
        before.recorded = recorded
    if before.files[-1] != position:
        before.files.append(position)
    if _is_earlier(row, table, before):
        before.row, before.table = row, table
    return before


def _is_earlier(row: Row, table: CallTable, kept: _Kept) -> bool:
    before = kept.row
    if row.at != before.at and UNDATED not in (row.at, before.at):
        return row.at < before.at
    names, others = table.names, kept.table.names
    # Most copies are exact: those are seen without making their ages.
    if (
        row.at == before.at
        and names[row.session] == others[before.session]
        and names[row.model] == others[before.model]
        and names[row.project] == others[before.project]
        and row.verdict == before.verdict
        and row.kinds == before.kinds
    ):
        return False
    return _age(row, table) < _age(before, kept.table)


def _mark_retries(table: CallTable, chain: Sequence[_Kept | None]) -> Steps[None]:
    """Mark the calls whose previous call to the same tool, in the same session, failed.

    Where copies of the earliest age stand in several logs, one retry among them is enough; the
    least churn stands.

    Args:
        chain: what became of each row of the table, in order.
    """
    previous: dict[tuple[int, int], tuple[_Kept, int]] = {}
    names = table.names
    for index, (row, found) in enumerate(zip(table.calls.values(), chain, strict=True)):
        if found is None:
            continue
        place = (row.session, row.tool)
        before = previous.get(place)
        if before is not None and _has_failed(before[0]) and before[0] is not found:
            if _age(row, table) == _age(found.row, found.table):
                churn = distance_millionths(names[before[1]], names[row.shape])
                found.churn = min(churn, found.churn) if found.is_retry else churn
                found.is_retry = True
        previous[place] = (found, row.shape)
        if index % OPERATIONS == OPERATIONS - 1:
            yield


def _has_failed(found: _Kept) -> bool:
    return found.outcome in (FAILED, TIMED_OUT)


def _call(found: _Kept) -> Call:
    row, names = found.row, found.table.names
    return Call(
        names[row.tool],
        names[row.session],
        names[row.model],
        names[row.project],
        row.at,
        found.outcome,
        found.answered,
        row.verdict,
        row.kinds,
        row.repairable,
        found.recorded[0],
        found.recorded[1],
        tuple(found.files),
        found.is_retry,
        found.churn,
        row.repaired,
    )
