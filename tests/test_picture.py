"""The picture in the README is what the report prints today, and refers to nothing outside."""

from __future__ import annotations

import re
from pathlib import Path

from fixtures.picture import draw

PICTURE = Path(__file__).parents[1] / "docs" / "report.svg"


def test_the_picture_is_current() -> None:
    assert PICTURE.read_text(encoding="utf-8") == draw()


def test_the_picture_refers_to_nothing() -> None:
    addresses = set(re.findall(r"[a-z]+://[^\"' <]+", PICTURE.read_text(encoding="utf-8")))
    assert addresses == {"http://www.w3.org/2000/svg"}
