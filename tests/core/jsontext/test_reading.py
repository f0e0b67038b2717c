from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings

from fabricd.core.jsontext.reading import (
    BadText,
    Box,
    Document,
    Node,
    Number,
    Scalar,
    is_blank,
    read,
)
from tests.core.jsontext.written import VALUES, texts


def value_of(node: Node) -> Any:
    match node:
        case Scalar(value=Number(text=text)):
            return json.loads(text)
        case Scalar(value=value):
            return value
        case Box(is_object=True, entries=entries):
            return {entry.name: value_of(entry.node) for entry in entries}
        case Box(entries=entries):
            return [value_of(entry.node) for entry in entries]


def nodes(node: Node) -> list[Node]:
    inner = node.entries if isinstance(node, Box) else ()
    return [node] + [each for entry in inner for each in nodes(entry.node)]


@settings(max_examples=100)
@given(texts(VALUES))
def test_it_reads_what_the_standard_library_reads_and_where_it_stands(text: str) -> None:
    document = read(text)
    assert value_of(document.root) == json.loads(text.removeprefix("\ufeff"))
    for node in nodes(document.root):
        assert json.loads(text[node.start : node.end]) == value_of(node)
        if isinstance(node, Box):
            assert len(node.commas) == max(0, len(node.entries) - 1)
            assert all(text[comma] == "," for comma in node.commas)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "line 1 column 1: the text ends too early"),
        ("{", "expected a name"),
        ('{"a" 1}', "line 1 column 6: expected a colon"),
        ('{"a": 1\n"b": 2}', 'line 2 column 1: expected a comma or "}"'),
        ('{"a": 1,\n}', 'line 1 column 8: a comma before "}"'),
        ("[1, ]", 'a comma before "]"'),
        ("[1 2]", "expected a comma"),
        ("{a: 1}", "expected a name in double quotes"),
        ("{'a': 1}", "expected a name in double quotes"),
        ('["a]', "a string that does not end"),
        ('["a\tb"]', "a string that does not end"),
        ('["\\x"]', "a string that does not end"),
        ("[01]", "expected a comma"),
        ("[+1]", "expected a value"),
        ("[NaN]", "expected a value"),
        ("[.5]", "expected a value"),
        ("nul", "expected a value"),
        ("1 2", "line 1 column 3: text behind the end"),
        ("{}\n// why", "line 2 column 1: a comment"),
        ("[" * 65 + "]" * 65, "nested more than 64 levels"),
        ("\u00a0{}", "expected a value"),
    ],
)
def test_what_is_not_json_is_refused_with_the_place(text: str, words: str) -> None:
    with pytest.raises(BadText) as caught:
        read(text)
    assert words in str(caught.value)


def test_deep_texts_end_nothing() -> None:
    for text in ("[" * 100_000, '{"a":' * 100_000, "[" * 64 + "]" * 64):
        try:
            read(text)
        except BadText as error:
            assert "64 levels" in str(error)


COMMENTED = """\
// first
{ /* second
 line */ "a": 1, // third
  "b": ["//not", "/*not*/"] /**/
} // last"""


def test_comments_are_read_where_they_are_allowed() -> None:
    document = read(COMMENTED, comments=True)
    assert value_of(document.root) == {"a": 1, "b": ["//not", "/*not*/"]}
    assert document.comments == ("// first", "/* second\n line */", "// third", "/**/", "// last")


@pytest.mark.parametrize("text", ["{} /* no end", "{} / /", '{"a": 1, /* c */}'])
def test_even_comments_have_rules(text: str) -> None:
    with pytest.raises(BadText):
        read(text, comments=True)


def test_doubled_names_are_kept_for_the_reader() -> None:
    document: Document = read('{"a": 1, "a": 2}')
    assert isinstance(document.root, Box)
    assert [entry.name for entry in document.root.entries] == ["a", "a"]


def test_blank_is_white_space_alone() -> None:
    assert all(is_blank(text) for text in ("", "\ufeff", " \r\n\t"))
    assert not any(is_blank(text) for text in ("{}", "\u00a0", "// x"))
