from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricd.core.jsontext.editing import add, remove, replace
from fabricd.core.jsontext.reading import Box, Document, read
from tests.core.jsontext.test_reading import nodes, value_of
from tests.core.jsontext.written import VALUES, texts

PLAIN = {"x": [{"y": "z"}], "n": 5}
CONTAINERS = VALUES.filter(lambda value: isinstance(value, (dict, list)))


def boxes(document: Document) -> list[Box]:
    return [node for node in nodes(document.root) if isinstance(node, Box)]


def box_of(text: str, comments: bool = False) -> tuple[Document, Box]:
    document = read(text, comments)
    assert isinstance(document.root, Box)
    return document, document.root


def path_to(document: Document, box: Box) -> list[Any]:
    def search(node: Any, way: list[Any]) -> list[Any] | None:
        if node is box:
            return way
        for index, entry in enumerate(node.entries if isinstance(node, Box) else ()):
            found = search(entry.node, [*way, index])
            if found is not None:
                return found
        return None

    found = search(document.root, [])
    assert found is not None
    return found


def at(document: Document, way: list[int]) -> Box:
    node = document.root
    for index in way:
        assert isinstance(node, Box)
        node = node.entries[index].node
    assert isinstance(node, Box)
    return node


@settings(max_examples=100)
@given(texts(CONTAINERS), st.data())
def test_adding_says_one_thing_more_and_taking_it_away_gives_the_bytes_back(
    text: str, data: st.DataObject
) -> None:
    document = read(text)
    box = data.draw(st.sampled_from(boxes(document)))
    way = path_to(document, box)
    name = "new" if box.is_object else None
    longer = read(add(document, box, PLAIN, name))
    wider = at(longer, way)
    assert len(wider.entries) == len(box.entries) + 1
    assert value_of(wider.entries[-1].node) == PLAIN
    assert wider.entries[-1].name == name
    shorter = remove(longer, wider, len(wider.entries) - 1)
    assert value_of(read(shorter).root) == value_of(document.root)
    if box.entries or text[box.start : box.end] in ("{}", "[]"):
        assert shorter == text


@settings(max_examples=100)
@given(texts(CONTAINERS), st.data())
def test_removing_takes_one_entry_and_no_other(text: str, data: st.DataObject) -> None:
    document = read(text)
    full = [box for box in boxes(document) if box.entries]
    if not full:
        return
    box = data.draw(st.sampled_from(full))
    index = data.draw(st.integers(0, len(box.entries) - 1))
    way = path_to(document, box)
    left = at(read(remove(document, box, index)), way)
    kept = [entry for number, entry in enumerate(box.entries) if number != index]
    assert [(entry.name, value_of(entry.node)) for entry in left.entries] == [
        (entry.name, value_of(entry.node)) for entry in kept
    ]


@settings(max_examples=50)
@given(texts(CONTAINERS), st.data())
def test_replacing_touches_one_value(text: str, data: st.DataObject) -> None:
    document = read(text)
    node = data.draw(st.sampled_from(nodes(document.root)))
    edited = replace(document, node, "new")
    assert edited == text[: node.start] + '"new"' + text[node.end :]
    read(edited)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"a":1}', '{"a":1,"k":["v"]}'),
        ('{"a": 1}', '{"a": 1, "k": ["v"]}'),
        ("{}", '{\n  "k": [\n    "v"\n  ]\n}'),
        ("{ }\n", '{\n  "k": [\n    "v"\n  ]\n}\n'),
        ('{\n\t"a": 1\n}', '{\n\t"a": 1,\n\t"k": [\n\t\t"v"\n\t]\n}'),
        ('{\r\n "a": 1\r\n}', '{\r\n "a": 1,\r\n "k": [\r\n  "v"\r\n ]\r\n}'),
        ('{\n"a": 1\n}', '{\n"a": 1,\n"k": [\n  "v"\n]\n}'),
    ],
)
def test_an_entry_is_laid_out_as_its_neighbours_are(before: str, after: str) -> None:
    assert add(*box_of(before), ["v"], "k") == after


def test_an_empty_box_within_takes_the_documents_layout() -> None:
    document = read('{\n    "a": {},\n    "b": 1\n}')
    inner = at(document, [0])
    assert add(document, inner, 1, "k") == ('{\n    "a": {\n        "k": 1\n    },\n    "b": 1\n}')


@pytest.mark.parametrize(
    "text",
    [
        '{\n  "a": 1 // why\n}',
        '{\n  "a": 1, // why\n  "b": 2 /* b */ // c\n  // end\n}',
        '{"a": 1 // why\n}',
        "{ // why\n}",
        "{ /* why */ }",
        "{\n  // why\n}",
    ],
)
def test_comments_stay_where_they_are(text: str) -> None:
    document, box = box_of(text, comments=True)
    longer = read(add(document, box, [1], "k"), comments=True)
    assert longer.comments == document.comments
    wider = at(longer, [])
    assert wider.entries[-1].name == "k"
    shorter = remove(longer, wider, len(wider.entries) - 1)
    assert read(shorter, comments=True).comments == document.comments
    if box.entries:
        assert shorter == text


@pytest.mark.parametrize("index", [0, 1, 2])
def test_comments_outlive_what_they_stood_beside(index: int) -> None:
    text = "[1 /* a */, // b\n 2, /* c */ 3 // d\n]"
    document, box = box_of(text, comments=True)
    left = read(remove(document, box, index), comments=True)
    assert left.comments == document.comments
    assert value_of(left.root) == [each for each in (1, 2, 3) if each != index + 1]


def test_a_line_comment_swallows_nothing() -> None:
    for text in ("[1, // why\n 2]", "[// why\n 1]"):
        document, box = box_of(text, comments=True)
        left = remove(document, box, len(box.entries) - 1)
        assert read(left, comments=True).comments == ("// why",)


def test_text_beyond_ascii_is_written_as_it_is() -> None:
    assert json.loads(add(*box_of("{}"), "é\u2028", "ü")) == {"ü": "é\u2028"}
    assert "é" in add(*box_of("{}"), "é", "ü")
