"""The page: one file that loads nothing, and whose elements all are ours."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.history.markup import shown
from fabricd.core.history.page import page
from tests.core.history import values
from tests.core.strategies import texts

TIME = "2026-11-30 05:00 UTC"
HOSTILE = (
    '<img src=x onerror="document.title=1">',
    '"><script>alert(1)</script>',
    "' onload='x",
    "</title></style><iframe src=javascript:1>",
    "</svg><math><mi//xlink:href=data:x,1>",
    "<!--",
    "]]>",
    "&lt;b&gt;&#60;i&#62;",
    "\u202e<\u2066b\u2069>\x00\x1b[31m\ud800",
    "javascript:alert(1)",
    "{{7*7}}${x}`",
    "\u0338<b",
)
FREE = frozenset({"title", "aria-label", "content"})
fragments = st.sampled_from(
    ["<", ">", "&", '"', "'", "</", "<!--", "-->", "<![CDATA[", "script", "onload=", "=", "/", " "]
)
hostile_texts = st.one_of(texts, st.lists(st.one_of(fragments, texts), max_size=6).map("".join))


class Parsed(HTMLParser):
    """Every element with its attributes, and the text between them."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.odd: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(attrs) == len(dict(attrs)), "an attribute stands twice"
        self.elements.append((tag, dict(attrs)))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def handle_comment(self, data: str) -> None:
        self.odd.append(data)

    def handle_pi(self, data: str) -> None:
        self.odd.append(data)

    def unknown_decl(self, data: str) -> None:
        self.odd.append(data)

    def skeleton(self) -> list[tuple[str, tuple[tuple[str, str | None], ...]]]:
        """The elements without those attribute values in which a name may stand."""
        return [
            (tag, tuple((key, None if key in FREE else value) for key, value in attrs.items()))
            for tag, attrs in self.elements
        ]


def parsed(value: dict[str, Any]) -> Parsed:
    """A page, read by a parser."""
    return Parsed(page(value, TIME))


def tags(value: dict[str, Any]) -> Counter[str]:
    """How often each element stands in a page."""
    return Counter(tag for tag, _ in parsed(value).elements)


@pytest.mark.parametrize("text", HOSTILE)
def test_no_element_and_no_attribute_comes_from_a_log(text: str) -> None:
    found, plain = parsed(values.hostile(text)), parsed(values.hostile("plain"))
    assert found.skeleton() == plain.skeleton()
    assert not found.odd


@given(hostile_texts)
def test_no_text_changes_what_the_page_is_made_of(text: str) -> None:
    found = parsed(values.hostile(text))
    allowed = {tag for tag, _ in parsed(values.huge()).elements}
    assert {tag for tag, _ in found.elements} <= allowed
    assert not found.odd
    for _, attributes in found.elements:
        assert not any(name.startswith("on") or name in ("src", "href") for name in attributes)


@given(hostile_texts)
def test_a_shown_text_reads_as_it_is_and_holds_no_sign_of_markup(text: str) -> None:
    html = shown(text)
    assert not set("<>\"'") & set(html)
    assert all(char.isprintable() for char in html)
    around = Parsed(f'<p title="{html}">{html}</p>')
    assert [tag for tag, _ in around.elements] == ["p"]
    assert around.elements[0][1] == {"title": "".join(around.text)}
    if text.isprintable() and text.isascii():
        assert "".join(around.text) == text


def test_what_cannot_be_seen_is_spelled_out() -> None:
    html = page(values.hostile("a\u202eb\x1bc\x00d\u200be\ud800"), TIME)
    assert "a\\u202eb\\x1bc\\x00d\\u200be\\ud800" in html
    assert all(char.isprintable() or char == "\n" for char in html.replace("&nbsp;", " "))
    assert html.encode("utf-8")
    assert shown("\u0301x") == "◌\u0301x"


@pytest.mark.parametrize(
    "value", [values.newcomer(), values.ordinary(), values.huge(), values.nothing()]
)
def test_the_page_loads_nothing_and_runs_nothing(value: dict[str, Any]) -> None:
    html = page(value, TIME)
    found = Parsed(html)
    policy = [a["content"] for tag, a in found.elements if tag == "meta" and "http-equiv" in a]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'"]
    assert html.index("Content-Security-Policy") < html.index("<style>")
    assert not {tag for tag, _ in found.elements} & {"script", "link", "img", "iframe", "a", "form"}
    assert not re.search(r"https?:|url\(|@import|src=|href=", html)
    assert found.text[0].strip() == "" and "fabricd report, 2026-11-30 05:00 UTC" in found.text


def test_a_newcomer_gets_no_empty_section() -> None:
    found = tags(values.newcomer())
    assert (found["h1"], found["h2"], found["svg"], found["table"]) == (1, 3, 1, 1)


def test_an_ordinary_page_has_charts_figures_and_captions() -> None:
    found = parsed(values.ordinary())
    count = Counter(tag for tag, _ in found.elements)
    assert count["table"] == count["caption"] == 6
    charts = [attrs for tag, attrs in found.elements if tag == "svg"]
    assert [chart["aria-label"] for chart in charts] == [
        "Calls of the 10 most called tools",
        "Calls in each week from 2026-10-26 to 2026-11-23, at most 450",
    ]
    assert all(chart["role"] == "img" for chart in charts)
    for text in ("1,548", "87", "5.62 %", "mcp__linear__create_issue", "2 of 424"):
        assert text in found.text
    assert "2026-11-09: 450 calls, 22 failed, 0 refused" in found.text


def test_the_bars_of_a_week_add_up_to_its_calls() -> None:
    html = page(values.ordinary(), TIME)
    chart = html[html.index('<svg class="weeks"') :]
    group = next(part for part in chart.split("<g>") if "2026-11-09" in part.split("</title>")[0])
    heights = [float(height) for height in re.findall(r' height="([\d.]+)"', group)]
    assert len(heights) == 2 and sum(heights) == pytest.approx(150, abs=0.02)


def test_the_actions_inside_fabric_stand_in_a_section_of_their_own() -> None:
    value = values.newcomer()
    metric3: dict[str, Any] = {
        "totals": {"invocationRejections": 3, "actionOperations": 40},
        "rejections": {"<b>": 3, "calm": 0},
        "refs": [
            {"ref": "<b>", "calls": 30, "failed": 4},
            {"ref": "calm", "calls": 10, "failed": 0},
        ],
        "sessions": [{}, {}],
    }
    found = parsed(value | {"metric3": metric3})
    assert "3 of 40 calls refused before taking effect (7.50 %), in 2 sessions" in found.text
    at = found.text.index("<b>")
    assert [text for text in found.text[at:] if text.strip()][1:5] == ["30", "4", "13.33 %", "3"]
    assert "calm" not in found.text
    metric3["totals"] = {"invocationRejections": 0, "actionOperations": 0}
    assert "<b>" not in parsed(value | {"metric3": metric3}).text


def test_a_heavy_page_is_bounded() -> None:
    html = page(values.huge(), TIME)
    assert len(html) < 60_000
    assert "and 2,390 more with failures" in html and "78 earlier weeks not shown" in html
    assert len(page(values.hostile("x" * 100_000), TIME)) < 60_000


def test_no_data_says_where_logs_are_looked_for() -> None:
    text = "".join(parsed(values.nothing()).text)
    assert "No sessions of any agent were found" in text and "`fabricd sources`" in text
    assert tags(values.nothing())["h2"] == 0


def test_what_is_no_report_is_said_to_be_none() -> None:
    with pytest.raises(msgspec.ValidationError):
        page({"version": 1, "agents": []}, TIME)
