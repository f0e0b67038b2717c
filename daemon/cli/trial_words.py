"""The trial for people. Numbers first, one plain word for the verdict, no raw log text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from fabricd.core.compiling.gate import COSTS
from fabricd.core.compiling.verdict import Coverage, Trial
from fabricd.core.plain import printable

Row: TypeAlias = tuple[int, str]

_ROWS = 8
_WIDTH = 160


def trial_words(trial: Trial) -> str:
    """The outcome as text."""
    lines = [_headline(trial), *_table(_samples(trial)), "", *_background(trial)]
    sections: tuple[tuple[str, Sequence[Row]], ...] = (
        ("Costs", [(row.count, f"{COSTS[row.cost]}: {row.ref}") for row in trial.costs]),
        ("Repaired", _repaired(trial)),
        ("Not replayable: trace operations without an audit in their place", _gaps(trial.coverage)),
        (
            "Plans left out, with the calls they would have met",
            [(row.operations, f"{row.ref}: {row.reason}") for row in trial.plans.unproven],
        ),
        (
            "Not judged, and so counted as refused",
            [(row.operations, f"{row.ref}: {row.reason}") for row in trial.not_judged],
        ),
    )
    for title, rows in sections:
        if rows:
            lines += ["", title, *_table(rows[:_ROWS])]
        if len(rows) > _ROWS:
            lines.append(f"  and {len(rows) - _ROWS:,} more")
    return "".join(f"{line}\n" for line in lines)


def _calls(count: int) -> str:
    return "1 call" if count == 1 else f"{count:,} calls"


def _headline(trial: Trial) -> str:
    totals = trial.totals
    tried = f"{_calls(totals.operations)} tried, {totals.normalization_win:,} repaired"
    match trial.verdict:
        case "clean":
            return f"clean: {tried}; nothing that the schemas accept would change"
        case "costly":
            found = sum(row.count for row in trial.costs)
            against = "1 finding" if found == 1 else f"{found:,} findings"
            return f"costly: {tried}; {against} against the plans"
        case "no-evidence":
            return f"no evidence: {_calls(totals.operations)} tried, none of them met a proven plan"


def _samples(trial: Trial) -> list[Row]:
    totals = trial.totals
    rows = [
        (totals.both_accept, "accepted as they are"),
        (totals.normalization_win, "refused as they are, repaired by a plan"),
        (totals.both_reject, "refused before and after"),
    ]
    if totals.tightening_cost:
        rows.append((totals.tightening_cost, "accepted as they are, refused after a plan"))
    return rows


def _background(trial: Trial) -> list[str]:
    plans = trial.plans
    past = 100 * trial.declared_score
    return [
        f"{plans.used:,} of {plans.proven:,} proven plans met {_calls(plans.operations)}",
        f"{past:.2f} % of the calls were refused when they were made; a trial changes no history",
    ]


def _repaired(trial: Trial) -> list[Row]:
    rows = [
        (row.count, row.ref) for row in trial.divergences if row.trial_class == "normalization-win"
    ]
    return sorted(rows, key=lambda row: -row[0])


def _gaps(coverage: Coverage) -> list[Row]:
    gaps = sorted(coverage.refs, key=lambda gap: -gap.not_replayable)
    total = (coverage.not_replayable, f"of {coverage.replaced_operations:,} in all")
    return [
        *([total] if gaps else []),
        *((gap.not_replayable, f"of {gap.operations:,} of {gap.ref}") for gap in gaps),
    ]


def _table(rows: Iterable[Row]) -> list[str]:
    """Counts, right-aligned, and what they count. The words may quote logs."""
    counted = [(f"{count:,}", _short(printable(words))) for count, words in rows]
    width = max((len(count) for count, _ in counted), default=0)
    return [f"  {count:>{width}}  {words}" for count, words in counted]


def _short(words: str) -> str:
    return words if len(words) <= _WIDTH else f"{words[: _WIDTH - 1]}…"
