"""Author review: what the evidence suggests to whoever declares the actions. Never applied.

Three signals are the reference's (its §13 thresholds); three say what our own limits left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct, field

from fabricd.core.canonical import as_given, text
from fabricd.core.entropy.keysets import RUN, keysets_of, runs_in
from fabricd.core.entropy.meter import Report
from fabricd.core.entropy.observations import Observed, Scalar, typed_text
from fabricd.core.evidence import Evidence, RefTally
from fabricd.core.javascript import round6, sorted_by_units, utf16_key
from fabricd.core.model import Surface
from fabricd.core.plain import is_list, is_object
from fabricd.core.steps import OPERATIONS, Steps

MARK = "x-fabric-enum-candidate"
MOST = 8
_OBSERVED = 8
_DISTINCT = range(2, 9)
_LONGEST_RUN = 6
_OCCURRENCES = 3


class DeclareEnum(Struct, frozen=True, rename="camel", tag="declare-enum", tag_field="kind"):
    """An argument marked as a candidate takes few values: its schema could list them."""

    ref: str
    key: str
    values: tuple[Scalar, ...]
    calls: int
    distinct: int
    top_share: float


class Cluster(Struct, frozen=True):
    """Argument names that come together, and in how many calls."""

    keys: tuple[str, ...]
    calls: int


class OverloadSplit(Struct, frozen=True, rename="camel", tag="overload-split", tag_field="kind"):
    """An action is called with sets of arguments that share nothing: it may be two actions."""

    ref: str
    shape_entropy_bits: float
    clusters: tuple[Cluster, ...]


class SequenceFuse(Struct, frozen=True, tag="sequence-fuse", tag_field="kind"):
    """Actions that follow one another again and again: they may be one action."""

    sequence: tuple[str, ...]
    occurrences: int


class RulesCut(Struct, frozen=True, tag="rules-cut", tag_field="kind"):
    """Rules of an action that fell to the limit of 128 a plan: its later properties get no help."""

    ref: str
    rules: int


class PropertyNotJudged(Struct, frozen=True, tag="property-not-judged", tag_field="kind"):
    """A property schema that no validator can compile, so that its action gets no plan.

    `key` is None where it is not a matter of one property.
    """

    ref: str
    key: str | None
    reason: str


class NotOnSurface(Struct, frozen=True, tag="not-on-surface", tag_field="kind"):
    """An action that was called and is not declared."""

    ref: str
    calls: int


Signal: TypeAlias = (
    DeclareEnum | OverloadSplit | SequenceFuse | RulesCut | PropertyNotJudged | NotOnSurface
)


def _ranked(values: Mapping[tuple[str, str], tuple[Scalar, int]]) -> list[tuple[Scalar, int]]:
    def rank(item: tuple[tuple[str, str], tuple[Scalar, int]]) -> tuple[int, bytes]:
        return -item[1][1], utf16_key(":".join(item[0]))

    return [found for _, found in sorted(values.items(), key=rank)]


def is_candidate(schema: object, key: str) -> bool:
    """Whether an argument is marked as one whose values could be listed, and lists none yet."""
    properties = schema.get("properties") if is_object(schema) else None
    declared = properties.get(key) if is_object(properties) else None
    if not is_object(declared) or declared.get(MARK) is not True:
        return False
    return declared.get("type") != "boolean" and not is_list(declared.get("enum"))


def enum_steps(observed: Iterable[Observed], surface: Surface) -> Steps[list[DeclareEnum]]:
    """Arguments whose values could be listed, by ref and key; yields between observations."""
    schemas = surface.schema_of()
    values: dict[tuple[str, str], dict[tuple[str, str], tuple[Scalar, int]]] = {}
    for number, row in enumerate(observed, start=1):
        if number % OPERATIONS == 0:
            yield
        if is_candidate(schemas.get(row.ref), row.key):
            mine = values.setdefault((row.ref, row.key), {})
            identity = typed_text(row.value)
            first, count = mine.get(identity, (row.value, 0))
            mine[identity] = (first, count + row.count)
    found = [
        signal
        for (ref, key), mine in sorted(values.items(), key=lambda item: utf16_key(_pair(*item[0])))
        if (signal := _enum_of(ref, key, _ranked(mine))) is not None
    ]
    return found[:MOST]


def _pair(ref: str, key: str) -> str:
    return f"{ref}\0{key}"


def _enum_of(ref: str, key: str, ranked: Sequence[tuple[Scalar, int]]) -> DeclareEnum | None:
    calls = sum(count for _, count in ranked)
    if calls < _OBSERVED or len(ranked) not in _DISTINCT:
        return None
    share = round6(ranked[0][1] / calls)
    if share < 0.5:
        return None
    return DeclareEnum(ref, key, tuple(value for value, _ in ranked), calls, len(ranked), share)


def _split_of(ref: str, bits: float, tally: RefTally) -> OverloadSplit | None:
    counts = keysets_of(tally.shapes, tally.odd)
    often = [Cluster(keys, calls) for keys, calls in counts.items() if calls >= 2]
    # Names with a comma inside may join to the same text: their own order decides then.
    often.sort(
        key=lambda cluster: (-cluster.calls, utf16_key(",".join(cluster.keys)), cluster.keys)
    )
    kept: list[Cluster] = []
    taken: set[str] = set()
    for cluster in often:
        if taken.isdisjoint(cluster.keys):
            kept.append(cluster)
            taken.update(cluster.keys)
    return OverloadSplit(ref, bits, tuple(kept[:MOST])) if len(kept) >= 2 else None


def split_steps(report: Report, evidence: Evidence) -> Steps[list[OverloadSplit]]:
    """Actions with disjoint sets of arguments, in the report's order."""
    found: list[OverloadSplit] = []
    for row in report.refs:
        if row.shape_entropy_bits >= 1 and len(found) < MOST:
            signal = _split_of(row.ref, row.shape_entropy_bits, evidence.refs[row.ref])
            found += [] if signal is None else [signal]
            yield
    return found


