"""What `fabricd lint` says: findings with their rules, as text and as JSON."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from fabricd.core.lint.findings import RULES, SEVERITIES, Finding
from fabricd.core.plain import counted, printable

_WIDTH = 96
_INDENT = "    "


class Linted(Struct, frozen=True):
    """One listing and what was found in it.

    Attributes:
        source: the file, or the server's command, as it was named.
        path: the file; None where it is none.
        tools: how many it lists.
        data: the bytes of a file.
    """

    source: str
    path: Path | None
    tools: int
    findings: tuple[Finding, ...]
    data: bytes = b""

    @property
    def fails(self) -> bool:
        """Whether there is more than notes."""
        return any(finding.severity != "note" for finding in self.findings)


def counts(linted: Sequence[Linted]) -> Counter[str]:
    """How many findings of each severity."""
    return Counter(finding.severity for each in linted for finding in each.findings)


def json_value(linted: Sequence[Linted]) -> dict[str, Any]:
    """The findings as plain values."""
    found = counts(linted)
    return {
        "version": 1,
        "sources": [{"source": each.source, "tools": each.tools} for each in linted],
        "counts": {f"{severity}s": found[severity] for severity in SEVERITIES},
        "findings": [
            _finding(each.source, finding) for each in linted for finding in each.findings
        ],
    }


def _finding(source: str, finding: Finding) -> dict[str, Any]:
    rule = RULES[finding.rule]
    return {
        "source": source,
        "tool": finding.tool,
        "pointer": finding.pointer,
        "rule": finding.rule,
        "severity": finding.severity,
        "message": finding.message,
        "why": rule.why,
        "fix": rule.fix,
    }


def words_of(linted: Sequence[Linted]) -> str:
    """The findings as text, with the reasons and cures of their rules in the end."""
    lines: list[str] = []
    for each in linted:
        if each.findings:
            lines += [printable(each.source), *map(_line, each.findings), ""]
    lines += _rules(linted)
    lines.append(_summary(linted))
    return "\n".join(lines) + "\n"


def _line(finding: Finding) -> str:
    place = printable(finding.tool) + (f" {printable(finding.pointer)}" if finding.pointer else "")
    what = f"{finding.severity:<7}  {finding.rule}"
    return f"  {what}  {place}\n{_INDENT}{printable(finding.message)}"


def _rules(linted: Sequence[Linted]) -> Iterator[str]:
    """Why it matters and the fix, once for each rule that found something."""
    present = {finding.rule for each in linted for finding in each.findings}
    for rule in RULES.values():
        if rule.id in present:
            yield f"{rule.id}: {rule.what}."
            yield from textwrap.wrap(rule.why, _WIDTH, initial_indent="  ", subsequent_indent="  ")
            yield from textwrap.wrap(
                f"Fix: {rule.fix}", _WIDTH, initial_indent="  ", subsequent_indent="  "
            )
            yield ""


def _summary(linted: Sequence[Linted]) -> str:
    found = counts(linted)
    tools = counted(sum(each.tools for each in linted), "tool", "tools")
    if not found:
        return f"{tools}: nothing found."
    kinds = [
        counted(found[severity], severity, f"{severity}s")
        for severity in SEVERITIES
        if found[severity]
    ]
    return f"{tools}: {', '.join(kinds)}."
