"""Tables and calls for tests of the history."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime
from itertools import pairwise
from typing import Any

from fabricd.core.history.calls import AgentName, CallTable
from fabricd.core.history.joining import Call, join_steps
from fabricd.core.history.judging import Judge
from fabricd.core.history.recorder import Arguments, Recorder
from fabricd.core.history.summary import Wanted, agents_steps
from fabricd.core.sessions.adapting import Adapter
from fabricd.core.sessions.lines import read_lines, read_open_end
from fabricd.core.sessions.records import Tail
from fabricd.core.steps import finish

Make = Callable[[Recorder], Adapter]


def read_table(
    agent: AgentName, make: Make, pieces: Iterable[bytes], judge: Judge | None = None
) -> CallTable:
    """The table of a log that came in these pieces, a new adapter for each."""
    table = CallTable(agent)
    tail = Tail()
    adapter = make(Recorder(table, judge or Judge()))
    for piece in pieces:
        adapter = make(Recorder(table, judge or Judge()))
        tail = finish(read_lines(piece, tail, adapter, table.losses))
    read_open_end(tail, adapter, table)
    return table


def cut(data: bytes, places: Iterable[int]) -> list[bytes]:
    """The pieces of some bytes, cut at these places."""
    marks = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[a:b] for a, b in pairwise(marks)]


def lines(*rows: object) -> bytes:
    """A log of these records."""
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)


def joined(*tables: CallTable) -> list[Call]:
    """The calls of tables of one agent, sorted."""
    found = finish(join_steps(tables))
    return sorted(found, key=lambda call: (call.session, call.at, call.tool, call.outcome))


def arguments(value: object) -> Arguments:
    """Arguments as an adapter reads them."""
    return Recorder(CallTable("pi"), Judge()).arguments(json.dumps(value).encode())


def utc_day(at: int) -> date:
    """The day of a moment, in UTC."""
    return datetime.fromtimestamp(at / 1000, UTC).date()


def summed(tables: Sequence[CallTable], wanted: Wanted | None = None) -> list[dict[str, Any]]:
    """What a report says of agents."""
    return finish(agents_steps(tables, wanted or Wanted(), utc_day))[0]
