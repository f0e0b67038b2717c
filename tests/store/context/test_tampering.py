"""Every change of a single byte is found: a twentieth of what the bench makes."""

from __future__ import annotations

from pathlib import Path

from benchmarks.context.tampering import tampered


def test_each_change_is_found(tmp_path: Path) -> None:
    tally = tampered(tmp_path, 500)
    assert tally.missed == []
    assert tally.made.total() == 500
    assert len(tally.made) > 25
