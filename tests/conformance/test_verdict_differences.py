"""The rules about verdicts excuse what they say of a verdict, and nothing beside it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.readings import judge
from tests.conformance.samples import ours, verdict
from tests.conformance.values import Case, Unstated

DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DRAFT_6 = "http://json-schema.org/draft-06/schema#"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"
LONG = 2**53


def declared(draft: str, **schema: Any) -> Case:
    """A schema that declares its draft; `ref` is its `$ref`."""
    referring = {"$ref": schema.pop("ref")} if "ref" in schema else {}
    return {"$schema": draft, **referring, **schema}


def texts(name: str, *found: tuple[str, bool]) -> list[tuple[str, Case, str, bool]]:
    """Texts of one format with our verdicts."""
    return [("format-details", {"format": name}, text, mine) for text, mine in found]


def matches(*found: tuple[str, str, bool]) -> list[tuple[str, Case, str, bool]]:
    """Patterns and texts with our verdicts."""
    return [("regex-dialect", {"pattern": pattern}, text, mine) for pattern, text, mine in found]


SURROGATES: list[tuple[str, Case, Any, bool]] = [
    ("lone-surrogate", {"minLength": 1}, "a\ud800", False),
    ("lone-surrogate", {"items": {"pattern": "^a"}}, ["a\udfff"], False),
    ("lone-surrogate", {"title": "\ud800"}, 1, False),
    ("lone-surrogate", {"x\ud800": []}, 1, False),
]
NUMBERS: list[tuple[str, Case, Any, bool]] = [
    ("exact-numbers", {"const": 123456789012345680000}, 123456789012345683968, False),
    ("exact-numbers", {"const": 123456789012345680000}, 123456789012345680000.0, False),
    ("exact-numbers", {"enum": [LONG + 1]}, LONG, False),
    ("exact-numbers", {"maximum": LONG}, LONG + 1, False),
    ("exact-numbers", {"exclusiveMaximum": LONG + 1}, LONG, True),
    ("exact-numbers", {"items": {"minimum": -LONG}}, [-LONG - 1], False),
    ("exact-numbers", {"uniqueItems": True}, [LONG, LONG + 1], True),
    ("exact-numbers", {"multipleOf": 2}, LONG + 1, False),
    ("exact-numbers", {"multipleOf": 3}, LONG + 1, True),
    ("exact-numbers", {"maximum": 1e308}, 10**308 * 2, False),
    ("multiple-of", {"multipleOf": 0.1}, 0.30000000000000004, False),
    ("multiple-of", {"properties": {"a": {"multipleOf": 5}}}, {"a": 4.99999999999}, False),
    ("multiple-of", {"multipleOf": 1e-12}, 1.5e-12, False),
    ("multiple-of", {"not": {"multipleOf": 0.01}}, 1e-11, True),
]
SIBLING: Case = {"maxLength": 1, "definitions": {"s": {"type": "string"}}}
DRAFTS: list[tuple[str, Case, Any, bool]] = [
    ("declared-draft", declared(DRAFT_7, prefixItems=[{"type": "number"}]), ["a"], True),
    ("declared-draft", declared(DRAFT_7, dependentRequired={"a": ["b"]}), {"a": 1}, True),
    ("declared-draft", declared(DRAFT_7, unevaluatedProperties=False), {"a": 1}, True),
    ("declared-draft", declared(DRAFT_7, contains={}, minContains=2), [1], True),
    ("declared-draft", declared(DRAFT_7, ref="#/definitions/s", **SIBLING), "abc", True),
    ("declared-draft", declared(DRAFT_7, format="uuid"), "x", True),
    ("declared-draft", declared(DRAFT_7, contentEncoding="base64"), "***", False),
    ("declared-draft", declared(DRAFT_6, **{"if": True, "then": False}), 1, True),
    ("declared-draft", declared(DRAFT_4, minimum=1, exclusiveMinimum=True), 1, False),
    ("declared-draft", declared(DRAFT_4, const=1), 2, True),
    ("declared-draft", declared(DRAFT_2019, prefixItems=[{"type": "number"}]), ["a"], True),
]
FORMATS = [
    *texts("email", ('"a b"@x.co', True), ("a@[127.0.0.1]", True), ("a@[IPv6:::1]", True)),
    *texts("email", ("a@xn--a", False)),
    *texts("idn-email", ('"a"@x.co', True), ("😀@b.co", True), ("a@٣.co", False)),
    *texts("hostname", ("xn--a", False)),
    *texts("idn-hostname", ("a$", False), ("xn--a.b", False)),
    *texts("ipv6", ("::1:", False)),
    *texts("uri", ("http://é.com/", False), ("a:#b#c", False), ("http://[xyz]/", False)),
    *texts("uri", ("http://%41/", True)),
    *texts("uri-reference", ('a"', False), ("%", False), (":a", False), ("//[::1]/", True)),
    *texts("iri", ("a:>b", False), ("a:b ", False)),
    *texts("iri-reference", ("a^", False), ("a//b", True)),
    *texts("url", ("x", True), ("", True), ("http://localhost", True), ("http://10.0.0.1/", True)),
    *texts("json-pointer-uri-fragment", ("/a", True), ("#/~2", True)),
    *texts("regex", ("", True), ("]", False), ("a{", False), (r"\Z", False)),
    *texts("uri-template", ("it's", True), ("\x7f", False)),
]
PATTERNS = [
    *matches((r"^\-$", "-", True), (r"a\_b", "a_b", True), (r"^[\w\@]+$", "a@b", True)),
    *matches((r"\Aab", "abc", True), (r"ab\z", "ab", True), ("(?i)^abc$", "aBC", True)),
    *matches(("(?i:a)b", "Ab", True), ("^a++$", "aaa", True), ("^a{1,2}+$", "aa", True)),
    *matches(("(?P<n>a)", "a", True), ("^]$", "]", True), ("^a}$", "a}", True)),
    *matches(("^[]a]+$", "a]", True), (r"\bé", "é", True), (r"é\B", "é", False)),
    ("regex-dialect", {"patternProperties": {r"\-": True}}, {"a": 1}, True),
    ("regex-dialect", {"anyOf": [{"type": "string"}, {"pattern": r"\-"}]}, "a", True),
    ("regex-dialect", {"not": {"pattern": r"\-"}}, "a", True),
]
EXCUSED = [*SURROGATES, *NUMBERS, *DRAFTS, *FORMATS, *PATTERNS]


@pytest.mark.parametrize(("rule", "schema", "value", "mine"), EXCUSED)
def test_our_verdict_is_the_one_of_the_rule(
    rule: str, schema: Case, value: Any, mine: bool
) -> None:
    case: Case = {"schema": schema, "value": value, "accepts": not mine}
    assert ours("validator", case) is mine
    assert verdict("validator", case, not mine, mine) == rule


@pytest.mark.parametrize(("rule", "schema", "value", "mine"), EXCUSED)
def test_the_other_verdict_is_not_excused(rule: str, schema: Case, value: Any, mine: bool) -> None:
    case = {"schema": schema, "value": value}
    assert verdict("validator", case, mine, not mine) == "failed"


@pytest.mark.parametrize(
    ("schema", "value", "theirs"),
    [
        ({"type": "string"}, "😀", True),
        ({"maximum": 5}, 6, True),
        # Doubles tell these apart, so the reference cannot have taken one for the other.
        ({"maximum": LONG}, LONG + 2, True),
        ({"const": LONG + 1}, LONG + 1, False),
        ({"multipleOf": 0.1}, 0.35, True),
        ({"multipleOf": 0.1}, 0.3, False),
        ({"multipleOf": 0.01}, 19.99, False),
        ({"type": "string", "multipleOf": 0.1}, 0.30000000000000004, True),
        (declared(DRAFT_7, type="string"), 1, True),
        (declared(DRAFT_7, prefixItems=[{"type": "number"}]), [1], False),
        (declared(DRAFT_2020, dependentRequired={"a": ["b"]}), {"a": 1}, False),
        (declared("https://example.com/schema", dependentRequired={"a": ["b"]}), {"a": 1}, False),
        ({"format": "email"}, "nope", True),
        ({"format": "email"}, '"a"b@x.co', True),
        ({"format": "date"}, "2020-13-40", True),
        ({"format": "uri"}, "a b", True),
        ({"format": "ipv6"}, "::1::", True),
        ({"format": "uuid"}, "x", True),
        ({"type": "number", "format": "url"}, "x", False),
        ({"pattern": r"^\d+$"}, "x", True),
        ({"pattern": r"^\-$"}, "x", True),
        ({"pattern": r"\b"}, "", True),
        ({"pattern": r"\bé"}, "e", True),
        # What neither side is known to make of it is no excuse.
        ({"pattern": r"\p{L}\-"}, "a-", False),
        ({"format": "regex", "multipleOf": 2}, r"(?i)a", True),
    ],
)
def test_no_rule_excuses_these(schema: Case, value: Any, theirs: bool) -> None:
    case = {"schema": schema, "value": value, "accepts": theirs}
    assert verdict("validator", case, theirs, not theirs) == "failed"


def test_rules_work_together() -> None:
    near: Case = {"properties": {"a": {"not": {"multipleOf": 0.1}}}}
    known: Case = {"properties": {"b": {"format": "url"}}}
    case: Case = {"value": {"a": 0.30000000000000004, "b": "x"}, "accepts": False}
    # Either alternative holds for us and neither for the reference.
    either = {**case, "schema": {"anyOf": [near, known]}}
    assert verdict("validator", either, False, ours("validator", either)) == "format-details"
    both = {**case, "schema": {"allOf": [near, known]}}
    assert verdict("validator", both, False, ours("validator", both)) == "multiple-of"
    assert verdict("validator", both, True, False) == "failed"


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("date", "2020-02-29", "2019-02-29"),
        ("date-time", "2020-02-29t23:59:60z", "2020-02-29 10:00:00Z"),
        ("duration", "P1Y2M3DT4H5M6S", "P1YT"),
        ("email", "a.b+c@d-e.org", "a..b@c.de"),
        ("hostname", "a-b.example.com", "ab--c.d"),
        ("idn-email", "é@例.中国", "é@-"),
        ("idn-hostname", "例。中国", "-é"),
        ("ipv4", "127.0.0.1", "01.2.3.4"),
        ("ipv6", "::ffff:1.2.3.4", "fe80::1%eth0"),
        ("iri", "http://é.com/ü?x=é#f", "a"),
        ("iri-reference", "/é", "\\"),
        ("json-pointer", "/a/~0~1", "/~2"),
        ("regex", r"(?<n>a)\d+", "a]"),
        ("relative-json-pointer", "1/a", "01"),
        ("time", "22:59:60-01:00", "22:59:60Z"),
        ("uri", "http://u:p@[::1]:80/p?q#f", "http://a/%zz"),
        ("uri-reference", "//h/p?q", "a[b"),
        ("uri-template", "http://a/{+x,y*}", "{"),
        ("uuid", "2EB8AA08-aa98-11ea-b4aa-73b441d16380", "2eb8aa08aa9811eab4aa73b441d16380"),
    ],
)
def test_standards_are_written_down_as_we_judge(name: str, right: str, wrong: str) -> None:
    for text, fits in ((right, True), (wrong, False)):
        assert judge({"format": name}).accepts(text) is fits
        assert ours("validator", {"schema": {"format": name}, "value": text, "accepts": 0}) is fits


@pytest.mark.parametrize("pattern", [r"\p{L}", "a{", "[[a]]", "a**", r"(a)\1", "[a&&b]"])
def test_of_other_patterns_nothing_is_said(pattern: str) -> None:
    with pytest.raises(Unstated):
        judge({"pattern": pattern}).accepts("a")
