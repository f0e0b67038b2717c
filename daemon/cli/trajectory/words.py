"""What the commands about trajectories say to a person, and JSON with indents."""

from __future__ import annotations

import contextlib
import sys
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from fabricd.core.canonical import by_units, pretty
from fabricd.core.identity import canonical_line
from fabricd.core.nesting import value_deeper_than
from fabricd.core.plain import counted, is_list, is_object, printable
from fabricd.core.trajectory.explanations import EXPLANATIONS
from fabricd.core.trajectory.violations import Violation
from fabricd.core.trajectory.waterfall import Fall

_INDENTED_LEVELS = 100
_END = "\n"


def indicate(quiet: bool, *lines: str) -> None:
    """Talk about a result on stderr, one line each, whatever untrusted text it quotes."""
    if quiet or sys.stderr is None:
        return
    with contextlib.suppress(OSError):
        for line in lines:
            sys.stderr.write(f"{printable(line.removesuffix(_END))}\n")
        sys.stderr.flush()


def indented(value: Any) -> Iterator[bytes]:
    """Canonical JSON with indents; one line where it nests too deep to be read anyway."""
    if value_deeper_than(value, _INDENTED_LEVELS):
        yield canonical_line(value)
    else:
        yield f"{pretty(_ordered(value))}\n".encode()


def _ordered(value: Any) -> Any:
    if is_object(value):
        return {name: _ordered(value[name]) for name in by_units(value)}
    return [_ordered(item) for item in value] if is_list(value) else value


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
    return [head, *(f"  {line}" for line in textwrap.wrap(EXPLANATIONS[code], 94))]


def verdicts(rows: Sequence[dict[str, Any]]) -> list[str]:
    """One line for each gated file."""
    return [
        f"{'pass' if row['pass'] else 'FAIL'} {row['file']}: "
        + ("; ".join(row["reasons"]) or "every limit is kept")
        for row in rows
    ]


def said(fall: Fall) -> str:
    """What a drawing says beside its bars."""
    share = f" ({fall.avoided / fall.available:.1%})" if fall.available else ""
    if fall.avoided < 0:
        words = f"{-fall.avoided:,} B more than there were{share}"
    else:
        words = f"{fall.avoided:,} B never shown{share}"
    if not fall.unavailable:
        return words
    return f"{words}; {counted(fall.unavailable, 'escalation', 'escalations')} unavailable"
