"""What our key order does to canonical text and to every digest taken of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import groupby, pairwise
from typing import Any

from tests.conformance.merge_changes import on_merges
from tests.conformance.oracle_plans import UNCHANGED
from tests.conformance.oracles import compact, digest, hashed
from tests.conformance.plan_changes import Change, Question, on_artifacts
from tests.conformance.values import Case, keys_of, objects_in, same
from tests.oracle import naive


def has_non_ascii_keys(value: Any) -> bool:
    """Whether some object needs more than the ASCII order."""
    return not all(key.isascii() for key in keys_of(value))


def by_units(keys: list[str]) -> list[str]:
    """The keys of one object: array indices, then UTF-16 units where a key is not ASCII."""
    return keys if all(map(str.isascii, keys)) else naive.key_order(keys)


def has_equal_keys(value: Any) -> bool:
    """Whether two ASCII keys of some object collate equal."""
    return any(_equal(naive.key_order(members)) for members in objects_in(value))


def _equal(keys: list[str]) -> bool:
    if not all(map(str.isascii, keys)):
        return False
    weights = [naive.collation(key) for key in keys]
    return any(left == right for left, right in pairwise(weights))


def equal_by_units(keys: list[str]) -> list[str]:
    """The keys of one object: those that collate equal by UTF-16 unit among themselves."""
    if not _equal(keys):
        return keys
    groups = groupby(keys, naive.collation)
    return [key for _, group in groups for key in sorted(group, key=naive.units)]


def on_texts(holds: Question, order: Callable[[list[str]], list[str]]) -> dict[str, Change]:
    """Objects with certain keys are ordered our way, and their digests are those of that text."""

    def on_plan(ref: str, schema: Any, plan: Any) -> Any:
        return {**plan, "baseSchemaDigest": digest(schema)} if plan and holds(schema) else plan

    def on_hash(case: Case, expected: Any) -> Any:
        if not holds(case["value"]):
            return expected
        text = compact(json.loads(expected["canonical"], parse_int=float), order)
        return {"canonical": text, "sha256": hashed(text)}

    def on_call(case: Case, expected: Any) -> Any:
        derived = on_plan(case["ref"], case["schema"], expected["derived"])
        if same(derived, expected["derived"]):
            return expected
        if case.get("plan") is not None:
            # It carries the other digest, so it proves nothing here.
            return {"derived": derived, "proves": False, **UNCHANGED}
        witness = on_plan(case["ref"], case["schema"], expected["witness"])
        return {**expected, "derived": derived, "witness": witness}

    def on_corpus(case: Case, expected: Any) -> Any:
        if not holds(case["surface"]):
            return expected
        report = {**expected["report"], "catalogDigest": digest(case["surface"])}
        return {**expected, "report": report, "reportHash": digest(report)}

    by_kind: dict[str, Change] = {"stable_hash": on_hash, "derive_apply": on_call}
    by_kind["merges"] = on_merges(on_plan)
    return {**by_kind, "corpora": on_corpus, "compile": on_artifacts(on_plan, holds)}
