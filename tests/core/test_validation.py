from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricd.core.validation import Unjudgeable, Validator, accepts, pointer_of
from tests.core.making import Json
from tests.core.schemas import cases, closed_schemas, judged, property_judged
from tests.core.strategies import json_values, names, texts

NULLABLE: Json = {"anyOf": [{"type": "string"}, {"type": "null"}]}
DRAFT7 = "http://json-schema.org/draft-07/schema#"

# Keywords whose meaning has been the same in every draft that is in use.
assertions: st.SearchStrategy[Json] = st.one_of(
    st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"]).map(
        lambda kind: {"type": kind}
    ),
    st.just({"type": ["string", "null"]}),
    st.integers(-2, 3).map(lambda n: {"minimum": n}),
    st.integers(-2, 3).map(lambda n: {"exclusiveMaximum": n}),
    st.integers(0, 3).map(lambda n: {"minLength": n}),
    st.integers(0, 3).map(lambda n: {"maxItems": n}),
    st.lists(st.sampled_from([1, 1.0, True, False, 0, None, "", "1", [], {}]), min_size=1).map(
        lambda members: {"enum": members}
    ),
    st.sampled_from([0, False, 1, "a", [1], {"a": 1}]).map(lambda value: {"const": value}),
    st.lists(st.sampled_from("ab"), unique=True).map(lambda listed: {"required": listed}),
    st.just({"uniqueItems": True}),
    st.just({"pattern": "^a"}),
)


def deeper(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    return st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda branches: {"anyOf": branches}),
        st.lists(inner, min_size=1, max_size=3).map(lambda branches: {"oneOf": branches}),
        st.lists(inner, min_size=1, max_size=2).map(lambda branches: {"allOf": branches}),
        inner.map(lambda schema: {"not": schema}),
        inner.map(lambda schema: {"items": schema}),
        inner.map(lambda schema: {"additionalProperties": schema}),
        st.dictionaries(st.sampled_from(["a", "b", "é/~"]), inner, max_size=2).map(
            lambda properties: {"properties": properties}
        ),
        st.tuples(inner, inner).map(lambda two: {**two[0], **two[1]}),
    )


schemas = st.recursive(assertions, deeper, max_leaves=6)
values = st.one_of(json_values(4), st.sampled_from([0, 1, 1.0, True, "", "a", [1, 1], {"a": 1}]))


@settings(max_examples=200)
@given(schemas, values)
def test_verdicts_are_those_of_an_independent_validator(schema: Json, value: Any) -> None:
    if not _has_lone_surrogates(value):
        assert Validator(schema).accepts(value) == judged(schema, value)


@given(closed_schemas(), values)
def test_a_property_is_judged_alone_but_inside_its_document(schema: Json, value: Any) -> None:
    validator = Validator(schema)
    for name in schema["properties"]:
        if not _has_lone_surrogates(value):
            assert validator.property_accepts(name, value) == property_judged(schema, name, value)


@pytest.mark.parametrize("name", ["a/b", "a~b", "~1", "~0/", "a%25", "#", "", "$ref", "properties"])
def test_names_that_pointers_escape_are_found(name: str) -> None:
    validator = Validator({"type": "object", "properties": {name: NULLABLE, name + "~": False}})
    assert [validator.property_accepts(name, value) for value in (None, "x", 5)] == [
        True,
        True,
        False,
    ]


@given(names, st.sampled_from([None, "x", 5]))
def test_a_property_is_found_whatever_its_name(name: str, value: Any) -> None:
    if _has_lone_surrogates(name):
        return
    for properties in ({name: NULLABLE}, {name: NULLABLE, f"{name}/x": False, "~1": False}):
        validator = Validator({"type": "object", "properties": properties})
        assert validator.property_accepts(name, value) == (value != 5)
    assert not validator.property_accepts(f"{name}?", None)


def _has_lone_surrogates(value: Any) -> bool:
    return any(0xD800 <= ord(char) < 0xE000 for char in str_of(value))


def str_of(value: Any) -> str:
    """All text inside a value."""
    if isinstance(value, dict):
        return "".join(key + str_of(item) for key, item in value.items())
    if isinstance(value, list):
        return "".join(map(str_of, value))
    return value if isinstance(value, str) else ""


