"""Generated JSON, traces and session logs: sound ones, odd ones and damaged ones."""

from __future__ import annotations

import itertools
import json
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from tests.core.making import (
    COUNTS,
    WITNESS,
    Json,
    assistant,
    line,
    model_change,
    record,
    result,
    trace,
)

# Where UTF-16 order differs from code point order, and text without a UTF-8 form.
ODD_CHARACTERS = "\ud800\udc00\udfff\ue000\uffff\U0001f600é\u2028\x00\x7f"
characters: SearchStrategy[str] = st.one_of(st.characters(), st.sampled_from(ODD_CHARACTERS))
texts: SearchStrategy[str] = st.text(characters, max_size=6)
names: SearchStrategy[str] = st.one_of(
    st.sampled_from(["a", "b", "A", "path", "max_items", "maxItems", "10", "9", "0", "01", ""]),
    st.text(st.characters(min_codepoint=0, max_codepoint=127), max_size=4),
    texts,
)
# Names that look like several, or like no name at all, in the shape of a call.
odd_names: SearchStrategy[str] = st.one_of(
    st.sampled_from(["a,b", "a:str,b", "(a", "{}", "a{b:num}", ":", ",", "\u2026+3", "", "k"]),
    st.text(st.sampled_from("ab,:(){}\u2026+"), max_size=6),
)
# Doubles and integers at every edge that a number text has.
numbers: SearchStrategy[int | float] = st.one_of(
    st.integers(-10, 10),
    st.integers(-(10**30), 10**30),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([1e21, 1e20, 1e-6, 1e-7, 5e-324, 1.7976931348623157e308, -0.0, 2**53 + 1]),
)
scalars: SearchStrategy[Any] = st.one_of(st.none(), st.booleans(), numbers, texts)


def json_values(leaves: int = 12) -> SearchStrategy[Any]:
    """Any JSON value."""
    return st.recursive(
        scalars,
        lambda inner: st.one_of(
            st.lists(inner, max_size=4), st.dictionaries(names, inner, max_size=4)
        ),
        max_leaves=leaves,
    )


json_objects: SearchStrategy[Json] = st.dictionaries(names, json_values(6), max_size=5)

refs: SearchStrategy[str] = st.sampled_from(
    ["pi.read", "mcp.a.b", "mcp.a.é", "fabric.discovery.search", "fabric.workflow.step", "fabric.x"]
)
outcomes: SearchStrategy[str] = st.sampled_from(
    ["succeeded", "failed", "failed", "aborted", "timed_out"]
)
stages: SearchStrategy[str] = st.sampled_from(
    ["resolve", "prepare", "validate", "approve", "invoke", "guard"]
)
arguments: SearchStrategy[Json] = st.one_of(
    st.sampled_from([{}, {"path": "x"}, {"path": "x", "limit": 3}, {"a": {"b": {"c": {}}}}]),
    json_objects,
)


@st.composite
def operations(draw: DrawFn) -> Json:
    """One operation but for its sequence number."""
    found: Json = {"type": "call", "ref": draw(refs), "args": draw(arguments)}
    found["outcome"] = draw(outcomes)
    optional: dict[str, SearchStrategy[Any]] = {
        "failureStage": stages,
        "provider": texts,
        "action": texts,
        "error": texts,
        "result": json_values(4),
        "resultTruncated": st.booleans(),
        "normalization": st.just(WITNESS),
    }
    for name in draw(st.lists(st.sampled_from(sorted(optional)), unique=True, max_size=3)):
        found[name] = draw(optional[name])
    return found


# Of these a trace makes unbroken runs, and names that a shape does not tell.
successes: SearchStrategy[Json] = st.fixed_dictionaries(
    {
        "type": st.just("call"),
        "ref": st.sampled_from(["mcp.a.b", "mcp.a.c", "mcp.a.d", "mcp.a.é", "", "a\0b", "pi.read"]),
        "args": st.one_of(st.just({}), st.dictionaries(odd_names, scalars, max_size=3)),
        "outcome": st.just("succeeded"),
    }
)


@st.composite
def traces(draw: DrawFn) -> Json:
    """A valid Trace V1 envelope."""
    calls = draw(
        st.one_of(st.lists(operations(), max_size=5), st.lists(successes, min_size=3, max_size=8))
    )
    gaps = draw(st.lists(st.integers(1, 3), min_size=len(calls), max_size=len(calls)))
    sequence = -1
    for call, gap in zip(calls, gaps, strict=True):
        sequence += gap
        call["sequence"] = sequence
    more: Json = {"phases": draw(st.lists(st.sampled_from(["", "Plan", "Build"]), max_size=2))}
    more["outcome"] = draw(outcomes)
    counts = st.integers(0, 2**53 - 1)
    more["counts"] = {name: draw(counts) for name in COUNTS}
    if draw(st.booleans()):
        more["error"] = draw(texts)
    return trace(*calls, **more)


audits: SearchStrategy[Any] = st.one_of(
    st.none(),
    st.just([]),
    st.lists(st.fixed_dictionaries({"ref": refs, "args": arguments}), min_size=1, max_size=2),
)


