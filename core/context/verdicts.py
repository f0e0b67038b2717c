"""What verifications say. They need no package of the engine: exports are checked without it."""

from __future__ import annotations

from collections.abc import Sequence

from fabricd.core.context.chain import Finding
from fabricd.core.context.verifying import Verified, VerifiedExport
from fabricd.core.plain import counted, printable


def verified(found: Verified) -> str:
    """What a verification found."""
    lines = _judged(found.receipt, "as it was written", found.findings)
    lines.append(
        f"  {counted(found.deliveries, 'delivery', 'deliveries')} in a chain of "
        f"{counted(found.rows, 'row', 'rows')}"
        + (f", {found.forgotten} forgotten on request" if found.forgotten else "")
    )
    if found.texts == "gone":
        lines.append("  its texts are gone, so they were not checked")
    lines += [f"  {note}" for note in found.notes]
    return "".join(f"{line}\n" for line in map(printable, lines))


def export_verified(found: VerifiedExport) -> str:
    """What the check of an exported receipt found, and what was checked."""
    name = "the export" if found.receipt is None else found.receipt
    lines = _judged(name, "as it was exported", found.findings)
    if found.is_sound:
        rows = counted(found.deliveries, "delivery", "deliveries")
        lines.append(f"  checked: the receipt by its id, {rows} by digest and order, every byte")
    lines += [f"  {note}" for note in found.notes]
    return "".join(f"{line}\n" for line in map(printable, lines))


def _judged(name: str, sound: str, findings: Sequence[Finding]) -> list[str]:
    verdict = counted(len(findings), "change", "changes") if findings else sound
    return [f"{name}: {verdict}", *(f"  {one.place}: {one.trouble}" for one in findings)]
