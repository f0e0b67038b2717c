"""The gate in time: which audits still have to be replayed before these plans may be accepted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import anyio.to_thread

from fabricd.core.aliases import learned_keys_steps, supposed_key_alias
from fabricd.core.compiling.gate import GateVerdict, Trialled, replay_steps, trialled_steps
from fabricd.core.model import AuditCall
from fabricd.core.repairs import KeyAlias
from fabricd.core.sessions.audits import calls_of
from fabricd.daemon.compiling.declared import Declared
from fabricd.daemon.cooperate import drive
from fabricd.daemon.tailing.books import Spans
from fabricd.store.sessions import read_spans

_BATCH = 64


class Gatekeeper:
    """Replays the window's audits. While the plans stay those that passed, only newer ones.

    The calls pass by here once for each surface, so here is seen too what spells an argument
    otherwise than it is declared.
    """

    def __init__(self) -> None:
        self._passed: str | None = None
        self._trialled: Mapping[str, Trialled] = {}
        self._done: dict[tuple[bytes, int], int] = {}
        self._learned: dict[KeyAlias, None] = {}

    def take_learned(self) -> tuple[KeyAlias, ...]:
        """The aliases that the calls replayed since the last time prove."""
        learned, self._learned = tuple(self._learned), {}
        return learned

    async def judge(self, declared: Declared, sessions: Sequence[Spans]) -> GateVerdict:
        """The verdict on a surface's plans over the audits not yet replayed through them."""
        digest = declared.surface.digest
        if digest != self._passed:
            self._passed, self._done = None, {}
            steps = trialled_steps(declared.surface, declared.plans.plans)
            self._trialled = await drive(steps)
        schemas = declared.surface.schema_of()
        verdict = GateVerdict()
        done: dict[tuple[bytes, int], int] = {}
        for session in sessions:
            key = (session.path, session.generation)
            first = self._done.get(key, 0)
            for spans in (session.spans[first:], session.open_spans):
                verdict.add(await self._replay(session.path, spans, schemas))
            done[key] = len(session.spans)
        if verdict.passed:
            self._passed, self._done = digest, done
        else:
            self._passed = None
        return verdict

    async def _replay(
        self, path: bytes, spans: Sequence[tuple[int, int]], schemas: Mapping[str, Any]
    ) -> GateVerdict:
        verdict = GateVerdict()
        for first in range(0, len(spans), _BATCH):
            batch = spans[first : first + _BATCH]
            lines = await anyio.to_thread.run_sync(read_spans, path, batch)
            verdict.not_replayed += len(batch) - len(lines)
            suspects: list[AuditCall] = []
            calls = _noting(calls_of(lines), schemas, suspects)
            verdict.add(await drive(replay_steps(calls, self._trialled)))
            learned = await drive(learned_keys_steps(suspects, schemas))
            self._learned |= dict.fromkeys(learned)
        return verdict


def _noting(
    calls: Iterable[AuditCall], schemas: Mapping[str, Any], suspects: list[AuditCall]
) -> Iterator[AuditCall]:
    for call in calls:
        if supposed_key_alias(call, schemas.get(call.ref)) is not None:
            suspects.append(call)
        yield call