@st.composite
def written(draw: DrawFn, value: Any) -> bytes:
    """A value as a writer may put it: compact or spaced, escaped or raw, framed by odd blanks."""
    separators = draw(st.sampled_from([(",", ":"), (", ", ": ")]))
    escaped = draw(st.booleans())
    text = json.dumps(value, ensure_ascii=escaped, separators=separators)
    before = draw(st.sampled_from(["", "", "", "\ufeff", " ", "\xa0"]))
    after = draw(st.sampled_from(["", "", "", "\r", " \u2029"]))
    # A raw lone surrogate becomes bytes that are not UTF-8, as a careless writer leaves them.
    return (before + text + after).encode("utf-8", "surrogatepass")


@st.composite
def trace_lines(draw: DrawFn) -> bytes:
    """A record with a valid trace, at either of its two places."""
    made = draw(st.sampled_from([record, result]))
    value = made(draw(traces()), draw(audits))
    if draw(st.booleans()) and "message" in value:
        value["message"] |= {"role": "assistant", "provider": "p", "model": "of-the-trace"}
    return draw(written(value))


@st.composite
def damaged_lines(draw: DrawFn) -> bytes:
    """A trace line that was cut, or in which a few bytes are others."""
    whole = draw(trace_lines())
    if draw(st.booleans()):
        return whole[: draw(st.integers(0, len(whole)))].replace(b"\n", b"")
    at = draw(st.integers(0, len(whole)))
    put = draw(
        st.sampled_from([b"", b"\xff", b"\xe2\x82", b'"', b"\\", b"{", b"}", b"NaN", b"1e999"])
    )
    return whole[:at] + put + whole[at + draw(st.integers(0, 2)) :]


def _odd_args(text: str) -> bytes:
    marked = line(record(trace({"type": "call", "sequence": 0, "ref": "pi.read", "args": "@"})))
    return marked.replace(b'"args":"@"', b'"outcome":"failed","args":{"x":' + text.encode() + b"}")


ODD_NUMBERS = ["9" * 400, "NaN", "-Infinity", "1e400", "123456789012345678901234567890", "1E5"]
DEEP = b"[" * 600 + b"]" * 600
odd_lines: SearchStrategy[bytes] = st.sampled_from(
    [_odd_args(text) for text in ODD_NUMBERS]
    + [_odd_args("[" * depth + "]" * depth) for depth in (14, 15)]
)
deep_lines: SearchStrategy[bytes] = st.sampled_from(
    [
        _odd_args(DEEP.decode()),
        b'{"pi-fabric.execution":' + DEEP + b"}",
        b'{"type":"model_change","provider":"deep","modelId":"m","x":' + DEEP + b"}",
    ]
)
model_lines: SearchStrategy[bytes] = st.one_of(
    st.builds(assistant, st.sampled_from(["openai", "", 5]), st.sampled_from(["x", "y", "", None])),
    st.builds(model_change, st.sampled_from(["zed", "", None]), st.sampled_from(["m", "n", ""])),
).flatmap(written)
prose_lines: SearchStrategy[bytes] = st.sampled_from(
    [
        line({"type": "message", "message": {"role": "user", "content": 'the "assistant" said'}}),
        line({"type": "message", "message": {"role": "user", "content": "pi-fabric.execution"}}),
        line({"type": "label", "text": '"type":"model_change"', "provider": "p", "modelId": "no"}),
    ]
)
no_records: SearchStrategy[bytes] = st.sampled_from(
    [
        b"",
        b"\r",
        b"\xff\xfe",
        b"null",
        b'"pi-fabric.execution"',
        b'{"role":"assistant","type":"model_change","provider":"p",',
    ]
)
glued_lines: SearchStrategy[bytes] = st.lists(
    st.one_of(trace_lines(), model_lines, prose_lines), min_size=2, max_size=3
).map(b"".join)
# What every reader must understand alike, however slow and plain it is.
common_lines: SearchStrategy[bytes] = st.one_of(
    *[trace_lines()] * 3,
    model_lines,
    prose_lines,
    no_records,
    damaged_lines(),
    odd_lines,
    glued_lines,
)
lines: SearchStrategy[bytes] = st.one_of(
    *[common_lines] * 6, deep_lines, st.tuples(common_lines, no_records, common_lines).map(b"".join)
)


@st.composite
def logs(draw: DrawFn, most: int = 6, of: SearchStrategy[bytes] = lines) -> bytes:
    """The bytes of a session log, its last line terminated or not."""
    found = draw(st.lists(of, max_size=most))
    return b"\n".join(found) + draw(st.sampled_from([b"", b"\n"]))


@st.composite
def pieces(draw: DrawFn, data: bytes) -> list[bytes]:
    """Bytes cut at any places, empty pieces included."""
    places = draw(st.lists(st.integers(0, len(data)), max_size=6))
    edges = [0, *sorted(places), len(data)]
    return [data[low:high] for low, high in itertools.pairwise(edges)]
