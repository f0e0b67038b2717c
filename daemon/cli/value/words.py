"""What the commands about value say to a person."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from fabricd.core.plain import counted
from fabricd.core.trajectory.violations import Violation
from fabricd.core.value.explanations import EXPLANATIONS

_WIDTH = 94


def explained(violations: Sequence[Violation]) -> list[str]:
    """Each code that was found: how often, where first, and what it means."""
    found: dict[str, list[Violation]] = {}
    for violation in violations:
        found.setdefault(violation.code, []).append(violation)
    return [line for code in found for line in _explained(code, found[code])]


def _explained(code: str, violations: Sequence[Violation]) -> list[str]:
    first = violations[0]
    often = f", {len(violations)} times" if len(violations) > 1 else ""
    head = f"{code}{often}, first at {first.path}: {first.message}"
    return [head, *(f"  {line}" for line in textwrap.wrap(EXPLANATIONS[code], _WIDTH))]


def complaint(violations: Sequence[Violation]) -> str:
    """Why there is nothing to show, in one sentence."""
    first = violations[0]
    more = len(violations) - 1
    others = f", and {counted(more, 'more violation', 'more violations')}" if more else ""
    return f"it is not valid: {first.code} at {first.path}, {first.message}{others}"
