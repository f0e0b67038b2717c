"""The pictures in the README are what the report prints today, and refer to nothing outside."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fixtures.picture import PICTURES

DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.parametrize("name", PICTURES)
def test_the_picture_is_current(name: str) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == PICTURES[name](), "run make docs"


@pytest.mark.parametrize("name", PICTURES)
def test_the_picture_refers_to_nothing(name: str) -> None:
    text = (DOCS / name).read_text(encoding="utf-8")
    assert set(re.findall(r"[a-z]+://[^\"' <]+", text)) == {"http://www.w3.org/2000/svg"}