@pytest.mark.parametrize(
    "around",
    [
        {"properties": {"n": {"$ref": "#/$defs/q"}}, "$defs": {"q": NULLABLE}},
        {"properties": {"n": {"$ref": "#/$defs/a~1b"}}, "$defs": {"a/b": NULLABLE}},
        {"properties": {"n": {"$ref": "#q"}}, "$defs": {"x": {"$anchor": "q", **NULLABLE}}},
        {"$id": "https://example.com/s", "properties": {"n": NULLABLE}},
        {
            "$id": "https://example.com/s",
            "properties": {"n": {"$ref": "s#/$defs/q"}},
            "$defs": {"q": NULLABLE},
        },
        {
            "$schema": DRAFT7,
            "properties": {"n": {"$ref": "#/definitions/q", "type": "number"}},
            "definitions": {"q": NULLABLE},
        },
        {"properties": {"n": {"$ref": "urn:q"}}, "$defs": {"q": {"$id": "urn:q", **NULLABLE}}},
        {"properties": {"n": {"$ref": "#/properties/m"}, "m": NULLABLE}},
    ],
)
def test_local_references_resolve_inside_property_views(around: Json) -> None:
    validator = Validator({"type": "object", "additionalProperties": False, **around})
    for value, verdict in [(None, True), ("x", True), (5, False)]:
        assert validator.accepts({"n": value}) is verdict
        assert validator.property_accepts("n", value) is verdict


@pytest.mark.parametrize(
    "circle",
    [
        {"n": {"$ref": "#/properties/n"}},
        {"n": {"allOf": [{"$ref": "#/properties/n"}]}},
        {"n": {"$ref": "#/properties/m"}, "m": {"$ref": "#/properties/n"}},
        {"n": {"$ref": "#"}},
    ],
)
def test_circular_references_come_to_an_end(circle: Json) -> None:
    validator = Validator({"type": "object", "properties": circle})
    assert validator.accepts({"n": {"n": {}}})
    assert validator.property_accepts("n", {})


@pytest.mark.parametrize(
    "schema",
    [
        None,
        True,
        [],
        "object",
        {"type": "object", "properties": {"a": {"pattern": "([a-z"}}},
        {"type": 5},
        {"type": "thing"},
        {"minLength": -1},
        {"multipleOf": 0},
        {"$ref": "#/$defs/missing"},
        {"$ref": "https://example.com/schema"},
        {"properties": {"a": {"const": "\ud800"}}},
        {"maximum": 10**400},
    ],
)
def test_a_schema_that_cannot_be_judged_accepts_nothing(schema: Any) -> None:
    with pytest.raises(Unjudgeable, match=r"the schema cannot be judged: .") as caught:
        Validator(schema)
    assert "\n" not in caught.value.reason
    anything: list[Any] = [None, {}, 5, "x"]
    assert not any(accepts(schema, value) for value in anything)


def test_the_draft_is_the_declared_one_else_2020_12_else_7() -> None:
    pair: Json = {"items": [{"type": "string"}, {"type": "integer"}]}
    assert not accepts(pair, ["x", "y"])
    assert accepts({"prefixItems": [{"type": "integer"}]}, [1])
    assert not accepts({"prefixItems": [{"type": "integer"}]}, ["x"])
    assert accepts({"$schema": DRAFT7, "prefixItems": [{"type": "integer"}]}, ["x"])
    assert not accepts({"$schema": "https://example.com/draft", "prefixItems": [False]}, ["x"])


def test_property_views_follow_the_draft_of_their_document() -> None:
    pair: Json = {"items": [{"type": "string"}, {"type": "integer"}]}
    validator = Validator({"type": "object", "properties": {"n": pair}})
    assert validator.property_accepts("n", ["x", 1])
    assert not validator.property_accepts("n", ["x", "y"])


@pytest.mark.parametrize(
    ("word", "good", "bad"),
    [("date", "2026-02-28", "2026-02-30"), ("email", "a@b.org", "a"), ("ipv4", "10.0.0.1", "10.1")],
)
def test_formats_are_asserted(word: str, good: str, bad: str) -> None:
    schema = {"type": "string", "format": word}
    assert accepts(schema, good)
    assert not accepts(schema, bad)
    assert accepts({"type": "string", "format": "unheard-of"}, bad)


