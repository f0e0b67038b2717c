"""Broken laws of reading, measuring and pooling."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import Any

from msgspec import structs

from fabricd.core.certifying.laws import Laws
from fabricd.core.entropy.meter import Catalog, Report
from fabricd.core.entropy.observations import Observed
from fabricd.core.evidence import Evidence
from fabricd.core.model import AuditCall, Surface
from fabricd.core.pool.file import Pool
from fabricd.core.pool.ledger import Change, Ledger
from fabricd.core.pool.rows import Record
from fabricd.core.sessions.audits import Audited
from fabricd.core.sessions.pi import ScanState
from fabricd.core.sessions.samples import Recording

LAWS = Laws()


# --- measuring


def with_measure(change: Callable[[Report], dict[str, Any]]) -> Laws:
    def measure(evidence: Evidence, catalog: Catalog) -> Report:
        report = LAWS.measure(evidence, catalog)
        return structs.replace(report, **change(report))

    return Laws(measure=measure)


def with_scan(*swaps: tuple[bytes, bytes]) -> Laws:
    """A scan that takes one text for another of the same length."""

    def scan(piece: bytes, state: ScanState) -> tuple[Evidence, ScanState]:
        for old, new in swaps:
            assert len(old) == len(new)
            piece = piece.replace(old, new)
        return LAWS.scan(piece, state)

    return Laws(scan=scan)


def rising() -> Laws:
    turns = count()

    def measure(evidence: Evidence, catalog: Catalog) -> Report:
        report = LAWS.measure(evidence, catalog)
        return structs.replace(report, static_score=report.static_score + next(turns) / 1e6)

    return Laws(measure=measure)


def dated_report() -> Laws:
    turns = count()
    return Laws(report_text=lambda report: LAWS.report_text(report) + " " * next(turns))


def free(surface: Surface) -> dict[str, float]:
    return dict.fromkeys(LAWS.freedom(surface), 1.0)


def without_churn(into: Evidence, more: Evidence) -> None:
    LAWS.add(into, structs.replace(more, churn=[]))


# --- reading


def leaking() -> Laws:
    """A scan whose model outlives its session."""
    last: list[str | None] = [None]

    def scan(piece: bytes, state: ScanState) -> tuple[Evidence, ScanState]:
        evidence, after = LAWS.scan(piece, structs.replace(state, model=state.model or last[0]))
        last[0] = after.model
        return evidence, after

    return Laws(scan=scan)


def forgetful(piece: bytes, state: ScanState) -> tuple[Evidence, ScanState]:
    return LAWS.scan(piece, structs.replace(state, model=None))


def line_by_line(piece: bytes, state: ScanState) -> tuple[Evidence, ScanState]:
    """A scan that takes every piece to end with a line."""
    evidence, after = LAWS.scan(piece, state)
    LAWS.add(evidence, LAWS.open_end(after))
    empty = structs.replace(after.tail, offset=after.tail.offset + len(after.tail.data), data=b"")
    return evidence, structs.replace(after, tail=empty)


def with_audits(change: Callable[[AuditCall], AuditCall | None]) -> Laws:
    def audits(lines: Iterable[bytes]) -> Iterator[AuditCall]:
        return (found for call in LAWS.audits(lines) if (found := change(call)) is not None)

    return Laws(audits=audits)


def projected(call: AuditCall) -> AuditCall:
    return AuditCall(call.ref, {n: value for n, value in call.args.items() if value is not None})


def trimmed(call: AuditCall) -> AuditCall:
    plain = {n: v.strip() if isinstance(v, str) else v for n, v in call.args.items()}
    return AuditCall(call.ref, plain)


def with_observed(change: Callable[[Observed], Observed]) -> Laws:
    return Laws(observed=lambda calls: map(change, LAWS.observed(calls)))


def in_writing_order(calls: Iterable[AuditCall]) -> Iterator[Observed]:
    for call in calls:
        found = {row.key: row for row in LAWS.observed([call])}
        yield from (found[name] for name in call.args if name in found)


def with_recordings(change: Callable[[Recording], Recording]) -> Laws:
    return Laws(recordings=lambda line: list(map(change, LAWS.recordings(line))))


def deaf(recording: Recording) -> Recording:
    return structs.replace(recording, audits=())


# --- pooling


def adding(ledger: Ledger, change: Change) -> bool:
    return LAWS.enter(ledger, structs.replace(change, whole=False))


def by_look() -> Laws:
    """Books that take each look at a session for another session."""
    looks = count()

    def enter(ledger: Ledger, change: Change) -> bool:
        name = f"{change.session}#{next(looks)}"
        return LAWS.enter(ledger, structs.replace(change, session=name, path=name))

    return Laws(enter=enter)


def orphaned(ledger: Ledger, change: Change) -> bool:
    return LAWS.enter(ledger, structs.replace(change, parent=""))


def by_place(ledger: Ledger, found: Audited, offset: int) -> Record:
    return LAWS.record(ledger, Audited(None, found.calls), offset)


def hoarding(ledger: Ledger) -> Pool:
    pool = LAWS.pool(ledger)
    entries = tuple(structs.replace(row, total=row.total + 1) for row in pool.entries)
    return structs.replace(pool, entries=entries)
