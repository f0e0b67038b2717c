"""The gate without a daemon: every audit of a measured directory through the plans."""

from __future__ import annotations

from fabricd.core.compiling.compile import Plans
from fabricd.core.compiling.gate import GateVerdict, replay_steps, trialled_steps
from fabricd.core.model import Surface
from fabricd.core.sessions.audits import calls_of
from fabricd.core.steps import finish
from fabricd.daemon.offline.measuring import Measured
from fabricd.store.sessions import read_spans

_BATCH = 64


def replay(measured: Measured, surface: Surface, plans: Plans) -> GateVerdict:
    """Replay every audit call of a measured directory through plans."""
    trialled = finish(trialled_steps(surface, plans.plans))
    verdict = GateVerdict()
    for file, evidence in measured.sessions:
        spans = evidence.audit_spans
        for first in range(0, len(spans), _BATCH):
            batch = spans[first : first + _BATCH]
            lines = read_spans(file.path, batch)
            verdict.not_replayed += len(batch) - len(lines)
            verdict.add(finish(replay_steps(calls_of(lines), trialled)))
    return verdict
