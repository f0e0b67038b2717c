"""Claims, the checks that they belong to, and what became of them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import TypeAlias

from msgspec import Struct

from fabricd.core.canonical import as_given, text
from fabricd.core.certifying.laws import Laws
from fabricd.core.javascript import NumberOutOfRange
from fabricd.core.steps import Steps

_SHOWN = 160
_AROUND = 40


class Claim(Struct, frozen=True):
    """One comparison: what is compared, the value that it must have, and the one that it has."""

    what: str
    expected: object
    found: object


# A check may pause between two claims, where one of them takes long.
Claims: TypeAlias = Generator[Claim | None, None, None]


# Rows of id, what the check shows, and the claims about some laws.
Table: TypeAlias = tuple[tuple[str, str, Callable[[Laws], Claims]], ...]


class Check(Struct, frozen=True):
    """A check: what it shows where it passes, and the claims that it rests on."""

    id: str
    shows: str
    claims: Callable[[], Claims]


class Finding(Struct, frozen=True):
    """What became of a check. `detail` is what it showed, or what was expected and found."""

    id: str
    passed: bool
    detail: str


class Certification(Struct, frozen=True):
    """All findings, in the order of the checks."""

    findings: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        """Whether every check passed, and there was one."""
        return bool(self.findings) and not self.failed

    @property
    def failed(self) -> tuple[str, ...]:
        """The ids of the checks that did not pass."""
        return tuple(finding.id for finding in self.findings if not finding.passed)


def finding_steps(check: Check) -> Steps[Finding]:
    """Run one check, yielding between its claims."""
    broken: list[str] = []
    compared = 0
    try:
        for claim in check.claims():
            if claim is not None:
                compared += 1
                if claim.found != claim.expected:
                    broken.append(_deviation(claim))
            yield
    except Exception as error:
        # A broken law may raise anything at all, and then that is what is wrong with it.
        broken.append(f"it ended in {_raised(error)}")
    if not broken and not compared:
        broken.append("nothing was compared")
    return Finding(check.id, not broken, _detail(broken) if broken else check.shows)


def _detail(broken: list[str]) -> str:
    more = len(broken) - 1
    if not more:
        return broken[0]
    return f"{broken[0]} (and {more:,} more {'deviation' if more == 1 else 'deviations'})"


def _deviation(claim: Claim) -> str:
    expected, found = _written(claim.expected), _written(claim.found)
    if expected == found:
        expected, found = (type(value).__name__ for value in (claim.expected, claim.found))
    # Of long values what is around the first difference.
    pairs = enumerate(zip(expected, found, strict=False))
    first = next((place for place, (one, other) in pairs if one != other), 0)
    start = first - _AROUND if first > _SHOWN - _AROUND else 0
    return f"{claim.what}: expected {_cut(expected, start)}, found {_cut(found, start)}"


def _written(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    try:
        return text(value, as_given)
    except (TypeError, NumberOutOfRange):
        # Not its `repr`, which may hold an address: a certificate is the same on every run.
        return f"a value of type {type(value).__name__}"


def _cut(written: str, start: int) -> str:
    shown = written[start : start + _SHOWN]
    return f"{'…' if start else ''}{shown}{'…' if start + _SHOWN < len(written) else ''}"


def _raised(error: Exception) -> str:
    # The words of a system error quote paths.
    words = "" if isinstance(error, OSError) else str(error).partition("\n")[0][:_SHOWN]
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def named_claims(words: str, expected: Mapping[str, object], found: Mapping[str, object]) -> Claims:
    """One claim for each expected member."""
    for name, value in expected.items():
        yield Claim(f"{words}, {name}", value, found.get(name))
