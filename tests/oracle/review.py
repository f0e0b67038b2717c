"""The author's review computed the slow and plain way, from whole traces and single values."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from tests.oracle.naive import bits, members, ratio, round6, units

Json = dict[str, Any]
MOST = 8


def fusions(traces: Sequence[Json]) -> list[tuple[tuple[str, ...], int]]:
    """Sequences worth one action: every window of every run, counted one by one."""
    times: Counter[tuple[str, ...]] = Counter()
    within: dict[tuple[str, ...], set[int]] = {}
    for number, trace in enumerate(traces):
        for run in runs(trace["operations"]):
            for length in (3, 4, 5, 6):
                for start in range(len(run) - length + 1):
                    window = tuple(run[start : start + length])
                    if len(set(window)) == length:
                        times[window] += 1
                        within.setdefault(window, set()).add(number)
    found = [w for w in times if times[w] >= 3 and len(within[w]) >= 3]
    found.sort(key=lambda w: (-len(w), -times[w], units(" -> ".join(w))))
    chosen: list[tuple[str, ...]] = []
    for window in found:
        if not any(inside(window, other) or inside(other, window) for other in chosen):
            chosen.append(window)
    return [(window, times[window]) for window in chosen[:MOST]]


def runs(operations: Iterable[Json]) -> list[list[str]]:
    """Unbroken successes. The host's own actions break them, and refs that are no names."""
    found: list[list[str]] = [[]]
    for operation in operations:
        ref = operation["ref"]
        host = ref.startswith(("pi.", "fabric."))
        if operation["outcome"] != "succeeded" or host or ref == "" or "\0" in ref:
            found.append([])
        else:
            found[-1].append(ref)
    return found


def inside(short: Sequence[str], long: Sequence[str]) -> bool:
    places = range(len(long) - len(short) + 1)
    return any(tuple(long[at : at + len(short)]) == tuple(short) for at in places)


def splits(traces: Sequence[Json]) -> list[tuple[str, float, list[tuple[list[str], int]]]]:
    """Actions called with sets of arguments that share nothing, by the arguments themselves."""
    calls: dict[str, list[Json]] = {}
    for operation in (op for trace in traces for op in trace["operations"]):
        if not operation["ref"].startswith(("fabric.discovery.", "fabric.workflow.")):
            calls.setdefault(operation["ref"], []).append(operation)
    found: list[tuple[str, float, list[tuple[list[str], int]]]] = []
    for ref in sorted(calls, key=lambda ref: (-score(calls[ref]), units(ref))):
        entropy = bits([f"({members(as_read(call['args']))})" for call in calls[ref]])
        kept = clusters([call["args"] for call in calls[ref]])
        if entropy >= 1 and len(kept) >= 2:
            found.append((ref, entropy, kept[:MOST]))
    return found[:MOST]


def as_read(args: Json) -> Json:
    """The arguments with their numbers as a reader holds them."""
    found: Json = json.loads(json.dumps(args), parse_int=float)
    return found


def score(calls: Sequence[Json]) -> float:
    rejected = [
        call
        for call in calls
        if call["outcome"] == "failed"
        and call.get("failureStage") in ("resolve", "prepare", "validate")
    ]
    return ratio(len(rejected), len(calls))


def clusters(args: Iterable[Json]) -> list[tuple[list[str], int]]:
    counts = Counter(tuple(sorted(each, key=units)) for each in args)
    often = [(keys, count) for keys, count in counts.items() if count >= 2]
    often.sort(key=lambda pair: (-pair[1], units(",".join(pair[0])), pair[0]))
    kept: list[tuple[list[str], int]] = []
    for keys, count in often:
        if not any(set(keys) & set(other) for other, _ in kept):
            kept.append((list(keys), count))
    return kept


def enums(observed: Iterable[tuple[str, str, Any, int]], actions: Iterable[Json]) -> list[Json]:
    """Marked arguments that take few values, most of them one."""
    schemas: dict[str, Any] = {}
    for action in actions:
        schemas.setdefault(action["ref"], action.get("inputSchema"))
    counts: dict[tuple[str, str], Counter[tuple[str, str]]] = {}
    values: dict[tuple[str, str], Any] = {}
    for ref, key, value, count in observed:
        kind = {bool: "boolean", str: "string"}.get(type(value), "number")
        text = {True: "true", False: "false"}[value] if kind == "boolean" else str(value)
        counts.setdefault((ref, key), Counter())[kind, text] += count
        values[kind, text] = value
    found: list[Json] = []
    for (ref, key), seen in sorted(counts.items(), key=lambda pair: units("\0".join(pair[0]))):
        total, most = seen.total(), max(seen.values())
        enough = total >= 8 and 2 <= len(seen) <= 8 and round6(most / total) >= 0.5
        if enough and is_candidate(schemas.get(ref), key):
            ranked = sorted(seen, key=lambda v: (-seen[v], units(":".join(v))))
            found.append(
                {
                    "ref": ref,
                    "key": key,
                    "values": [values[each] for each in ranked],
                    "calls": total,
                    "distinct": len(seen),
                    "topShare": round6(most / total),
                }
            )
    return found[:MOST]


def is_candidate(schema: Any, key: str) -> bool:
    try:
        declared = schema["properties"][key]
        marked = declared["x-fabric-enum-candidate"] is True
    except (TypeError, KeyError):
        return False
    return (
        marked and declared.get("type") != "boolean" and not isinstance(declared.get("enum"), list)
    )
