"""The report for people: names from logs are shown as they are, and only as text."""

from __future__ import annotations

from typing import Any

import pytest

from fabricd.core.entropy.meter import Catalog
from fabricd.core.evidence import Evidence
from fabricd.core.overview import aside_of, corpus_steps, overview_value
from fabricd.core.steps import finish
from fabricd.daemon.cli.render import render_report, sparkline
from fabricd.daemon.cli.run import files_words
from fabricd.daemon.offline.measuring import report
from fabricd.daemon.tailing.tailer import Files


def overview(ref: str, model: str) -> dict[str, Any]:
    evidence = Evidence(traces=1, operations=2)
    tally = evidence.ref(ref)
    tally.failed = tally.rejections = 2
    tally.shapes["()"] = 2
    evidence.model(model).action_operations = 2
    corpus = finish(corpus_steps([("a.jsonl", evidence)], Catalog()))
    return overview_value(report(evidence, Catalog()), aside_of(evidence), corpus, None)


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("name", ["[/red]", "[red]x", ":smile:", "[link=file:///etc]x[/link]"])
def test_markup_in_a_name_is_text(name: str, terminal: bool) -> None:
    shown = render_report(overview(name, name), to_terminal=terminal)
    assert shown.count(name) == 2


@pytest.mark.parametrize(("name", "spelt"), [("a\x1b[31mb", "a\\x1b[31mb"), ("a\nb", "a\\nb")])
def test_control_characters_are_spelt_out(name: str, spelt: str) -> None:
    shown = render_report(overview(name, "m"), to_terminal=False)
    assert spelt in shown and "\x1b" not in shown


def test_a_session_without_traces_is_said_in_words() -> None:
    empty = Evidence()
    corpus = finish(corpus_steps([("a.jsonl", empty)], Catalog()))
    value = overview_value(report(empty, Catalog()), aside_of(empty), corpus, None)
    assert "nothing to measure yet" in render_report(value, to_terminal=False)


def test_a_sparkline_scales_to_its_largest_value() -> None:
    assert sparkline([0.0, 0.5, 1.0]) == "▁▄█"
    assert sparkline([0.0, 0.0]) == "▁▁"


def test_one_of_anything_stands_in_the_singular() -> None:
    value = overview("a", "m")
    value["totals"] |= {"actionOperations": 1, "invocationRejections": 1, "traces": 1}
    value["coverage"] = {
        "plans": 1,
        "rules": 1,
        "coveredCalls": 1,
        "coveredRejections": 1,
        "withoutPlan": [{"ref": f"r{n}", "calls": 1, "reason": "no"} for n in range(6)],
        "beyondLimit": 1,
    }
    value |= {"normalizedCalls": 1, "gluedLines": 1}
    shown = " ".join(render_report(value, to_terminal=False).split())
    for words in (
        "1 of 1 call was refused before it took effect",
        "1 trace ·",
        "1 plan (1 proven rule) stands for the actions behind 1 of 1 call and 1 of 1 refusal",
        "1 call carries a repair witness",
        "no plan for r0 (1 call): no",
        "and 1 more action without a plan",
        "1 action beyond the first 1,000 gets no plan",
        "1 line held several records",
    ):
        assert words in shown
    assert files_words(Files(1, 1, 0, 0)) == "1 session file, 1 in the window"
    assert files_words(Files(13, 8, 0, 0)) == "13 session files, 8 in the window"
