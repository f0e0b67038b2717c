"""A study for people: plain words, counts beside every figure, and what none of it does."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import Any, assert_never

from fabricd.core.canonical import text
from fabricd.core.entropy.lab.proposals import EnumTighten, ModalRename, NoiseQuarantine, Proposal
from fabricd.core.entropy.lab.study import Priced
from fabricd.core.entropy.lab.trial import Bill, Trial
from fabricd.core.plain import printable
from fabricd.daemon.offline.studying import Lab

_WORST = 5
_SHOWN = 4
_VALUE = 40
_WIDTH = 100
_CALLS = ("call", "calls")


def lab_words(lab: Lab) -> str:
    """The study as text."""
    sections = (_score(lab), _worst(lab), _proposals(lab), _gate(lab), _trial(lab.study.trial))
    blocks = ["\n".join(lines) for lines in map(list, sections) if lines]
    blocks.append(
        "Nothing is applied: fabricd restricts no action and no argument, and an artifact of\n"
        "version 1 has no effect."
    )
    return "\n\n".join(blocks) + "\n"


def _score(lab: Lab) -> Iterator[str]:
    report, parts = lab.report, lab.parts
    yield f"Metric 2: {report.score:.6f} (lower is better), a score of an earlier design"
    yield f"  static {report.static_score:.6f} · behavioral {report.behavioral_score:.6f}"
    yield (
        f"  metric 3, by which fabricd goes, is the rate of refused calls: "
        f"{100 * lab.rejection_rate:.2f} %"
    )
    yield ""
    successes = _many(report.totals.succeeded, "success", "successes")
    yield f"Its parts, added up and divided by {successes if report.totals.succeeded else '1'}"
    rows = (
        (parts.shapes, "bits of argument shapes"),
        (parts.stages, "bits of failure stages"),
        (parts.churn, "4 x churn of retries"),
        (parts.lexicon, "2 x repair rows"),
        (parts.freedom, "0.25 x freedom of the schemas"),
        (parts.navigation, "4 x navigation"),
        (parts.flow, "bits of flow"),
    )
    width = max(len(f"{value:,.3f}") for value, _ in rows)
    for value, name in rows:
        yield f"  {value:>{width},.3f}  {name}"


def _worst(lab: Lab) -> Iterator[str]:
    rows = [row for row in lab.report.refs if row.score > 0]
    if not rows:
        return
    yield "Highest scores"
    width = max(len(f"{row.score:,.3f}") for row in rows[:_WORST])
    for row in rows[:_WORST]:
        calls = _many(row.calls, "call", "calls")
        yield f"  {row.score:>{width},.3f}  {printable(row.ref)} ({calls}, {row.failed:,} failed)"
    if len(rows) > _WORST:
        yield f"  and {len(rows) - _WORST:,} more actions"


def _proposals(lab: Lab) -> Iterator[str]:
    older = _many(lab.proposing, "older session", "older sessions")
    newer = _many(lab.held_out, "newer one", "newer ones")
    yield f"Proposals from {older}, held against {newer}"
    if not lab.study.proposals:
        yield "  none"
        return
    if not lab.study.from_audits:
        yield "  (values as far as traces show them: no audited call holds any)"
    for number, priced in enumerate(lab.study.proposals, start=1):
        first, *more = _proposal(priced)
        yield f"  {number}. {first}"
        for line in more:
            yield f"     {line}"


def _proposal(priced: Priced) -> Iterator[str]:
    proposal, bill = priced.proposal, priced.bill
    match proposal:
        case EnumTighten(ref=ref, key=key, values=values, declared=declared, calls=calls):
            yield (
                f"tighten {printable(ref)}, {_quoted(key)}: keep {len(values)} of "
                f"{declared} declared members ({_values(values)}), from {_many(calls, *_CALLS)}"
            )
            yield _bill(proposal, bill)
        case NoiseQuarantine(ref=ref, calls=calls, failed=failed, failure_stage_entropy_bits=bits):
            yield (
                f"remove {printable(ref)}: {failed:,} of {_many(calls, *_CALLS)} failed, "
                f"{bits:.2f} bits of stages"
            )
            yield _bill(proposal, bill)
        case ModalRename(ref=ref, declared=declared, spelling=spelling):
            where = "" if proposal.alias == "actionAlias" else f" of {printable(ref)}"
            yield f"rename {_quoted(declared)}{where} to {_quoted(spelling)}"
            yield _bill(proposal, bill)
            yield "never part of an artifact: every call that is right today uses the declared"
            yield "name, and a rename takes exactly that name away"
        case _:
            assert_never(proposal)


def _bill(proposal: Proposal, bill: Bill) -> str:
    if not bill.samples:
        return "no held-out call tells what it would cost"
    of = f"of {_many(bill.samples, 'held-out call', 'held-out calls')}"
    if isinstance(proposal, ModalRename):
        uses = f"{bill.costs:,} use the declared name and would be refused"
        return f"{of} {uses}, {bill.wins:,} use the other"
    return f"{of} {bill.costs:,} would be lost, and {bill.wins:,} that failed anyway refused sooner"


def _gate(lab: Lab) -> Iterator[str]:
    gate, artifact = lab.study.gate, lab.study.artifact
    if not artifact.overlays and not artifact.quarantined:
        yield "The gate of that design has nothing to judge"
        return
    verdict = "would let this pass" if gate.passed else "would refuse this"
    yield f"The gate of that design {verdict}"
    yield (
        f"  score {gate.before_score:.6f} → {gate.after_score:.6f}, successes "
        f"{gate.before_succeeded:,} → {gate.after_succeeded:,}; {_many(gate.replayed, *_CALLS)} "
        f"replayed, {gate.exempt:,} exempt"
    )
    for reason in gate.reasons:
        yield f"  {printable(reason)}"
    yield from _wrapped(f"This gate is not enough: {gate.caveat}.")


def _trial(trial: Trial) -> Iterator[str]:
    totals = trial.totals
    yield f"Held-out trial: {trial.verdict.replace('-', ' ')}"
    if not totals.restricted:
        yield f"  none of {_many(totals.operations, *_CALLS)} is of a restricted action"
        return
    yield (
        f"  {_many(totals.operations, *_CALLS)}, {totals.restricted:,} of restricted actions: "
        f"{totals.both_accept:,} accepted as before, {totals.both_reject:,} refused as before"
    )
    rows = (
        (totals.tightening_cost, "would be refused by a tightened schema"),
        (totals.quarantine_cost, "would find their action removed"),
        (totals.typed_failure_win, "that failed anyway would be refused by a tightened schema"),
        (totals.quarantine_win, "that failed anyway would find their action removed"),
    )
    for count, words in rows:
        if count:
            yield f"  {count:,} {words}"
    yield f"  score {trial.declared_score:.6f} → {trial.effective_score:.6f}"


def _wrapped(sentence: str) -> list[str]:
    return wrap(sentence, _WIDTH, initial_indent="  ", subsequent_indent="  ")


def _many(count: int, one: str, more: str) -> str:
    return f"{count:,} {one if count == 1 else more}"


def _quoted(name: str) -> str:
    return f'"{printable(name)}"'


def _values(values: tuple[Any, ...]) -> str:
    short = [printable(_cut(text(value))) for value in values[:_SHOWN]]
    return ", ".join(short) + (", …" if len(values) > _SHOWN else "")


def _cut(written: str) -> str:
    return written if len(written) <= _VALUE else written[:_VALUE] + "…"