@given(texts, st.booleans())
def test_text_without_a_utf8_form_validates_nowhere(text: str, deep: bool) -> None:
    value: Any = {"k": [text]} if deep else text
    assert accepts({}, value) == (not _has_lone_surrogates(value))


def test_integers_are_exact() -> None:
    bound = {"maximum": 9007199254740993}
    assert accepts(bound, 9007199254740993)
    assert not accepts(bound, 9007199254740994)
    assert not accepts({"const": 9007199254740993}, 9007199254740992)


@pytest.mark.parametrize("first", [9007199254740993, 9007199254740992])
def test_views_of_schemas_with_one_digest_are_not_confused(first: int) -> None:
    # Digests see numbers as doubles, so both schemas have the same one.
    salt = {"description": f"asked first: {first}"}
    second = 9007199254740993 + 9007199254740992 - first
    validators = [
        Validator({"type": "object", "properties": {"n": {"const": n}}, **salt})
        for n in (first, second)
    ]
    assert [v.property_accepts("n", first) for v in validators] == [True, False]
    assert [v.property_accepts("n", second) for v in validators] == [False, True]


def test_more_schemas_than_are_remembered_still_answer() -> None:
    validators = [
        Validator({"type": "object", "properties": {"n": {"const": n}}, "title": "many"})
        for n in range(140)
    ]
    for _ in range(2):
        assert all(v.property_accepts("n", n) for n, v in enumerate(validators))
        assert not any(v.property_accepts("n", n + 1) for n, v in enumerate(validators))


@given(cases())
def test_a_question_changes_neither_schema_nor_value(case: tuple[Json, Json]) -> None:
    schema, args = case
    before = (repr(schema), repr(args))
    Validator(schema).accepts(args)
    assert (repr(schema), repr(args)) == before


# --- views of any place


PLACES: Json = {
    "type": "object",
    "properties": {
        "a/b~c": {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/n"}, {"type": "null"}]}},
        "root": {"$ref": "#"},
    },
    "$defs": {
        "n": {"type": "object", "properties": {"x": {"$ref": "#/$defs/i"}}},
        "i": {"minimum": 1},
    },
}


@pytest.mark.parametrize(
    ("pointer", "good", "bad"),
    [
        ("", {}, []),
        ("/properties/root", {"a/b~c": []}, {"a/b~c": 5}),
        ("/properties/a~1b~0c", [None], [5]),
        ("/properties/a~1b~0c/items", {"x": 1}, {"x": 0}),
        ("/properties/a~1b~0c/items/anyOf/1", None, {}),
        ("/$defs/n/properties/x", 1, 0),
    ],
)
def test_any_place_of_a_schema_can_be_asked_inside_its_document(
    pointer: str, good: object, bad: object
) -> None:
    validator = Validator(PLACES)
    assert validator.has_place(pointer)
    assert validator.place_accepts(pointer, good)
    assert not validator.place_accepts(pointer, bad)


@pytest.mark.parametrize("pointer", ["/properties/gone", "/$defs/n/type", "x", "/properties/a/b~c"])
def test_a_place_that_is_none_accepts_nothing(pointer: str) -> None:
    validator = Validator(PLACES)
    assert not validator.has_place(pointer)
    assert not validator.place_accepts(pointer, None)


def test_a_text_without_a_utf_8_form_is_accepted_nowhere() -> None:
    validator = Validator(PLACES)
    assert not validator.place_accepts("/$defs/i", "\ud800")


@pytest.mark.parametrize(
    ("schema", "draft"),
    [
        ({}, 2020),
        ({"$schema": "https://json-schema.org/draft/2020-12/schema"}, 2020),
        ({"$schema": "https://json-schema.org/draft/2019-09/schema"}, 2019),
        ({"$schema": DRAFT7}, 7),
        ({"$schema": "http://json-schema.org/draft-06/schema#"}, 6),
        ({"$schema": "http://json-schema.org/draft-04/schema#"}, 4),
        ({"$schema": "urn:unknown"}, 2020),
        ({"items": [{}]}, 7),
    ],
)
def test_the_draft_that_judges_is_told(schema: Json, draft: int) -> None:
    assert Validator(schema).draft == draft


# --- what an older draft would pass over, and references without their escapes


TUPLE: Json = {"type": "array", "items": [{"type": "integer"}]}


@pytest.mark.parametrize(
    "word",
    ["$comment", "title", "description", "default", "examples", "deprecated", "readOnly"],
)
def test_a_remark_beside_a_reference_takes_no_older_draft_away(word: str) -> None:
    remark: Any = [True] if word == "examples" else True if word[-1] in "dy" else "said"
    named = {"$ref": "#/definitions/n", word: remark}
    schema = {"properties": {"p": TUPLE, "n": named}, "definitions": {"n": {"type": "integer"}}}
    validator = Validator(schema)
    assert validator.draft == 7
    assert validator.accepts({"p": [1], "n": 5})
    assert not validator.accepts({"p": ["x"]})
    assert not validator.accepts({"n": "x"})


@pytest.mark.parametrize("word", ["minimum", "type", "x-unknown", "properties"])
def test_what_judges_beside_a_reference_does(word: str) -> None:
    beside: Any = {"minimum": 1, "type": "integer"}.get(word, {})
    named = {"$ref": "#/definitions/n", "title": "n", word: beside}
    with pytest.raises(Unjudgeable):
        Validator({"properties": {"p": TUPLE, "n": named}, "definitions": {"n": {}}})


@pytest.mark.parametrize("draft", [None, DRAFT7])
@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("Page[int]", "Page[int]"),
        ("Page[int]", "Page%5Bint%5D"),
        ("a b<é>", "a b<é>"),
        ("a#b", "a#b"),
        ("a/b[~]", "a~1b[~0]"),
        ("%[", "%25["),
        ('"{|}^`\\', '"{|}^`\\'),
    ],
)
def test_a_reference_may_lack_its_escapes(draft: str | None, name: str, written: str) -> None:
    schema: Json = {
        "properties": {"n": {"$ref": f"#/$defs/{written}"}, "l": {"items": {"$ref": "#/$defs/x"}}},
        "$defs": {name: {"type": "integer"}, "x": {"type": "null"}},
    }
    validator = Validator(schema if draft is None else {"$schema": draft, **schema})
    assert validator.draft == (2020 if draft is None else 7)
    assert validator.accepts({"n": 1, "l": [None]})
    assert not validator.accepts({"n": "1"})
    assert not validator.accepts({"l": [1]})
    assert validator.property_accepts("n", 1)
    assert not validator.property_accepts("n", "1")


