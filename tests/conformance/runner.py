"""Running a folder of vectors: each case compared, mismatches held against the rules, totals."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from tests.conformance import cases, corpora, fields, merging, plans, pooling, reviewing, trialling
from tests.conformance.differences import RULES
from tests.conformance.opsle import KINDS as OPSLE_KINDS
from tests.conformance.opsle import opsle
from tests.conformance.values import (
    Case,
    Check,
    difference,
    has_undefined,
    is_list,
    is_object,
    same,
)

KINDS: Mapping[str, Callable[[Case], Check]] = {
    "artifact_parse": cases.artifact_parse,
    "collation_ascii": cases.collation_ascii,
    "compile": plans.compiling,
    "corpora": corpora.corpora,
    "derive_apply": plans.derive_apply,
    fields.NAME: fields.field_arguments,
    "js_numbers": cases.js_numbers,
    "merges": merging.merges,
    "notices": reviewing.notices,
    "pool": pooling.pools,
    "review": reviewing.reviews,
    "round": cases.rounding,
    "shannon": cases.shannon_bits,
    "shape_signatures": cases.shape_signatures,
    "signature_distance": cases.signature_distances,
    "stable_hash": cases.stable_hash,
    "static_freedom": cases.static_freedoms,
    "trace_guard": cases.trace_guard,
    "trend": cases.trends,
    "trials": trialling.trials,
    "validator": cases.validator,
    **dict.fromkeys(OPSLE_KINDS, opsle),
}
_INNER = ("fabric", "opsle")


class NoVectors(ValueError):
    """Raised by `vector_files`: nothing there that this version can run."""

    def __init__(self, directory: Path) -> None:
        super().__init__(
            f"{directory} holds no vector file, nor does a folder fabric/ or opsle/ in it."
        )


@dataclass
class Tally:
    """What became of the cases of a file. `rules` counts the differences on purpose by name."""

    passed: int = 0
    skipped: int = 0
    rules: Counter[str] = field(default_factory=Counter[str])
    on_purpose: int = 0
    failures: list[str] = field(default_factory=list[str])

    def __str__(self) -> str:
        failed = len(self.failures)
        return f"{self.passed} passed, {failed} failed, {self.on_purpose} differ on purpose"

    def add(self, more: Tally) -> None:
        """Add the counts of another file."""
        self.passed += more.passed
        self.skipped += more.skipped
        self.rules.update(more.rules)
        self.on_purpose += more.on_purpose
        self.failures += more.failures


def explaining_rules(kind: str, case: Case, check: Check) -> list[str]:
    """The rules that together turn the expected result into exactly ours; none if they do not."""
    wanted, names = check.expected, list[str]()
    for rule in RULES:
        adjusted = rule.adjusted(kind, case, wanted)
        if not same(adjusted, wanted):
            wanted, names = adjusted, [*names, rule.name]
    return names if same(wanted, check.found) else []


def judge(kind: str, case: Case, check: Check, label: str, tally: Tally) -> None:
    """Count one checked case."""
    where = difference(*check)
    if where is None:
        tally.passed += 1
    elif rules := explaining_rules(kind, case, check):
        tally.on_purpose += 1
        tally.rules.update(rules)
    else:
        tally.failures.append(f"{label}: {where}")


def run_case(kind: str, case: Case, label: str, tally: Tally) -> None:
    """Run and count one case."""
    # The collation file is one case by itself, and its head names the marker.
    if kind != "collation_ascii" and has_undefined(case):
        tally.skipped += 1
        return
    try:
        judge(kind, case, KINDS[kind](case), label, tally)
    except Exception as error:
        # One case that breaks us must not hide what becomes of the others.
        tally.failures.append(f"{label}: {type(error).__name__} {str(error)[:200]!a}")


def _cases_of(path: Path) -> list[Any]:
    document: Any = json.loads(path.read_bytes())
    if path.stem == "collation_ascii":
        return [document]
    listed = document.get("cases") if is_object(document) else None
    if not is_list(listed):
        raise ValueError("it has no list of cases")
    # What a file says once, at its head, holds for each of its cases.
    head = {"surface": document["surface"]} if "surface" in document else {}
    return [{**head, **case} if is_object(case) else case for case in listed]


def run_file(path: Path) -> Tally:
    """Run all cases of a vector file."""
    tally = Tally()
    try:
        listed = _cases_of(path)
    except (OSError, ValueError) as error:
        tally.failures.append(f"the file cannot be read: {str(error)[:200]!a}")
        return tally
    for number, case in enumerate(listed):
        label = case.get("id") if is_object(case) else None
        run_case(path.stem, case, f"#{number}" if label is None else str(label)[:80], tally)
    return tally


def run_field_cases(paths: list[Path]) -> Tally:
    """Run field cases, of which each is a file."""
    tally = Tally()
    for path in paths:
        try:
            case: Any = json.loads(path.read_bytes())
        except (OSError, ValueError) as error:
            tally.failures.append(f"{path.stem}: it cannot be read: {str(error)[:200]!a}")
            continue
        run_case(fields.NAME, case, path.stem, tally)
    return tally


def field_cases(directory: Path) -> list[Path]:
    """The field cases in a folder, or in the folder of that name in it."""
    for place in (directory, directory / fields.NAME):
        if found := sorted(place.glob("arg-*.json")):
            return found
    return []


def _known(directory: Path) -> list[Path]:
    found = directory.glob("*.json") if directory.is_dir() else iter(())
    return sorted(path for path in found if path.stem in KINDS)


def vector_files(directory: Path) -> tuple[list[Path], list[str]]:
    """The files to run, and the names of whatever lies beside them.

    Raises:
        NoVectors: there is nothing to run.
    """
    places = [directory, *(inner for name in _INNER if _known(inner := directory / name))]
    files = [path for place in places for path in _known(place)]
    cases = field_cases(directory)
    if not files and not cases:
        raise NoVectors(directory)
    run = {*files, *places, *cases, *(path.parent for path in cases)}
    beside = {path for place in places if place.is_dir() for path in place.iterdir()} - run
    return files, sorted(f"{path.name}{'/' * path.is_dir()}" for path in beside)


def run(directory: Path, out: TextIO) -> Tally:
    """Run a folder and print what came of it; the last line holds the totals.

    Raises:
        NoVectors: there is nothing to run.
    """
    files, beside = vector_files(directory)
    total = Tally()
    runs = [(path.stem, run_file(path)) for path in files]
    if cases := field_cases(directory):
        runs.append((fields.NAME, run_field_cases(cases)))
    for name, tally in sorted(runs, key=lambda run: run[0]):
        skipped = f", {tally.skipped} skipped (undefined)" if tally.skipped else ""
        print(f"{name}: {tally}{skipped}", file=out)
        for rule, count in sorted(tally.rules.items()):
            print(f"  on purpose: {rule} {count}", file=out)
        for failure in tally.failures:
            print(f"  failed: {failure}", file=out)
        total.add(tally)
    if beside:
        print(f"not run by this version: {', '.join(beside)}", file=out)
    print(total, file=out)
    return total
