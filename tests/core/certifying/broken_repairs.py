"""Broken laws of repairing, trying and keeping."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import structs

from fabricd.core.certifying.laws import Laws
from fabricd.core.compiling.artifact import Artifact
from fabricd.core.compiling.gate import COSTS
from fabricd.core.compiling.verdict import CostRow, Trial
from fabricd.core.model import AuditCall, Plan, Rule, Surface
from fabricd.core.normalform.apply import Applied, Normalizer
from fabricd.core.normalform.derive import Derivation
from fabricd.core.plain import is_object
from fabricd.core.sessions.samples import Recording
from fabricd.core.steps import Steps
from fabricd.store import artifacts
from fabricd.store.atomic import write_atomic
from fabricd.store.durable import Load, Loaded

LAWS = Laws()


# --- repairing


class Copying(Normalizer):
    def apply(self, args: dict[str, Any]) -> Applied:
        applied = super().apply(args)
        return applied if applied.rules else Applied(dict(args))


class Eager(Normalizer):
    """Drops every null that is not required, as if it could never say anything."""

    def apply(self, args: dict[str, Any]) -> Applied:
        nulls = [name for name, value in args.items() if value is None]
        if self.plan is None or not nulls:
            return super().apply(args)
        kept = {name: value for name, value in args.items() if value is not None}
        return Applied(kept, tuple(Rule("optional-null", name) for name in nulls))


class Restless(Normalizer):
    """Finds something to repair each time."""

    def apply(self, args: dict[str, Any]) -> Applied:
        applied = super().apply(args)
        if self.plan is not None and args.get("maxResults") == 5:
            return Applied({**args, "maxResults": 6}, (Rule("numeric-string", "maxResults"),))
        return applied


class Unwitnessed(Normalizer):
    def witness(self, before: Mapping[str, Any], applied: Applied) -> Any:
        found = super().witness(before, applied)
        return None if found is None else structs.replace(found, rules=found.rules[1:])


class Lossy(Normalizer):
    """Takes any text for a number that looks like one."""

    def apply(self, args: dict[str, Any]) -> Applied:
        applied = super().apply(args)
        numbers = {name: number(value) for name, value in args.items()}
        candidate = {name: args[name] if n is None else n for name, n in numbers.items()}
        if applied.rules or self.accepts(args) or not self.accepts(candidate):
            return applied
        return Applied(candidate, (Rule("numeric-string", next(iter(args))),))


def number(value: object) -> float | None:
    try:
        return float(value) if isinstance(value, str) else None
    except ValueError:
        return None


class Choosing(Normalizer):
    """Takes the last of several spellings of one name."""

    def apply(self, args: dict[str, Any]) -> Applied:
        applied = super().apply(args)
        if applied.rules or not is_object(self.schema):
            return applied
        names = {name.lower().replace("-", ""): name for name in self.schema.get("properties", {})}
        moved = {names.get(n.lower().replace("-", ""), n): value for n, value in args.items()}
        if moved == args or not self.accepts(moved):
            return applied
        return Applied(moved, (Rule("key-form", next(iter(moved))),))


def derive_through(ref: str, schema: object) -> Derivation:
    """A derivation that passes over what it does not understand."""
    words = ("anyOf", "oneOf", "allOf", "$ref", "if", "not", "patternProperties")
    if is_object(schema):
        schema = {name: value for name, value in schema.items() if name not in words}
    return LAWS.derive(ref, schema)


def derive_little(ref: str, schema: object) -> Derivation:
    if is_object(schema) and len(schema.get("properties", ())) > 100:
        return Derivation(ref, reason="too large")
    return LAWS.derive(ref, schema)


# --- trying


def with_trial(change: Callable[[Trial], dict[str, Any]]) -> Laws:
    def trial(
        recordings: Iterable[Recording], surface: Surface, plans: Iterable[Plan] | None
    ) -> Steps[Trial]:
        found = yield from LAWS.trial(recordings, surface, plans)
        return structs.replace(found, **change(found))

    return Laws(trial=trial)


def trial_on(change: Callable[[Recording], Recording]) -> Laws:
    def trial(
        recordings: Iterable[Recording], surface: Surface, plans: Iterable[Plan] | None
    ) -> Steps[Trial]:
        return LAWS.trial(map(change, recordings), surface, plans)

    return Laws(trial=trial)


def unwrapped(recording: Recording) -> Recording:
    calls = tuple(
        AuditCall(call.ref, call.args.get("args", call.args)) for call in recording.audits
    )
    return structs.replace(recording, audits=calls)


def quiet(recording: Recording) -> Recording:
    """Without the action that fails more often than not."""
    trace = recording.trace
    kept = tuple(each for each in trace.operations if each.ref != "mcp.notes.open")
    return structs.replace(recording, trace=structs.replace(trace, operations=kept))


def with_a_win(trial: Trial) -> dict[str, Any]:
    gained = {"quarantine_win": trial.totals.operations, "typed_failure_win": 1}
    return {"totals": structs.replace(trial.totals, **gained)}


def half_tried(trial: Trial) -> dict[str, Any]:
    return {"totals": structs.replace(trial.totals, both_accept=0)}


def missing_one(trial: Trial) -> dict[str, Any]:
    """A call that was lost without a trace: all counts fit together."""
    totals = trial.totals
    fewer = {"operations": totals.operations - 1, "both_accept": totals.both_accept - 1}
    return {"totals": structs.replace(totals, **fewer)}


def costly(**totals: int) -> Callable[[Trial], dict[str, Any]]:
    return lambda trial: {"totals": structs.replace(trial.totals, **totals)}


def cost_rows(_: Trial) -> dict[str, Any]:
    return {"costs": tuple(CostRow("a", cost, 1) for cost in COSTS)}


# --- the machine


def save_always(path: Path, artifact: Artifact) -> str:
    write_atomic(path, LAWS.artifact_bytes(artifact))
    return "written"


def save_openly(path: Path, artifact: Artifact) -> str:
    outcome = artifacts.save(path, artifact)
    path.chmod(0o644)
    return outcome


def save_compactly(path: Path, artifact: Artifact) -> str:
    outcome = artifacts.save(path, artifact)
    if outcome == "written":
        path.write_bytes(path.read_bytes().replace(b"\n  ", b"\n"))
    return outcome


def load_forgetful(path: Path) -> Load[Artifact]:
    found = artifacts.load(path)
    if isinstance(found, Loaded):
        return Loaded(structs.replace(found.value, applied=()), found.raw)
    return found


# Names in the order of their hashes: another one in each process.
BY_HASH = """
import fabricd.core.canonical as canonical
canonical.text.__defaults__ = (lambda keys: sorted(keys, key=hash),)
"""
BY_LOCALE = """
import os
import fabricd.core.canonical as canonical
is_plain = os.environ["LC_ALL"] == "C"
canonical.text.__defaults__ = (lambda keys: sorted(keys, reverse=is_plain),)
"""
