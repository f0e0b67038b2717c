"""Units: whole lines, in order, sharing none and leaving none that shows; each language's kinds."""

from __future__ import annotations

from collections.abc import Sequence
from struct import unpack
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.context.parsing.samples import SAMPLES

from fabricd.core.context.model import FIELDS, Lines, Parsed, Unit
from fabricd.core.context.parsing.parser import lines_of, parse
from fabricd.core.context.parsing.skeletons import skeleton_text
from fabricd.core.context.parsing.tables import TABLES

LANGUAGES = sorted({*TABLES, *SAMPLES})
PIECES = [line + "\n" for text, _ in SAMPLES.values() for line in text.split("\n")]
ODD = st.sampled_from(
    "\r\n|\r|\f|\n| \t\n|\ufeff|\u2028|\u2039secret:github:1\u203a|{|}|(|class A {\n|}\n|`|/*|*/"
    "|def f():\n|\"\"\"|'''|日本語\n|\ud800|#if 0\n|template<\n|<?php\n|end\n|<<EOF\n".split("|")
)
TEXTS = st.one_of(
    st.text(max_size=400),
    st.lists(st.sampled_from(PIECES) | ODD, max_size=60).map("".join),
)


def check(parsed: Parsed, lines: Sequence[str]) -> None:
    """All that `Unit` promises of a file's units."""
    before = 0
    count = len(parsed.units)
    assert parsed.lines == len(lines)
    assert {count} == {
        len(part) for part in (parsed.terms, parsed.mentions, parsed.digests, parsed.sketches)
    }
    for number, unit in enumerate(parsed.units):
        first, last = unit.lines
        assert before < first <= last <= len(lines)
        assert not any(line.strip() for line in lines[before : first - 1])
        assert lines[first - 1].strip() and lines[last - 1].strip()
        before = last
        assert -1 <= unit.parent < number
        if unit.parent >= 0:
            assert parsed.units[unit.parent].opening != (0, 0)
        _check_inside(unit)
    assert not any(line.strip() for line in lines[before:])
    for sketch in map(hashes, parsed.sketches):
        assert sorted(set(sketch)) == list(sketch) and len(sketch) <= 32
    for terms in parsed.terms:
        assert all(
            len(counts) == len(FIELDS) and 0 < max(counts) <= 255 for counts in terms.values()
        )
    for mentions in parsed.mentions:
        assert list(mentions.calls) == sorted(set(mentions.calls))
        assert list(mentions.names) == sorted(set(mentions.names) - set(mentions.calls))


def hashes(sketch: bytes) -> tuple[int, ...]:
    """A sketch in numbers."""
    return unpack(f"<{len(sketch) // 4}I", sketch)


def _check_inside(unit: Unit) -> None:
    def inside(lines: Lines) -> bool:
        return unit.lines[0] <= lines[0] <= lines[1] <= unit.lines[1]

    assert unit.opening == (0, 0) or inside(unit.opening)
    assert unit.signature == (0, 0) or inside(unit.signature)
    assert all(map(inside, unit.skeleton))
    gaps = zip(unit.skeleton, unit.skeleton[1:], strict=False)
    assert all(one[1] + 1 < other[0] for one, other in gaps)


@given(text=TEXTS, language=st.sampled_from(LANGUAGES))
@settings(max_examples=300, deadline=None)
def test_units_cover_each_line_that_shows_once_and_in_order(text: str, language: str) -> None:
    parsed = parse(text, language)

    check(parsed, lines_of(text))
    assert parse(text, language) == parsed


@given(text=TEXTS)
@settings(max_examples=100, deadline=None)
def test_lines_give_the_text_back(text: str) -> None:
    joined = "".join(line + "\n" for line in lines_of(text))

    assert joined in (text, text + "\n")


@pytest.mark.parametrize("language", sorted(SAMPLES))
def test_sample(language: str) -> None:
    text, expected = SAMPLES[language]

    parsed = parse(text, language)

    assert [(unit.kind, unit.qualified, *unit.lines) for unit in parsed.units] == expected
    check(parsed, lines_of(text))


@pytest.mark.parametrize("language", sorted(SAMPLES))
def test_sample_with_carriage_returns(language: str) -> None:
    text, expected = SAMPLES[language]

    parsed = parse(text.replace("\n", "\r\n"), language)

    assert [(unit.kind, unit.qualified, *unit.lines) for unit in parsed.units] == expected


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "text",
    [
        "(" * 10_000,
        "{\n" * 10_000,
        "a<" * 20_000,
        "a<\n" * 20_000,
        "[{(" * 5_000 + "x" + ")}]" * 5_000,
        "class A { " * 3_000,
        "def f():\n" * 300,
        "x = (a < b) { c [\n" * 3_000,
        "a=>\n" * 3_000,
    ],
    ids=range(9),
)
def test_hostile_text_is_still_in_units(language: str, text: str) -> None:
    started = process_time()

    parsed = parse(text, language, stop=lambda: process_time() - started > 2)

    check(parsed, lines_of(text))


def test_a_tree_as_deep_as_its_text_is_long_is_asked_in_time() -> None:
    text = "`${a}`\n" * 80_000

    check(parse(text, "typescript"), lines_of(text))


