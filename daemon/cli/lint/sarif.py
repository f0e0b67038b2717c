"""The findings of `fabricd lint` as SARIF 2.1.0, which code hosts and editors show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fabricd.core.lint.findings import RULES, Finding
from fabricd.daemon.cli.lint.lines import Lines
from fabricd.daemon.cli.lint.words import Linted

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


def sarif(linted: Sequence[Linted]) -> dict[str, Any]:
    """One run over all listings."""
    from fabricd import __version__

    rules = [_rule(name) for name in RULES]
    driver = {"name": "fabricd", "version": __version__, "rules": rules}
    results = [result for each in linted for result in _results(each)]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(name: str) -> dict[str, Any]:
    rule = RULES[name]
    return {
        "id": rule.id,
        "shortDescription": {"text": f"{rule.what}."},
        "fullDescription": {"text": rule.why},
        "help": {"text": rule.fix},
        "defaultConfiguration": {"level": rule.severity},
    }


def _results(linted: Linted) -> Iterator[dict[str, Any]]:
    lines = Lines(linted.data)
    for finding in linted.findings:
        line = lines.line_of(finding.tool, finding.pointer)
        yield _result(linted.path, line, finding)


def _result(path: Path | None, line: int | None, finding: Finding) -> dict[str, Any]:
    rule = RULES[finding.rule]
    text = f"{finding.tool}: {finding.message}. {rule.why} Fix: {rule.fix}"
    return {
        "ruleId": finding.rule,
        "ruleIndex": list(RULES).index(finding.rule),
        "level": finding.severity,
        "message": {"text": text},
        "locations": [_location(path, line, finding)],
        "partialFingerprints": {"toolAndPlace/v1": _fingerprint(finding)},
    }


def _location(path: Path | None, line: int | None, finding: Finding) -> dict[str, Any]:
    place = {
        "name": finding.pointer,
        "fullyQualifiedName": f"{finding.tool}#{finding.pointer}",
        "kind": "object",
    }
    if path is None:
        return {"logicalLocations": [place]}
    artifact: dict[str, Any] = {"artifactLocation": {"uri": _uri(path)}}
    if line is not None:
        artifact["region"] = {"startLine": line}
    return {"physicalLocation": artifact, "logicalLocations": [place]}


def _uri(path: Path) -> str:
    """A path as a URI: of a relative one a relative reference, which hosts resolve themselves."""
    raw = bytes(path)
    return f"file://{quote(raw)}" if path.is_absolute() else quote(raw)


def _fingerprint(finding: Finding) -> str:
    """The same for one finding, run after run, whatever its message says."""
    parts = "\0".join((finding.rule, finding.tool, finding.pointer))
    return sha256(parts.encode("utf-8", "backslashreplace")).hexdigest()