@pytest.mark.parametrize("reference", ["#/$defs/gone[int]", "#/$defs/%zz[", "other[int]", "#[a]"])
def test_a_reference_that_leads_nowhere_is_still_refused(reference: str) -> None:
    with pytest.raises(Unjudgeable):
        Validator({"properties": {"n": {"$ref": reference}}, "$defs": {"zz[": {}, "%zz[": {}}})


def test_what_looks_like_a_reference_in_data_keeps_its_characters() -> None:
    like = {"$ref": "#/$defs/a[b]"}
    schema = {
        "enum": [like, 5],
        "properties": {"n": {"$ref": "#/$defs/a[b]"}, "c": {"const": like}},
    }
    validator = Validator({**schema, "$defs": {"a[b]": {}}})
    assert validator.accepts(like)
    assert not validator.accepts({"$ref": "#/$defs/a%5Bb%5D"})
    assert validator.property_accepts("c", like)


# --- questions that are held


def test_held_questions_are_asked_once_however_many_schemas_come_between(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    validators = [Validator({**PLACES, "title": f"held {number}"}) for number in range(140)]
    held = [validator.questions() for validator in validators]
    for questions in held:
        assert questions.accepts("/$defs/i", 1)
        assert not questions.accepts("/gone", 1)

    def asked(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("fabricd.core.validation._Views.at", asked)
    assert all(questions.accepts("/$defs/i", 2) for questions in held)
    assert not any(questions.accepts("/$defs/i", 0) for questions in held)
    assert not any(questions.accepts("/gone", 1) for questions in held)


@given(st.sampled_from([*"ab", "a/b~c", "é"]), values)
def test_held_questions_give_the_same_verdicts(name: str, value: Any) -> None:
    schema: Json = {"properties": {"a/b~c": NULLABLE, "é": {"type": "integer"}, "a": True}}
    validator = Validator(schema)
    at = pointer_of(name)
    assert validator.questions().accepts(at, value) is validator.place_accepts(at, value)