def test_a_file_of_too_many_definitions_is_blocks() -> None:
    text = "def f(): pass\n" * 20_001

    assert {unit.kind for unit in parse(text, "python").units} == {"block"}


def test_a_comment_a_blank_line_away_belongs_to_what_follows() -> None:
    text = "import os\n\n\n# About f.\n\ndef f(): pass\n"

    assert [unit.lines for unit in parse(text, "python").units] == [(1, 1), (4, 6)]


def test_imports_that_are_calls() -> None:
    assert parse('const a = require("./b")\nawait import("c")\n', "javascript").imports == (
        "./b",
        "c",
    )
    assert parse("source ./lib.sh\n. other.sh\n", "bash").imports == ("./lib.sh", "other.sh")
    assert parse('require_relative "own"\n', "ruby").imports == ("own",)


def test_members_of_an_object_are_units_only_where_it_is_large() -> None:
    small = "export const api = {\n  a: () => 1,\n  b() {},\n  c: 3,\n}\n"
    large = "export const api = {\n" + "  a() {\n    one()\n    two()\n  },\n" * 20 + "}\n"

    assert [unit.kind for unit in parse(small, "javascript").units] == ["constant"]
    head, *members = parse(large, "javascript").units
    assert (head.kind, head.lines, head.opening) == ("constant", (1, 1), (1, 1))
    assert {(unit.kind, unit.qualified) for unit in members} == {("method", "api.a")}


def test_what_a_short_callback_defines_is_no_unit() -> None:
    text = "describe('x', () => {\n  const f = () => 1\n\n  it('y', () => {})\n})\n"

    assert [unit.kind for unit in parse(text, "typescript").units] == ["block"]


def test_a_parse_is_given_up_when_asked() -> None:
    text = "def f():\n    return 1\n\n\n" * 2_000

    assert {unit.kind for unit in parse(text, "python").units} == {"function"}
    assert {unit.kind for unit in parse(text, "python", stop=lambda: True).units} == {"block"}
    assert {unit.kind for unit in parse(text, "python").units} == {"function"}


def test_a_large_class_is_its_head_and_its_methods() -> None:
    method = "    @cached\n    def m{0}(self):\n        return {0}\n\n"
    text = 'class Big(Base):\n    """Doc."""\n\n    x = 1\n\n' + "".join(
        method.format(number) for number in range(20)
    )

    head, *members = parse(text, "python").units

    assert (head.kind, head.lines, head.opening) == ("class", (1, 4), (1, 1))
    assert [member.qualified for member in members] == [f"Big.m{n}" for n in range(20)]
    assert {(member.kind, member.parent, member.container) for member in members} == {
        ("method", 0, "Big")
    }
    assert members[0].lines == (6, 8)
    assert members[0].signature == (7, 7)


def test_a_definition_of_too_many_tokens_is_in_parts() -> None:
    text = "def f():\n" + "    call(number, other, third)\n" * 2_000

    units = parse(text, "python").units

    assert {unit.name for unit in units} == {"f"}
    assert [unit.part for unit in units] == [(k + 1, len(units)) for k in range(len(units))]
    assert all(unit.lines[1] - unit.lines[0] < 80 for unit in units)
    check(parse(text, "python"), lines_of(text))


def test_a_skeleton_tells_what_it_leaves_out() -> None:
    text = (
        "# Says hello.\n# And that at length.\n@cache\ndef hello(name: str,\n"
        "          loud: bool = False) -> str:\n"
        '    """Greets.\n\n    At length.\n    """\n'
        "    def inner(x):\n        return x + 1\n\n    work(inner)\n" + "    more(work)\n" * 8
    )

    assert skeleton_text(lines_of(text), parse(text, "python").units[0]) == (
        "# Says hello.\n"
        "… 1 line\n"
        "@cache\n"
        "def hello(name: str,\n"
        "          loud: bool = False) -> str:\n"
        '    """Greets.\n'
        "    … 3 lines\n"
        "    def inner(x):\n"
        "        … 11 lines\n"
    )


def test_mentions_and_imports() -> None:
    parsed = parse(SAMPLES["python"][0], "python")

    assert parsed.imports == ("C", "Client", "httpx._client", "os")
    assert parsed.mentions[1].calls == ("Client", "cache", "greet", "route")
    assert parsed.mentions[2].names == ("Base",)


def test_a_placeholder_upsets_nothing() -> None:
    text = 'def f():\n    key = "\u2039secret:github:1\u203a"\n    return Client(key)\n'

    parsed = parse(text, "python")

    assert "github" not in parsed.terms[0]
    assert "secret" not in parsed.terms[0]
    assert parsed.units[0].lines == (1, 3)


def test_equal_texts_but_for_white_space_have_the_same_digest() -> None:
    one = parse("def f(a):\n    return a\n", "python")
    other = parse("def f(a):\n        return a\n", "python")
    third = parse("def f(a):\n    return b\n", "python")

    assert one.digests == other.digests != third.digests


def test_similar_texts_share_much_of_their_sketches() -> None:
    lines = [f"    value{number} = call{number}(other{number})\n" for number in range(40)]
    one = set(hashes(parse("def f(a):\n" + "".join(lines), "python").sketches[0]))
    other = set(hashes(parse("def f(a):\n" + "".join(lines[:-1]), "python").sketches[0]))

    assert len(one & other) >= 24