class _Windows(Struct):
    occurrences: dict[tuple[str, ...], int] = field(default_factory=dict[tuple[str, ...], int])
    traces: dict[tuple[str, ...], int] = field(default_factory=dict[tuple[str, ...], int])

    def frequent(self) -> dict[tuple[str, ...], int]:
        return {
            window: times
            for window, times in self.occurrences.items()
            if times >= _OCCURRENCES and self.traces[window] >= _OCCURRENCES
        }


def _windows(
    runs: Sequence[Sequence[str]], length: int, shorter: Mapping[tuple[str, ...], int] | None
) -> Iterator[tuple[str, ...]]:
    """Windows of a length with all refs different; only those whose parts are in `shorter`."""
    for run in runs:
        for start in range(len(run) - length + 1):
            window = tuple(run[start : start + length])
            if shorter is not None and (window[1:] not in shorter or window[:-1] not in shorter):
                continue
            if len(set(window)) == length:
                yield window


def sequence_steps(evidence: Evidence) -> Steps[list[SequenceFuse]]:
    """Sequences of three to six actions that succeeded one after another in three traces."""
    frequent: dict[tuple[str, ...], int] = {}
    shorter: dict[tuple[str, ...], int] | None = None
    for length in range(RUN, _LONGEST_RUN + 1):
        counted = _Windows()
        done = 0
        for joined, times in evidence.runs.items():
            mine = list(_windows(runs_in(joined), length, shorter))
            for window in mine:
                counted.occurrences[window] = counted.occurrences.get(window, 0) + times
            for window in set(mine):
                counted.traces[window] = counted.traces.get(window, 0) + times
            done += 1 + len(mine)
            if done >= OPERATIONS:
                done = 0
                yield
        # A window can only be frequent where both windows inside it are.
        shorter = counted.frequent()
        frequent |= shorter
        if not shorter:
            break
    return _longest(frequent)


def _longest(frequent: Mapping[tuple[str, ...], int]) -> list[SequenceFuse]:
    def rank(item: tuple[tuple[str, ...], int]) -> tuple[int, int, bytes]:
        return -len(item[0]), -item[1], utf16_key(" -> ".join(item[0]))

    chosen: list[SequenceFuse] = []
    for window, times in sorted(frequent.items(), key=rank):
        # Sorted by length: a later one can be inside a chosen one, never around it.
        if len(chosen) < MOST and not any(_holds(signal.sequence, window) for signal in chosen):
            chosen.append(SequenceFuse(window, times))
    return chosen


def _holds(long: Sequence[str], short: Sequence[str]) -> bool:
    spans = range(len(long) - len(short) + 1)
    return any(tuple(long[at : at + len(short)]) == tuple(short) for at in spans)


def undeclared(report: Report, surface: Surface) -> list[NotOnSurface]:
    """Actions called and not declared, most calls first. The host's own actions are not meant."""
    declared = surface.schema_of()
    rows = [
        NotOnSurface(row.ref, row.calls)
        for row in report.refs
        if row.ref not in declared and not row.ref.startswith("fabric.")
    ]
    return sorted(rows, key=lambda row: (-row.calls, utf16_key(row.ref)))


def line_of(signal: Signal) -> str:
    """One suggestion as a short line for logs and events."""
    match signal:
        case DeclareEnum(ref=ref, key=key, values=values):
            shown = ", ".join(typed_text(value)[1] for value in values[:4])
            more = ", ..." if len(values) > 4 else ""
            return f"declare-enum {ref}.{key} ({shown}{more})"
        case OverloadSplit(ref=ref, clusters=clusters):
            return f"overload-split {ref} ({len(clusters)} key-set clusters)"
        case SequenceFuse(sequence=sequence):
            return f"sequence-fuse {' -> '.join(sequence)}"
        case RulesCut(ref=ref, rules=rules):
            return f"rules-cut {ref} ({rules} rules)"
        case PropertyNotJudged(ref=ref, key=key):
            return f"property-not-judged {ref}{'' if key is None else f'.{key}'}"
        case NotOnSurface(ref=ref):
            return f"not-on-surface {ref}"


def identity_of(signal: Signal) -> str:
    """What makes a suggestion the one it is: its counts left out, and any order that they give."""
    match signal:
        case DeclareEnum(ref=ref, key=key, values=values):
            pairs = [[typed_text(value)[0], value] for value in values]
            pairs.sort(key=lambda pair: utf16_key(text(pair, as_given)))
            parts: list[Any] = ["declare-enum", ref, key, pairs]
        case OverloadSplit(ref=ref, clusters=clusters):
            keys = [list(cluster.keys) for cluster in clusters]
            keys.sort(key=lambda names: utf16_key(text(names, as_given)))
            parts = ["overload-split", ref, keys]
        case SequenceFuse(sequence=sequence):
            parts = ["sequence-fuse", list(sequence)]
        case RulesCut(ref=ref):
            parts = ["rules-cut", ref]
        case PropertyNotJudged(ref=ref, key=key):
            parts = ["property-not-judged", ref, key]
        case NotOnSurface(ref=ref):
            parts = ["not-on-surface", ref]
    return text(parts, as_given)


def review_key(signals: Iterable[Signal]) -> str:
    """The identity of a whole review: equal as long as nothing new is suggested."""
    return text(sorted_by_units(map(identity_of, signals)), as_given)
