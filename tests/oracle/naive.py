"""The metric-3 report of a directory of session logs, computed the slow and plain way.

Tests compare the product with this module, so it shares no code with it and prefers being
obviously right to being fast. Every number read is a double, as in the formats' own language.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import struct
import sys
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

JS_SPACE = "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
JS_SPACE += "\u2028\u2029\u202f\u205f\u3000\ufeff"
COLLATION = "\t\n\v\f\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz"
MODEL_LINE = re.compile(r'"type"\s*:\s*"model_change"|"role"\s*:\s*"assistant"')
Json = dict[str, Any]


def units(text: str) -> list[int]:
    data = text.encode("utf-16-be", "surrogatepass")
    return list(struct.unpack(f">{len(data) // 2}H", data))


def collation(key: str) -> tuple[list[int], list[bool]]:
    weighed = [char for char in key if char.lower() in COLLATION]
    return [COLLATION.index(c.lower()) for c in weighed], [c.isupper() for c in weighed]


def key_order(keys: Iterable[str]) -> list[str]:
    ordered = sorted(keys, key=units)
    if all(key.isascii() for key in ordered):
        ordered.sort(key=collation)
    index = [k for k in ordered if re.fullmatch("0|[1-9][0-9]{0,9}", k) and int(k) < 2**32 - 1]
    return sorted(index, key=int) + [key for key in ordered if key not in index]


def number_text(x: float) -> str:
    if x == 0 or not math.isfinite(x):
        return "null" if x else "0"
    if 1e-6 <= abs(x) < 1e21:
        plain = format(Decimal(repr(x)), "f")
        return plain.rstrip("0").rstrip(".") if "." in plain else plain
    digits, exponent = repr(x).split("e")
    return f"{digits}e{int(exponent):+d}"


def canonical(value: Any) -> str:
    if isinstance(value, dict):
        pairs = (f"{canonical(key)}:{canonical(value[key])}" for key in key_order(value))
        return "{" + ",".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, float):
        return number_text(value)
    text = json.dumps(value, ensure_ascii=False)
    return re.sub("[\ud800-\udfff]", lambda lone: f"\\u{ord(lone[0]):04x}", text)


def fits(value: Any, spec: Any) -> bool:
    """Spec: a pattern, a type, `[item]`, the only fields (`?` marks optional ones), or a test."""
    if isinstance(spec, str):
        return isinstance(value, str) and re.fullmatch(spec, value) is not None
    if isinstance(spec, type):
        return isinstance(value, spec)
    if isinstance(spec, list):
        return isinstance(value, list) and all(fits(child, spec[0]) for child in value)
    if not isinstance(spec, dict):
        return bool(spec(value))
    known = {name.rstrip("?"): inner for name, inner in spec.items()}
    required = {name for name in spec if not name.endswith("?")}
    if not isinstance(value, dict) or not required <= value.keys() <= known.keys():
        return False
    return all(fits(child, known[name]) for name, child in value.items())


def shallow(value: Any, levels: int = 15) -> bool:
    if isinstance(value, dict | list):
        children: Iterable[Any] = value.values() if isinstance(value, dict) else value
        return levels > 0 and all(shallow(child, levels - 1) for child in children)
    return not isinstance(value, float) or math.isfinite(value)


def natural(value: Any) -> bool:
    return isinstance(value, float) and value.is_integer() and 0 <= value <= 2**53 - 1


ONE: Json = {"version": lambda number: natural(number) and number == 1}
ENDING: Json = {"outcome": "succeeded|failed|aborted|timed_out", "error?": str}
UNSAFE_KEYS = ("__proto__", "prototype", "constructor")
RULE: Json = {"kind": "key-form|optional-null|numeric-string|enum-form"}
RULE |= {"key": lambda k: fits(k, str) and k not in UNSAFE_KEYS and len(units(k)) <= 128}
WITNESS = ONE | {"rules": lambda rules: fits(rules, [RULE]) and 1 <= len(rules) <= 128}
WITNESS |= dict.fromkeys(("baseSchemaDigest", "beforeShape", "afterShape"), "[a-f0-9]{64}")
OPERATION = ENDING | {"type": "call", "sequence": natural, "ref": str, "resultTruncated?": bool}
OPERATION |= {"args": lambda args: fits(args, dict) and shallow(args), "result?": shallow}
OPERATION |= {"provider?": str, "action?": str, "normalization?": WITNESS}
OPERATION |= {"failureStage?": "resolve|prepare|validate|approve|invoke|guard"}
COUNTS = ("droppedValues", "truncatedValues", "redactedValues", "droppedOperations")
ENVELOPE = ONE | ENDING | {"kind": r"pi-fabric\.execution", "phases": [str]}
ENVELOPE |= {"operations": [OPERATION], "counts": dict.fromkeys(COUNTS, natural)}


def good_trace(trace: Any) -> bool:
    if not fits(trace, ENVELOPE) or len(canonical(trace).encode()) > 524288:
        return False
    order = [operation["sequence"] for operation in trace["operations"]]
    return all(order[i] < order[i + 1] for i in range(len(order) - 1))


def records(line: str) -> list[tuple[str, Json]]:
    # int() raises on NaN and Infinity, the only constants there are.
    decoder = json.JSONDecoder(parse_int=float, parse_constant=int)
    found, rest = [], line.strip(JS_SPACE)
    while rest:
        try:
            value, end = decoder.raw_decode(rest)
        except ValueError:
            return []
        if not isinstance(value, dict):
            return []
        found.append((rest[:end], value))
        rest = rest[end:].strip(JS_SPACE)
    return found


def model_of(record: Json, message: Json) -> str | None:
    names: list[Any] = [None]
    if record.get("type") == "model_change":
        names = [record.get("provider"), record.get("modelId")]
    elif record.get("type") == "message" and message.get("role") == "assistant":
        names = [message.get("provider"), message.get("model")]
    return "/".join(names) if all(isinstance(name, str) and name for name in names) else None


def traces_of(text: str) -> list[Json]:
    traces: list[Json] = []
    model = None
    for raw, record in [found for line in text.split("\n") for found in records(line)]:
        message: Json = record["message"] if fits(record.get("message"), dict) else {}
        traced = "pi-fabric.execution" in raw
        if traced or MODEL_LINE.search(raw):
            model = model_of(record, message) or model
        inner: Json = message["details"] if fits(message.get("details"), dict) else {}
        details: Json = record["details"] if fits(record.get("details"), dict) else inner
        if traced and good_trace(details.get("trace")):
            trace = details["trace"]
            task = trace["phases"][0] if trace["phases"] else "(none)"
            traces.append({"model": model, "task": task, "calls": calls_of(trace["operations"])})
    return traces


def calls_of(operations: list[Json]) -> list[Json]:
    calls: list[Json] = []
    failed: dict[str, str] = {}
    for op in operations:
        ref, shape = op["ref"], f"({members(op['args'])})"
        side = re.match(r"fabric\.(discovery|workflow)\.", ref)
        call = {"ref": ref, "side": side[1] if side else "action", "outcome": op["outcome"]}
        churn = distance(failed.pop(ref), shape) if ref in failed else None
        stage = None
        if op["outcome"] == "failed":
            failed[ref], stage = shape, op.get("failureStage", "unknown")
        rejected = stage in ("resolve", "prepare", "validate")
        calls.append(call | {"shape": shape, "stage": stage, "rejected": rejected, "churn": churn})
    return calls


def round6(x: float) -> float:
    y = x * 1e6
    low = math.floor(y)
    nearest = (low + 1 if y - low >= 0.5 else low) / 1e6
    return int(nearest) if nearest.is_integer() else nearest


def ratio(part: float, whole: float) -> float:
    return round6(part / whole) if whole else 0


def mean(weighted: Iterable[tuple[float, int]]) -> float:
    # Not sum(): from Python 3.12 on it compensates, and the last bit would differ.
    top, bottom = 0.0, 0
    for value, weight in weighted:
        top, bottom = top + value * weight, bottom + weight
    return ratio(top, bottom)


def bits(values: Iterable[str]) -> float:
    counts, entropy = Counter(values), 0.0
    for count in counts.values():
        entropy += count / counts.total() * math.log2(count / counts.total())
    return round6(-entropy)


def members(args: Json, depth: int = 1) -> str:
    parts = []
    for key in sorted(args, key=units)[:32]:
        kinds = {list: "arr", str: "str", float: "num", bool: "bool"}
        kind = kinds.get(type(args[key]), "null")
        if isinstance(args[key], dict):
            kind = "obj" if depth >= 3 else "{" + members(args[key], depth + 1) + "}"
        parts.append(f"{key}:{kind}")
    return ",".join(parts + [f"…+{len(args) - 32}"] * (len(args) > 32))


def distance(a: str, b: str) -> float:
    left, right = units(a), units(b)
    row = list(range(len(right) + 1))
    for i, x in enumerate(left, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(right, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
    return round6(row[-1] / max(len(left), len(right), 1))


def freedom(schema: Any, depth: int = 0) -> float:
    if depth > 3 or not isinstance(schema, dict):
        return 0.5
    for branches in (schema.get("anyOf"), schema.get("oneOf")):
        if isinstance(branches, list):
            widest = max((freedom(branch, depth + 1) for branch in branches), default=0)
            return round6(widest + 0.1 * max(0, len(branches) - 1))
    if isinstance(schema.get("enum"), list):
        return round6(min(1, math.log2(max(1, len(schema["enum"]))) / 6))
    if "const" in schema:
        return 0
    if schema.get("type") == "object":
        return object_freedom(schema, depth)
    if schema.get("type") == "array":
        return round6(0.5 + 0.5 * freedom(schema.get("items"), depth + 1))
    simple = {"boolean": 0.1, "number": 0.5, "integer": 0.5, "string": 1}
    return simple.get(schema["type"], 0.75) if isinstance(schema.get("type"), str) else 0.75


def object_freedom(schema: Json, depth: int) -> float:
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, dict) or not properties:
        return 1
    needed = required if isinstance(required, list) else []
    total = 0.0
    for key, inner in properties.items():
        total += freedom(inner, depth + 1) + (0 if key in needed else 0.25)
    return round6(total + (0 if schema.get("additionalProperties") is False else 0.5))


def actions_of(traces: list[Json]) -> list[Json]:
    return [call for trace in traces for call in trace["calls"] if call["side"] == "action"]


def totals(traces: list[Json]) -> Json:
    sides = Counter(call["side"] for trace in traces for call in trace["calls"])
    actions = actions_of(traces)
    outcomes = Counter(call["outcome"] for call in actions)
    rejected = sum(call["rejected"] for call in actions)
    return {
        "traces": len(traces),
        "operations": sides.total(),
        "actionOperations": sides["action"],
        "discoveryOperations": sides["discovery"],
        "workflowOperations": sides["workflow"],
        "succeeded": outcomes["succeeded"],
        "failed": outcomes["failed"],
        "aborted": outcomes["aborted"],
        "timedOut": outcomes["timed_out"],
        "invocationRejections": rejected,
        "invocationRejectionsPer1k": round6(rejected / max(1, len(actions)) * 1000),
    }


def flow_entropy(traces: list[Json]) -> float:
    tasks: dict[str, list[str]] = {}
    for trace in traces:
        if refs := [call["ref"] for call in actions_of([trace])]:
            tasks.setdefault(trace["task"], []).append("→".join(refs))
    return mean((bits(flows), len(flows)) for flows in tasks.values())


def ref_row(ref: str, calls: list[Json], lexicon: int, static: float) -> Json:
    shapes = Counter(call["shape"] for call in calls)
    top = sorted(shapes.items(), key=lambda item: (-item[1], units(item[0])))[:8]
    return {
        "ref": ref,
        "calls": len(calls),
        "succeeded": sum(call["outcome"] == "succeeded" for call in calls),
        "failed": sum(call["outcome"] == "failed" for call in calls),
        "shapeSignatures": [{"signature": shape, "count": count} for shape, count in top],
        "shapeEntropyBits": bits(call["shape"] for call in calls),
        "failureStageEntropyBits": bits(call["stage"] for call in calls if call["stage"]),
        "churnRate": churn(calls),
        "lexiconRows": lexicon,
        "staticFreedom": static,
        "score": ratio(sum(call["rejected"] for call in calls), len(calls)),
    }


def model_row(model: str, traces: list[Json]) -> Json:
    total = totals([trace for trace in traces if trace["model"] == model])
    score = ratio(total["invocationRejections"], total["actionOperations"])
    kept = "operations actionOperations succeeded invocationRejections invocationRejectionsPer1k"
    return {"model": model, **{key: total[key] for key in kept.split()}, "behavioralScore": score}


def churn(calls: list[Json]) -> float:
    return mean((call["churn"], 1) for call in calls if call["churn"] is not None)


def report(traces: list[Json], surface: list[Json], catalog: str, repairs: list[Json]) -> Json:
    actions, total = actions_of(traces), totals(traces)
    static = {action["ref"]: freedom(action.get("inputSchema")) for action in surface}
    lexicon = Counter(row.get("ref") or f"{row['provider']}.{row['to']}" for row in repairs)
    refs = []
    for ref in sorted({call["ref"] for call in actions}, key=units):
        calls = [call for call in actions if call["ref"] == ref]
        refs.append(ref_row(ref, calls, lexicon[ref], static.get(ref, 0)))
    score = ratio(total["invocationRejections"], len(actions))
    models = sorted({trace["model"] for trace in traces if trace["model"]}, key=units)
    return {
        "metricVersion": 3,
        "catalogDigest": catalog,
        "totals": total,
        "shapeEntropyBits": mean((row["shapeEntropyBits"], row["calls"]) for row in refs),
        "failureStageEntropyBits": mean((r["failureStageEntropyBits"], r["failed"]) for r in refs),
        "churnRate": churn(actions),
        "navigationRatio": ratio(total["discoveryOperations"], len(actions)),
        "flowEntropyBits": flow_entropy(traces),
        "lexiconRows": len(repairs),
        "staticFreedom": round6(math.fsum(row["staticFreedom"] for row in refs)),
        "staticScore": mean((0.25 * row["staticFreedom"], row["calls"]) for row in refs),
        "behavioralScore": score,
        "score": score,
        "refs": sorted(refs, key=lambda row: -row["score"]),
        "byModel": [model_row(model, traces) for model in models],
    }


def measure(
    directory: Path, surface: Path | None, repairs: list[Json] | None = None
) -> dict[str, object]:
    paths = [*directory.glob("*.jsonl"), *directory.glob("*/*.jsonl")]
    traces: list[Json] = []
    for path in sorted(filter(Path.is_file, paths), key=os.fsencode):
        traces += traces_of(path.read_bytes().decode("utf-8", "replace"))
    if surface is None:
        return report(traces, [], "(sessions)", repairs or [])
    [(_, stored)] = records(surface.read_bytes().decode())
    if stored.get("version") != 1 or not fits(stored.get("actions"), list):
        raise ValueError(f"{surface} is no surface of version 1")
    actions = [a for a in stored["actions"] if fits(a, dict) and fits(a.get("ref"), str)]
    text = canonical({"version": 1.0, "actions": actions})
    return report(traces, actions, hashlib.sha256(text.encode()).hexdigest(), repairs or [])


if __name__ == "__main__":
    given = [Path(argument) for argument in sys.argv[1:3]]
    print(json.dumps(measure(given[0], given[1] if given[1:] else None), indent=2))
