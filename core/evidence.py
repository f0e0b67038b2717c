"""What a stretch of a session contributes to the measurements.

Evidence is a monoid: the pieces of any byte cut add up to one scan of the whole. It holds integers
and names only, never an argument value; distances are millionths, because float sums depend on
their grouping.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

from msgspec import Struct, field, structs

from fabricd.core.entropy.fingerprint import distance_millionths, shannon_of_ranks
from fabricd.core.entropy.keysets import keyset_text, runs_text, tells_names
from fabricd.core.model import REJECTING_STAGES, Operation, Trace
from fabricd.core.steps import OPERATIONS, Steps

NO_PHASE = "(none)"
_FLOW_TEXT = 512


def _bump(counts: dict[str, int], key: str, by: int = 1) -> None:
    counts[key] = counts.get(key, 0) + by


def _add_counts(into: dict[str, int], more: Mapping[str, int]) -> None:
    for key, count in more.items():
        into[key] = into.get(key, 0) + count


class RefTally(Struct):
    """Counts of one action: outcomes, shapes, failure stages.

    `churn` are the distances of its retries in millionths, in order: the report adds them up as
    doubles, and the sum of doubles depends on their order. `odd` holds, by shape, the argument
    names of those calls whose shape does not tell them (`keysets.keysets_of` puts both together).
    """

    succeeded: int = 0
    failed: int = 0
    aborted: int = 0
    timed_out: int = 0
    rejections: int = 0
    churn: list[int] = field(default_factory=list[int])
    shapes: dict[str, int] = field(default_factory=dict[str, int])
    stages: dict[str, int] = field(default_factory=dict[str, int])
    odd: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])

    @property
    def calls(self) -> int:
        """Every call has exactly one outcome."""
        return self.succeeded + self.failed + self.aborted + self.timed_out

    def add(self, more: RefTally) -> None:
        """Add another tally of the same action."""
        self.succeeded += more.succeeded
        self.failed += more.failed
        self.aborted += more.aborted
        self.timed_out += more.timed_out
        self.rejections += more.rejections
        self.churn.extend(more.churn)
        _add_counts(self.shapes, more.shapes)
        _add_counts(self.stages, more.stages)
        for shape, keysets in more.odd.items():
            _add_counts(self.odd.setdefault(shape, {}), keysets)


class FlowTally(Struct):
    """Ref sequences of one task; `ranks[c]` is how many sequences were seen `c` times."""

    occurrences: int = 0
    flows: dict[str, int] = field(default_factory=dict[str, int])
    ranks: dict[int, int] = field(default_factory=dict[int, int])

    def count(self, flow: str, times: int = 1) -> None:
        """Count one sequence, keeping the ranks in step."""
        before = self.flows.get(flow, 0)
        after = before + times
        self.flows[flow] = after
        self.occurrences += times
        if before:
            left = self.ranks[before] - 1
            if left:
                self.ranks[before] = left
            else:
                del self.ranks[before]
        self.ranks[after] = self.ranks.get(after, 0) + 1

    def bits(self) -> float:
        """Entropy of the sequences."""
        return shannon_of_ranks(self.ranks)


class ModelTally(Struct, gc=False):
    """Counts of the traces attributed to one model."""

    operations: int = 0
    action_operations: int = 0
    succeeded: int = 0
    rejections: int = 0

    def add(self, more: ModelTally) -> None:
        """Add another tally of the same model."""
        self.operations += more.operations
        self.action_operations += more.action_operations
        self.succeeded += more.succeeded
        self.rejections += more.rejections


class NormalFormTally(Struct, gc=False):
    """Calls that carried a witness, and how they ended."""

    normalized_calls: int = 0
    rules_applied: int = 0
    succeeded: int = 0
    subsequent_failures: int = 0

    def add(self, more: NormalFormTally) -> None:
        """Add the counts of another stretch."""
        self.normalized_calls += more.normalized_calls
        self.rules_applied += more.rules_applied
        self.succeeded += more.succeeded
        self.subsequent_failures += more.subsequent_failures


class Losses(Struct, gc=False):
    """What could not be read: trace lines that do not parse, glued lines, records over the cap."""

    bad_lines: int = 0
    glued_lines: int = 0
    overlong_lines: int = 0

    def add(self, more: Losses) -> None:
        """Add the counts of another stretch."""
        self.bad_lines += more.bad_lines
        self.glued_lines += more.glued_lines
        self.overlong_lines += more.overlong_lines

    def any(self) -> bool:
        """Whether anything was lost or had to be taken apart."""
        return bool(self.bad_lines or self.glued_lines or self.overlong_lines)


class Evidence(Struct):
    """Everything a stretch of one session, or a sum of stretches, says.

    `audit_spans` are (offset, length) of the trace lines that carry audits, in file bytes; they
    mean something only within one session. `refused` counts traces by the guard's reason. `churn`
    are the distances of all retries in millionths, in order of occurrence. `runs` counts traces by
    their unbroken successes (`keysets.runs_text`).
    """

    traces: int = 0
    operations: int = 0
    discovery: int = 0
    workflow: int = 0
    refs: dict[str, RefTally] = field(default_factory=dict[str, RefTally])
    tasks: dict[str, FlowTally] = field(default_factory=dict[str, FlowTally])
    models: dict[str, ModelTally] = field(default_factory=dict[str, ModelTally])
    refused: dict[str, int] = field(default_factory=dict[str, int])
    losses: Losses = field(default_factory=Losses)
    normal_forms: NormalFormTally = field(default_factory=NormalFormTally)
    audit_spans: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    churn: list[int] = field(default_factory=list[int])
    runs: dict[str, int] = field(default_factory=dict[str, int])

    def add(self, more: Evidence) -> None:
        """Add what another stretch says; `more` is left as it was."""
        self.traces += more.traces
        self.operations += more.operations
        self.discovery += more.discovery
        self.workflow += more.workflow
        for ref, tally in more.refs.items():
            self.ref(ref).add(tally)
        for task, flows in more.tasks.items():
            mine = self.task(task)
            for flow, times in flows.flows.items():
                mine.count(flow, times)
        for model, counts in more.models.items():
            self.model(model).add(counts)
        _add_counts(self.refused, more.refused)
        self.losses.add(more.losses)
        self.normal_forms.add(more.normal_forms)
        self.audit_spans.extend(more.audit_spans)
        self.churn.extend(more.churn)
        _add_counts(self.runs, more.runs)

    def ref(self, name: str) -> RefTally:
        """The tally of an action, made on first use."""
        tally = self.refs.get(name)
        if tally is None:
            tally = self.refs[name] = RefTally()
        return tally

    def task(self, name: str) -> FlowTally:
        """The flows of a task, made on first use."""
        tally = self.tasks.get(name)
        if tally is None:
            tally = self.tasks[name] = FlowTally()
        return tally

    def model(self, name: str) -> ModelTally:
        """The tally of a model, made on first use."""
        tally = self.models.get(name)
        if tally is None:
            tally = self.models[name] = ModelTally()
        return tally

    @property
    def size(self) -> int:
        """How many counts there are: what adding this evidence costs."""
        tallies = self.refs.values()
        shapes = sum(1 + len(tally.shapes) + sum(map(len, tally.odd.values())) for tally in tallies)
        flows = sum(len(task.flows) for task in self.tasks.values()) + len(self.runs)
        return shapes + flows + len(self.audit_spans) + len(self.churn)

    @property
    def is_empty(self) -> bool:
        """Whether the stretch says nothing at all."""
        return not (self.traces or self.refused or self.losses.any())


def add_steps(into: Evidence, more: Evidence) -> Steps[None]:
    """`into.add(more)`, yielding between actions and between batches of flows."""
    done = 0
    for ref, tally in more.refs.items():
        into.ref(ref).add(tally)
        done += 1 + len(tally.shapes)
        if done >= OPERATIONS:
            done = 0
            yield
    for task, flows in more.tasks.items():
        mine = into.task(task)
        for flow, times in flows.flows.items():
            mine.count(flow, times)
            done += 1
            if done >= OPERATIONS:
                done = 0
                yield
    into.add(structs.replace(more, refs={}, tasks={}))


def total_steps(pieces: Iterable[Evidence]) -> Steps[Evidence]:
    """The sum of pieces, yielding inside large ones."""
    result = Evidence()
    for piece in pieces:
        yield from add_steps(result, piece)
        yield
    return result


def count_trace(
    evidence: Evidence,
    trace: Trace,
    shapes: Sequence[str],
    model: str | None,
    doubtful: bool = True,
) -> Steps[None]:
    """Add one accepted trace to the evidence, yielding inside long traces.

    Args:
        shapes: the signature of each operation's arguments, in order.
        doubtful: some of them may not tell the argument names (`keysets.tells_names`).
    """
    flow: list[str] = []
    ended: list[str] = []
    waiting: dict[str, str] = {}
    # At least once: a trace without operations still belongs to its model.
    for first in range(0, max(1, len(trace.operations)), OPERATIONS):
        if first:
            yield
        chunk = slice(first, first + OPERATIONS)
        calls = trace.operations[chunk]
        _count_operations(evidence, calls, shapes[chunk], flow, ended, waiting, model, doubtful)
    _count_envelope(evidence, trace, flow, ended)


def count_short_trace(
    evidence: Evidence,
    trace: Trace,
    shapes: Sequence[str],
    model: str | None,
    doubtful: bool = True,
) -> None:
    """`count_trace` for a trace short enough to be counted without a pause: almost all are."""
    flow: list[str] = []
    ended: list[str] = []
    _count_operations(evidence, trace.operations, shapes, flow, ended, {}, model, doubtful)
    _count_envelope(evidence, trace, flow, ended)


def _count_operations(
    evidence: Evidence,
    operations: Sequence[Operation],
    shapes: Sequence[str],
    flow: list[str],
    ended: list[str],
    waiting: dict[str, str],
    model: str | None,
    doubtful: bool,
) -> None:
    """Count some operations of a trace; `flow`, `ended` and `waiting` carry over to the next."""
    already = len(flow)
    rejected = succeeded = 0
    refs = evidence.refs
    for operation, shape in zip(operations, shapes, strict=True):
        if operation.normalization:
            _count_witness(evidence.normal_forms, operation)
        ref = operation.ref
        tally = refs.get(ref)
        if tally is None:
            if _is_navigation(evidence, ref):
                continue
            tally = evidence.ref(ref)
        flow.append(ref)
        seen = tally.shapes
        seen[shape] = seen.get(shape, 0) + 1
        if doubtful and not tells_names(shape, operation.args):
            _bump(tally.odd.setdefault(shape, {}), keyset_text(operation.args))
        if waiting and ref in waiting:
            distance = distance_millionths(waiting.pop(ref), shape)
            tally.churn.append(distance)
            evidence.churn.append(distance)
        outcome = operation.outcome
        if outcome == "succeeded":
            tally.succeeded += 1
            succeeded += 1
        elif outcome == "failed":
            waiting[ref] = shape
            rejected += _count_failure(tally, operation)
        elif outcome == "aborted":
            tally.aborted += 1
        else:
            tally.timed_out += 1
    evidence.operations += len(operations)
    if succeeded == len(operations):
        ended += flow[already:]
    else:
        ended += [each.ref if each.outcome == "succeeded" else "" for each in operations]
    if model is not None:
        counts = evidence.models.get(model) or evidence.model(model)
        counts.operations += len(operations)
        counts.action_operations += len(flow) - already
        counts.succeeded += succeeded
        counts.rejections += rejected


def _count_envelope(
    evidence: Evidence, trace: Trace, flow: list[str], ended: Sequence[str]
) -> None:
    evidence.traces += 1
    if len(ended) > 2 and (text := runs_text(ended)):
        _bump(evidence.runs, text)
    if flow:
        evidence.task(trace.phases[0] if trace.phases else NO_PHASE).count(_flow_text(flow))


def _is_navigation(evidence: Evidence, ref: str) -> bool:
    if ref.startswith("fabric.discovery."):
        evidence.discovery += 1
        return True
    if ref.startswith("fabric.workflow."):
        evidence.workflow += 1
        return True
    return False


def _count_failure(tally: RefTally, operation: Operation) -> int:
    stage = operation.failure_stage or "unknown"
    tally.failed += 1
    _bump(tally.stages, stage)
    rejected = int(stage in REJECTING_STAGES)
    tally.rejections += rejected
    return rejected


def _count_witness(tally: NormalFormTally, operation: Operation) -> None:
    if not operation.normalization:
        return
    tally.normalized_calls += 1
    tally.rules_applied += len(operation.normalization.rules)
    if operation.outcome == "succeeded":
        tally.succeeded += 1
    else:
        tally.subsequent_failures += 1


def _flow_text(refs: list[str]) -> str:
    text = "→".join(refs)
    if len(text) <= _FLOW_TEXT:
        return text
    # Only equality of flows matters; a digest bounds what a long trace can make us keep.
    return "sha256:" + sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
