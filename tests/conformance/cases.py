"""The small kinds: one function a file, each asks the core one question."""

from __future__ import annotations

import msgspec

from fabricd.core.canonical import as_given, collated, digest, text, utf8
from fabricd.core.compiling.artifact import artifact_of, artifact_value
from fabricd.core.entropy.fingerprint import shannon, shape_digest, signature, signature_distance
from fabricd.core.entropy.freedom import static_freedom
from fabricd.core.entropy.trend import trend
from fabricd.core.javascript import number_text, round6
from fabricd.core.sessions.pi import ScanState, scan_steps
from fabricd.core.sessions.trace import refusal
from fabricd.core.steps import finish
from fabricd.core.validation import accepts
from tests.conformance.values import Case, Check


def artifact_parse(case: Case) -> Check:
    """The load guard of artifacts."""
    artifact = artifact_of(case["value"])
    return Check(case["parsed"], None if artifact is None else artifact_value(artifact))


def collation_ascii(case: Case) -> Check:
    """The order of single characters as object keys."""
    order: list[str] = case["order"]
    # Behind a letter, because a lone digit is an array index and those come first anyway.
    return Check(order, [key[1:] for key in collated(f"a{char}" for char in order)])


def js_numbers(case: Case) -> Check:
    """The text of a number, alone and inside canonical JSON."""
    # Only a text can carry the sign of a negative zero through JSON.
    value = float(case["value"]) if isinstance(case["value"], str) else case["value"]
    return Check([case["text"]] * 2, [number_text(value), text(value)])


def rounding(case: Case) -> Check:
    """Six decimals, ties upwards."""
    return Check(case["rounded"], round6(float(case["x"])))


def shannon_bits(case: Case) -> Check:
    """Entropy of counts."""
    return Check(case["bits"], shannon(case["counts"]))


def shape_signatures(case: Case) -> Check:
    """The shape of arguments and its digest."""
    args = case["args"]
    return Check([case["signature"], case["digest"]], [signature(args), shape_digest(args)])


def signature_distances(case: Case) -> Check:
    """The distance of two shapes."""
    return Check(case["distance"], signature_distance(case["left"], case["right"]))


def stable_hash(case: Case) -> Check:
    """Canonical text and digest."""
    value = case["value"]
    expected = {"canonical": case["canonical"], "sha256": case["sha256"]}
    return Check(expected, {"canonical": text(value), "sha256": digest(value)})


def static_freedoms(case: Case) -> Check:
    """Freedom of a schema."""
    return Check(case["freedom"], static_freedom(case["schema"]))


def trace_guard(case: Case) -> Check:
    """The guard's verdict, and whether a scan of a line with this trace counts it."""
    record = {"note": "pi-fabric.execution", "details": {"trace": case["trace"]}}
    evidence, _ = finish(scan_steps(utf8(text(record, as_given)) + b"\n", ScanState()))
    accepted = case["accepted"]
    return Check(
        {"guard": accepted, "scan": int(accepted)},
        {"guard": refusal(case["trace"]) is None, "scan": evidence.traces},
    )


def trends(case: Case) -> Check:
    """The trend of scores."""
    return Check(case["trend"], msgspec.to_builtins(trend(case["scores"])))


def validator(case: Case) -> Check:
    """One verdict of the validator."""
    return Check(case["accepts"], accepts(case["schema"], case["value"]))
