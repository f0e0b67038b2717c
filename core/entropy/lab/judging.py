"""Recorded calls before a declared schema and a restricted one: counts that gate and trial share.

Audits hold what the model sent, but not how it ended. Traces hold how it ended, but arguments only
as far as they were projected. Where an action has an audit at all, its traces do not count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct, field

from fabricd.core.canonical import digest
from fabricd.core.entropy.lab.proposals import EnumTighten, NoiseQuarantine
from fabricd.core.entropy.lab.restriction import tightened
from fabricd.core.model import Outcome, Surface
from fabricd.core.sessions.samples import Recording
from fabricd.core.steps import REPLAYS, Steps
from fabricd.core.validation import Unjudgeable, Validator

Accepts: TypeAlias = Callable[[object], bool]
_NOT_SAMPLED = ("fabric.discovery.", "fabric.workflow.")


class Seen(Struct, frozen=True):
    """One kind of sample. `outcome` is None for an audit; `by` are the proposals that refuse it.

    `declared` and `effective`: whether the declared schema accepts it, and the restricted one.
    """

    outcome: Outcome | None
    declared: bool
    effective: bool
    by: tuple[int, ...] = ()


class Judge(Struct, frozen=True):
    """An action under restriction. `effective` is None where it is removed.

    `alone` judges each proposal by itself, so that its cost can be told apart.
    """

    declared: Accepts
    effective: Accepts | None
    alone: tuple[tuple[int, Accepts], ...]


class Judged(Struct):
    """Samples by action and kind; `samples` also counts those of actions left as they are."""

    samples: int = 0
    by_ref: dict[str, Counter[Seen]] = field(default_factory=dict[str, "Counter[Seen]"])


def _never(_: object) -> bool:
    return False


def _accepts(schema: object) -> Accepts:
    try:
        return Validator(schema).accepts
    except Unjudgeable:
        return _never


def judges_of(
    live: Surface,
    effective: Surface,
    proposals: Sequence[EnumTighten | NoiseQuarantine],
) -> dict[str, Judge]:
    """A judge for each action that the effective surface changes or leaves out."""
    after = effective.schema_of()
    found: dict[str, Judge] = {}
    for ref, schema in live.schema_of().items():
        mine = [(n, row) for n, row in enumerate(proposals) if row.ref == ref]
        if not mine or (ref in after and digest(after[ref]) == digest(schema)):
            continue
        found[ref] = Judge(
            _accepts(schema),
            _accepts(after[ref]) if ref in after else None,
            tuple((n, _alone(schema, row)) for n, row in mine),
        )
    return found


def _alone(schema: dict[str, Any], proposal: EnumTighten | NoiseQuarantine) -> Accepts:
    if isinstance(proposal, NoiseQuarantine):
        return _never
    return _accepts(tightened(schema, [proposal]))


def _seen(judge: Judge, args: Mapping[str, Any], outcome: Outcome | None) -> Seen:
    declared = judge.declared(args)
    if judge.effective is not None and judge.effective(args):
        return Seen(outcome, declared, True)
    # What the declared schema refuses no tightening has to answer for.
    refusing = (n for n, accepts in judge.alone if not accepts(args))
    if not declared:
        refusing = (n for n, accepts in judge.alone if accepts is _never)
    return Seen(outcome, declared, False, tuple(refusing))


def _calls(recording: Recording) -> Iterator[tuple[str, Mapping[str, Any], Outcome | None]]:
    for audit in recording.audits:
        yield audit.ref, audit.args, None
    for operation in recording.trace.operations:
        yield operation.ref, operation.args, operation.outcome


class _Sources:
    """Samples from audits and from traces apart: which of them count is known in the end."""

    def __init__(self, known: frozenset[str], judges: Mapping[str, Judge]) -> None:
        self._known = known
        self._judges = judges
        self._audits: dict[str, Counter[Seen]] = {}
        self._traces: dict[str, Counter[Seen]] = {}
        self._heard: dict[str, int] = {}
        self._traced: dict[str, int] = {}

    def add(self, ref: str, args: Mapping[str, Any], outcome: Outcome | None) -> None:
        """Judge a call, where it is a sample."""
        if ref not in self._known or ref.startswith(_NOT_SAMPLED):
            return
        counts = self._heard if outcome is None else self._traced
        counts[ref] = counts.get(ref, 0) + 1
        if (judge := self._judges.get(ref)) is not None:
            kinds = self._audits if outcome is None else self._traces
            kinds.setdefault(ref, Counter())[_seen(judge, args, outcome)] += 1

    def judged(self) -> Judged:
        """The samples that count."""
        return Judged(sum((self._traced | self._heard).values()), self._traces | self._audits)


def judged_steps(
    recordings: Iterable[Recording], live: Surface, judges: Mapping[str, Judge]
) -> Steps[Judged]:
    """Judge every call of recordings, yielding between batches."""
    sources = _Sources(frozenset(live.schema_of()), judges)
    done = 0
    for recording in recordings:
        for ref, args, outcome in _calls(recording):
            sources.add(ref, args, outcome)
            done += 1
            if done % REPLAYS == 0:
                yield
    return sources.judged()
