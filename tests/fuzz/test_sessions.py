"""Session logs: every reader of them, over bytes that are almost what Pi writes."""

from __future__ import annotations

import json
from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.book import SessionBook
from fabricd.core.entropy.meter import Catalog, report
from fabricd.core.nesting import RECORD_LEVELS, deeper_than
from fabricd.core.resume import FileStat
from fabricd.core.sessions.audits import audited
from fabricd.core.sessions.header import header_of
from fabricd.core.sessions.records import Malformed, records_of
from fabricd.core.sessions.samples import recordings
from fabricd.core.steps import finish
from fabricd.store.reading import commit_steps, in_place, read_steps
from tests.fuzz.hostile import Sample, bounded, few, hostile, reshaped
from tests.fuzz.seeds import session

SEEDS = [session(), session(2, 1), session(3, 3).replace(b"\n", b"\r\n"), session(4, 2)[:-1]]


class Memory:
    """A log that is held in memory."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def stat(self) -> FileStat:
        return FileStat(1, 1, len(self._data), 1, 1, 1)

    def read(self, offset: int, size: int = 1 << 20) -> bytes:
        return self._data[offset : offset + size]


_VALUES = [json.loads(line) for line in session(6, 2).splitlines()]
logs = st.one_of(
    hostile(SEEDS),
    st.lists(st.sampled_from(_VALUES).flatmap(reshaped), max_size=5).map(
        lambda lines: Sample(b"\n".join(lines))
    ),
)


@few(2)
@given(logs)
def test_a_scan_ends_with_figures_whatever_a_log_holds(data: bytes) -> None:
    with bounded():
        log = Memory(data)
        found = in_place(log, read_steps(log, SessionBook(), 10**18))
        whole = finish(commit_steps(found)).whole()
        report(whole, Catalog())


@few(2)
@given(logs)
def test_each_line_is_read_or_refused_by_every_reader(data: bytes) -> None:
    with bounded():
        for line in data.split(b"\n"):
            header_of(line)
            list(audited(line))
            recordings(line)
            if not deeper_than(line, RECORD_LEVELS):
                with suppress(Malformed):
                    records_of(line)
