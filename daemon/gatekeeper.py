"""The gate in time: which audits still have to be replayed before these plans may be accepted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import anyio.to_thread

from fabricd.core.compiling.gate import GateVerdict, Trialled, replay_steps, trialled_steps
from fabricd.core.sessions.audits import calls_of
from fabricd.daemon.books import Spans
from fabricd.daemon.cooperate import drive
from fabricd.daemon.declared import Declared
from fabricd.store.sessions import read_spans

_BATCH = 64


class Gatekeeper:
    """Replays the window's audits. While the plans stay those that passed, only newer ones."""

    def __init__(self) -> None:
        self._passed: str | None = None
        self._trialled: Mapping[str, Trialled] = {}
        self._done: dict[tuple[bytes, int], int] = {}

    async def judge(self, declared: Declared, sessions: Sequence[Spans]) -> GateVerdict:
        """The verdict on a surface's plans over the audits not yet replayed through them."""
        digest = declared.surface.digest
        if digest != self._passed:
            self._passed, self._done = None, {}
            steps = trialled_steps(declared.surface, declared.plans.plans)
            self._trialled = await drive(steps)
        verdict = GateVerdict()
        done: dict[tuple[bytes, int], int] = {}
        for session in sessions:
            key = (session.path, session.generation)
            first = self._done.get(key, 0)
            verdict.add(await self._replay(session.path, session.spans[first:]))
            verdict.add(await self._replay(session.path, session.open_spans))
            done[key] = len(session.spans)
        if verdict.passed:
            self._passed, self._done = digest, done
        else:
            self._passed = None
        return verdict

    async def _replay(self, path: bytes, spans: Sequence[tuple[int, int]]) -> GateVerdict:
        verdict = GateVerdict()
        for first in range(0, len(spans), _BATCH):
            batch = spans[first : first + _BATCH]
            lines = await anyio.to_thread.run_sync(read_spans, path, batch)
            verdict.not_replayed += len(batch) - len(lines)
            verdict.add(await drive(replay_steps(calls_of(lines), self._trialled)))
        return verdict
