"""A certification for people: a line for each check, and what became of them together."""

from __future__ import annotations

from fabricd.core.certifying.claims import Certification
from fabricd.core.plain import printable


def certify_words(certification: Certification) -> str:
    """All findings as text, and the summary."""
    width = max((len(finding.id) for finding in certification.findings), default=0)
    lines = [
        f"{'ok' if finding.passed else 'FAILED':<6}  {finding.id:<{width}}  "
        f"{printable(finding.detail)}"
        for finding in certification.findings
    ]
    return "".join(f"{line}\n" for line in (*lines, "", summary(certification)))


def summary(certification: Certification) -> str:
    """One sentence."""
    total, failed = len(certification.findings), certification.failed
    if not failed:
        return f"all {total} checks passed"
    return f"{len(failed)} of {total} checks failed: {', '.join(failed)}"
