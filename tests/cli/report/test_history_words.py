"""The report over every agent's log for people: short, in words, and within its width."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from fabricd.core.entropy.meter import Catalog
from fabricd.core.evidence import Evidence
from fabricd.core.history.malformation import SLUGS
from fabricd.core.history.phrases import KINDS
from fabricd.core.overview import aside_of, corpus_steps, overview_value
from fabricd.core.steps import finish
from fabricd.daemon.cli.figures import cut
from fabricd.daemon.cli.report.history_words import render_history
from fabricd.daemon.offline.measuring import report
from tests.core.history import values
from tests.core.strategies import texts


def titles(shown: str) -> list[str]:
    """The headings: what stands behind an empty line."""
    lines = shown.splitlines()
    return [lines[at + 1] for at, line in enumerate(lines) if not line]


def row(shown: str, name: str) -> list[str]:
    """The words of the table row that starts with this name."""
    return next(
        words[1:] for line in shown.splitlines() if (words := line.split()) and words[0] == name
    )


def overview(calls: int) -> dict[str, Any]:
    """The overview of one session with calls that were all rejected."""
    evidence = Evidence(traces=1, operations=calls)
    tally = evidence.ref("mcp.files.find")
    tally.failed = tally.rejections = calls
    tally.shapes["()"] = calls
    corpus = finish(corpus_steps([("a.jsonl", evidence)], Catalog()))
    return overview_value(report(evidence, Catalog()), aside_of(evidence), corpus, None)


@pytest.mark.parametrize("width", [20, 40, 80, 100, 160])
@pytest.mark.parametrize(
    "value", [values.newcomer(), values.ordinary(), values.huge(), values.nothing()]
)
def test_no_line_is_wider_than_the_terminal(value: dict[str, Any], width: int) -> None:
    for line in render_history(value, width, colour=False).splitlines():
        assert cell_len(line) <= width
        assert line == line.rstrip()


def test_a_newcomer_gets_a_short_page_without_empty_sections() -> None:
    shown = render_history(values.newcomer(), 80, colour=False)
    assert len(shown.splitlines()) < 25
    assert titles(shown) == ["Worst tools", "How to read this"]
    assert shown.startswith("Claude Code made 19 tool calls in 1 session since 2026-10-31\n")
    for words in (
        "Called   Bash 9 · Read 7 · Edit 3\n",
        "Failed   1 of 19 (too few to say): Bash 1\n",
        "Refused  cannot be said",
        "Model    claude-opus-4-6\n",
        "Project  /home/me/shop\n",
    ):
        assert words in shown
    assert row(shown, "Bash") == ["9", "1", "too", "few", "not", "checked", "0"]
    assert "%" not in shown


def test_an_ordinary_report_answers_what_failed_and_what_was_refused_and_why() -> None:
    shown = render_history(values.ordinary(), 160, colour=False)
    together = " ".join(shown.split())
    for words in (
        "Claude Code, Pi and Codex made 1,548 tool calls in 52 sessions",
        "87 of 1,548 (5.62 %): Bash 30 · bash 21 · Edit 9 · edit 6 · Read 6 · and 4 more tools",
        "3 of 450 calls that could be checked (0.67 %): an argument's name in another spelling (1)",
        "37 of 590 actions by a log's own record (6.27 %)",
        "27 calls to a tool whose previous call in that session had failed",
        "1 it is damaged: /home/me/.codex/sessions/a.jsonl.zst",
        "4 lines that held several records: all were read",
    ):
        assert words in together
    assert titles(shown) == [
        "By agent",
        "Worst tools",
        "What was wrong with the refused calls",
        "Week by week",
        "Models",
        "Projects",
        "Skipped or lost",
        "How to read this",
    ]
    assert row(shown, "Codex") == [
        "2",
        "25",
        "4",
        "too",
        "few",
        "0",
        "of",
        "25",
        "1",
        "0",
        "0",
        "2",
    ]
    assert row(shown, "edit") == ["64", "6", "9.38", "%", "2", "of", "64", "Pi", "2"]
    assert row(shown, "2026-11-09")[:5] == ["450", "22", "4.89", "%", "0"]


def test_a_heavy_user_gets_one_bounded_page() -> None:
    shown = render_history(values.huge(), 80, colour=False)
    assert len(shown.splitlines()) < 130
    for words in (
        "and 2,390 more with failures",
        "and 50 more models",
        "and 190 more projects",
        "92 earlier weeks not shown",
        "84  for other reasons",
        "2,568 calls succeeded with arguments that the declaration forbids",
    ):
        assert words in shown
    assert "on average 34 % of the arguments' shape" in " ".join(shown.split())


def test_nothing_found_says_where_logs_are_looked_for() -> None:
    shown = " ".join(render_history(values.nothing(), 80, colour=False).split())
    assert shown.startswith("No sessions of any agent were found since 2026-10-31")
    assert "Older ones, if there are any: --all." in shown and "`fabricd sources`" in shown
    value = values.nothing()
    value["filters"] |= {"since": None, "all": True}
    assert "--all" not in render_history(value, 80, colour=False)
    value["filters"]["model"] = "m"
    assert "Without these conditions" in render_history(value, 80, colour=False)


def test_sessions_without_calls_are_no_calls() -> None:
    value = values.history(values.agent("pi", [], sessions=3, models=[], projects=[], weeks=[]))
    shown = render_history(value, 80, colour=False)
    assert shown.startswith("No tool calls in 3 sessions since 2026-10-31\n")
    assert titles(shown) == []


def test_weeks_without_calls_are_shown_as_such() -> None:
    of = {"errors": 1, "rejected": 0}
    weeks = [{"week": "2026-11-02", "calls": 40, **of}, {"week": "2026-11-23", "calls": 80, **of}]
    shown = render_history(
        values.history(values.agent("pi", [values.tool("read", 120, 2)], weeks=weeks)),
        80,
        colour=False,
    )
    assert row(shown, "2026-11-09") == ["0", "0"]
    assert row(shown, "2026-11-23")[-1].startswith("████")


def test_the_figures_of_fabric_stand_in_a_section_of_their_own() -> None:
    value = values.newcomer() | {"metric3": overview(2)}
    shown = render_history(value, 80, colour=False)
    assert "Actions inside Fabric, in its newest sessions" in titles(shown)
    assert "2 of 2 calls were refused before they took effect" in shown
    value["metric3"] = overview(0)
    assert "Fabric" not in render_history(value, 80, colour=False)


def test_every_kind_of_malformation_has_its_words() -> None:
    assert set(KINDS) == set(SLUGS)
    assert len(set(KINDS.values())) == len(SLUGS)


@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize(
    ("name", "spelt"),
    [
        ("[/red]", "[/red]"),
        (":smile:", ":smile:"),
        ("[link=file:///etc]x[/link]", "[link=file:///etc]x[/link]"),
        ("a\x1b]8;;x\x07b", "a\\x1b]8;;x\\x07b"),
        ("a\nb", "a\\nb"),
        ("a\u202eb", "a\\u202eb"),
        ("a\ud800b", "a\\ud800b"),
        ("a\u2028b", "a\\u2028b"),
    ],
)
def test_names_from_logs_are_text(name: str, spelt: str, colour: bool) -> None:
    shown = render_history(values.hostile(name), 160, colour)
    assert shown.count(spelt) >= 8
    assert name == spelt or name not in shown
    assert all(line.isprintable() for line in shown.split("\n")) or colour


@given(texts, st.integers(16, 120))
def test_no_name_from_a_log_breaks_the_page(name: str, width: int) -> None:
    for line in render_history(values.hostile(name), width, colour=False).split("\n"):
        assert line.isprintable() and cell_len(line) <= width


@pytest.mark.parametrize("name", ["x" * 9_000, "漢" * 9_000, "e" + "\u0301" * 9_000, ""])
def test_long_and_missing_names_are_bounded(name: str) -> None:
    shown = render_history(values.hostile(name), 80, colour=False)
    assert len(shown) < 12_000
    assert all(cell_len(line) <= 80 for line in shown.splitlines())
    assert name or "(no tool named)" in shown


@given(st.text(), st.integers(1, 60))
def test_a_cut_text_fits_and_keeps_both_ends(text: str, width: int) -> None:
    short = cut(text, width)
    assert cell_len(short) <= width
    if cell_len(text) <= width and len(text) <= 4 * width:
        assert short == text
    elif width > 4 and text.isascii() and text.isprintable():
        assert len(short) == width
        assert text.startswith(short[:2]) and text.endswith(short[-2:])


def test_colour_is_asked_for() -> None:
    assert "\x1b[" in render_history(values.ordinary(), 80, colour=True)
    assert "\x1b" not in render_history(values.ordinary(), 80, colour=False)
    assert "\x1b" not in render_history(values.ordinary())


def test_what_is_no_report_is_said_to_be_none() -> None:
    with pytest.raises(msgspec.ValidationError):
        render_history({"version": 1}, 80, colour=False)


def test_where_nothing_could_be_checked_no_nought_says_that_nothing_was_refused() -> None:
    value = values.newcomer()
    value["agents"][0] |= {"models": values.huge()["agents"][0]["models"], "weeks": []}
    shown = render_history(value, 80, colour=False)
    models = shown[shown.index("\nModels\n") :]
    assert "refused" not in models.splitlines()[2]
    assert "refused" in render_history(values.ordinary(), 80, colour=False).split("\nModels\n")[1]
