"""The page in a real browser, where there is one: it draws, and names from logs stay text."""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from fabricd.core.history.page import page
from tests.core.history import values

NAMES = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
HOSTILE = "<img src=x onerror=\"document.title='taken'\">"

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium on PATH")


def browse(folder: Path, html: str, *options: str) -> str:
    """What the browser prints about a page."""
    assert BROWSER is not None
    file = folder / "page.html"
    file.write_text(html, encoding="utf-8")
    command = [BROWSER, "--headless", "--disable-gpu", "--no-first-run", "--hide-scrollbars"]
    command += ["--disable-dev-shm-usage", f"--user-data-dir={folder / 'profile'}"]
    # Its sandbox refuses to start for root, as tests run in containers.
    command += ["--no-sandbox"] if os.geteuid() == 0 else []
    done = subprocess.run(
        [*command, *options, file.as_uri()], capture_output=True, timeout=50, check=True
    )
    return done.stdout.decode("utf-8")


def test_charts_and_figures_are_drawn(tmp_path: Path) -> None:
    found = browse(tmp_path, page(values.ordinary(), "now"), "--dump-dom")
    assert found.count("<svg") == 2 and found.count("<table") == 6
    # Five weeks, each with what went well and what failed; the last one with two refused calls.
    weeks = found[found.index('class="weeks"') :]
    assert weeks[: weeks.index("</svg>")].count("<rect") == 11
    for text in ("1,548", "mcp__linear__create_issue", "2 of 424", "2026-11-09", "Claude Code"):
        assert text in found


def test_a_hostile_name_makes_no_element(tmp_path: Path) -> None:
    found = browse(tmp_path, page(values.hostile(HOSTILE), "now"), "--dump-dom")
    assert "<title>fabricd report, now</title>" in found
    assert not re.search(r"<(img|script|iframe)", found)
    assert "&lt;img src=x onerror=" in found


@pytest.mark.parametrize("width", [1200, 600])
def test_it_can_be_photographed(tmp_path: Path, width: int) -> None:
    picture = tmp_path / "page.png"
    browse(
        tmp_path,
        page(values.huge(), "now"),
        f"--window-size={width},1600",
        f"--screenshot={picture}",
    )
    raw = picture.read_bytes()
    assert struct.unpack(">II", raw[16:24]) == (width, 1600)
    # A blank picture of this size has a few kilobytes.
    assert len(raw) > 40_000
