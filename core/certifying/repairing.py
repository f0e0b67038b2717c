"""Checks of repairs: what is accepted stays, what is repaired means the same, the rest is left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fabricd.core.certifying.claims import Claim, Claims, Table
from fabricd.core.certifying.examples import (
    SEARCH,
    SEARCH_DIGEST,
    SEARCH_SCHEMA,
    UPDATE,
    UPDATE_SCHEMA,
    hashed,
)
from fabricd.core.certifying.laws import Laws
from fabricd.core.model import Witness

_TAG_SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"note": {"$ref": "#/$defs/maybe"}, "limit": {"type": "number"}},
    "$defs": {"maybe": {"type": ["string", "null"]}},
}
_TWINS_SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "maxItems": {"type": "integer"},
        "max_items": {"type": "integer"},
        "mode": {"type": "string", "enum": ["fast", "FAST", "slow"]},
        "exact": {"type": "number"},
        "level": {"type": ["number", "string"], "maximum": 9},
    },
}

_ACCEPTED: tuple[tuple[str, object, dict[str, Any]], ...] = (
    (SEARCH, SEARCH_SCHEMA, {"query": "x"}),
    (SEARCH, SEARCH_SCHEMA, {"query": "MAX_RESULTS", "maxResults": 5, "order": "bestMatch"}),
    (SEARCH, SEARCH_SCHEMA, {"note": "", "query": "5"}),
    (UPDATE, UPDATE_SCHEMA, {"id": "x", "due": None}),
    (UPDATE, UPDATE_SCHEMA, {"archived": True, "id": "null"}),
    ("tag", _TAG_SCHEMA, {"note": None}),
    ("tag", _TAG_SCHEMA, {}),
    ("twins", _TWINS_SCHEMA, {"maxItems": 1, "max_items": 2, "mode": "FAST", "level": "5"}),
)

_CALL: dict[str, Any] = {"query": "x", "MAX_RESULTS": "5", "order": "best-match", "note": None}
_REPAIRED: dict[str, Any] = {"query": "x", "order": "bestMatch", "maxResults": 5}
_WITNESSED = [
    ("key-form", "maxResults"),
    ("numeric-string", "maxResults"),
    ("optional-null", "note"),
    ("enum-form", "order"),
]
# A shape is hashed as the JSON text that it is.
_BEFORE = hashed('"(MAX_RESULTS:str,note:null,order:str,query:str)"')
_AFTER = hashed('"(maxResults:num,order:str,query:str)"')
_OTHERS: tuple[tuple[str, object, dict[str, Any], dict[str, Any]], ...] = (
    (SEARCH, SEARCH_SCHEMA, {"Query": "x"}, {"query": "x"}),
    (SEARCH, SEARCH_SCHEMA, {"query": "x", "max results": 5}, {"query": "x", "maxResults": 5}),
    (SEARCH, SEARCH_SCHEMA, {"query": "x", "note": None}, {"query": "x"}),
    (UPDATE, UPDATE_SCHEMA, {"ID": "x", "due": None}, {"id": "x", "due": None}),
    # The null of a property whose type is told elsewhere in the document.
    ("tag", _TAG_SCHEMA, {"note": None, "LIMIT": 1}, {"note": None, "limit": 1}),
    ("tag", _TAG_SCHEMA, {"limit": "-0.5"}, {"limit": -0.5}),
    ("tag", _TAG_SCHEMA, {"limit": "1e+21"}, {"limit": 1e21}),
    # The same schemas do permit repairs where there is one meaning.
    ("twins", _TWINS_SCHEMA, {"exact": "5e-324"}, {"exact": 5e-324}),
    ("twins", _TWINS_SCHEMA, {"mode": "SLOW"}, {"mode": "slow"}),
)

# Each of these is to come back as it is: nothing in it has exactly one meaning that is valid.
_REFUSED: tuple[tuple[str, object, dict[str, Any]], ...] = (
    ("two spellings of one name", SEARCH_SCHEMA, {"query": "x", "maxresults": 5, "max-results": 5}),
    ("a name beside its other spelling", SEARCH_SCHEMA, {"query": "x", "QUERY": "y"}),
    ("a spelling of two declared names", _TWINS_SCHEMA, {"MAXITEMS": 1}),
    ("a spelling of two members", _TWINS_SCHEMA, {"mode": "Fast"}),
    ("an unknown name", SEARCH_SCHEMA, {"query": "x", "limit": 5}),
    ("an unknown member", SEARCH_SCHEMA, {"query": "x", "order": "best"}),
    ("a repair beside what is beyond repair", SEARCH_SCHEMA, {"QUERY": "x", "order": "worst"}),
    ("null for a required property", SEARCH_SCHEMA, {"query": None}),
    ("a number for a text", SEARCH_SCHEMA, {"query": 5}),
    ("a text for a boolean", UPDATE_SCHEMA, {"id": "x", "archived": "true"}),
    ("a list for a text", SEARCH_SCHEMA, {"query": ["x"]}),
    ("a number below the minimum", SEARCH_SCHEMA, {"query": "x", "maxResults": "0"}),
    ("a fraction for an integer", SEARCH_SCHEMA, {"query": "x", "maxResults": "1.5"}),
    *(
        (f"the number text {text!r}", _TWINS_SCHEMA, {"exact": text})
        for text in (
            "01", "1.0", "1.", ".5", "+1", "-0", "1e3", "1E+21", "1e21", "0.0000001", " 5", "5\n",
            "0x10", "1_000", "1,5", "\uff15", "", "NaN", "Infinity", "true", "null",
            "9007199254740993", "123456789012345678901", "0.1000000000000000055511151231257827",
        )
    ),
)  # fmt: skip


def _many(count: int) -> dict[str, Any]:
    return {f"p{place:03}": {"type": "string"} for place in range(count)}


def _closed(declared: object = None, **more: object) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {"a": {"type": "string"}} if declared is None else declared,
        **more,
    }


_BLOCKING: dict[str, object] = {
    "patternProperties": {},
    "oneOf": [True],
    "anyOf": [True],
    "allOf": [{}],
    "$ref": "#",
    "if": True,
    "not": False,
}
_TEXT = {"type": "string"}
_NO_OBJECTS: tuple[object, ...] = (True, None, "object", ["object"])
_WITHOUT_PLAN: tuple[tuple[str, str, object], ...] = (
    ("an open object", "r", {"type": "object", "properties": {"a": _TEXT}}),
    ("an object that is open to texts", "r", _closed(additionalProperties=_TEXT)),
    ("a list of types", "r", _closed(type=["object", "null"])),
    ("no type", "r", {"additionalProperties": False, "properties": {"a": _TEXT}}),
    ("no properties", "r", {"type": "object", "additionalProperties": False}),
    ("properties that are a list", "r", _closed(["a"])),
    ("no rule", "r", _closed({"\u00e4": True})),
    ("129 properties", "r", _closed(_many(129))),
    ("a name of 129 letters", "r", _closed({"a" * 129: _TEXT})),
    ("the name __proto__", "r", _closed({"__proto__": _TEXT})),
    ("the name prototype", "r", _closed({"prototype": _TEXT})),
    ("the name constructor", "r", _closed({"constructor": _TEXT})),
    *((f"the keyword {word}", "r", _closed(**{word: value})) for word, value in _BLOCKING.items()),
    ("a pattern that is none", "r", _closed({"a": {"type": "string", "pattern": "("}})),
    ("an empty ref", "", _closed()),
    ("a ref of 1,025 letters", "r" * 1025, _closed()),
    *((f"a schema that is {value!r}", "r", value) for value in _NO_OBJECTS),
)
_WITH_PLAN: tuple[tuple[str, str, object], ...] = (
    ("a plain object", "r", _closed()),
    ("128 properties", "r", _closed(_many(128))),
    ("a name of 128 letters", "r", _closed({"a" * 128: _TEXT})),
    ("keywords that only refuse more", "r", _closed(minProperties=1, propertyNames={}, then={})),
    ("a ref of 1,024 letters", "r" * 1024, _closed()),
)


def _canonical(laws: Laws) -> Claims:
    for ref, schema, before in _ACCEPTED:
        normalizer = laws.normalizer(ref, schema, None)
        applied = normalizer.apply(args := dict(before))
        words = f"accepted arguments of {ref}"
        yield Claim(f"that a schema accepts the {words}", True, normalizer.accepts(args))
        yield Claim(f"that the {words} come back themselves", True, applied.args is args)
        yield Claim(f"the {words} afterwards", list(before.items()), list(args.items()))
        yield Claim(f"rules for {words}", (), applied.rules)
        yield Claim(f"a witness for {words}", True, normalizer.witness(args, applied) is None)


def _idempotent(laws: Laws) -> Claims:
    normalizer = laws.normalizer(SEARCH, SEARCH_SCHEMA, None)
    applied = normalizer.apply(args := dict(_CALL))
    yield Claim("the repaired arguments", _REPAIRED, dict(applied.args))
    yield Claim("that they are accepted", True, normalizer.accepts(applied.args))
    yield Claim("the arguments that came in", _CALL, args)
    yield from _witnessed(normalizer.witness(args, applied))
    again = dict(applied.args)
    second = normalizer.apply(again)
    yield Claim("that a second application changes nothing", True, second.args is again)
    yield Claim("rules of a second application", (), second.rules)
    for ref, schema, args, expected in _OTHERS:
        yield from _once(laws, ref, schema, args, expected)


def _witnessed(witness: Witness | None) -> Claims:
    yield Claim("that there is a witness", True, witness is not None)
    if witness is not None:
        rules = [(rule.kind, rule.key) for rule in witness.rules]
        yield Claim("the four rules of the witness", _WITNESSED, rules)
        yield Claim("the schema of the witness", SEARCH_DIGEST, witness.base_schema_digest)
        yield Claim("the shape before", _BEFORE, witness.before_shape)
        yield Claim("the shape after", _AFTER, witness.after_shape)


def _once(
    laws: Laws, ref: str, schema: object, args: Mapping[str, Any], expected: dict[str, Any]
) -> Claims:
    normalizer = laws.normalizer(ref, schema, None)
    found = dict(normalizer.apply(dict(args)).args)
    yield Claim(f"repaired arguments of {ref}", expected, found)
    yield Claim(f"repaired arguments of {ref}, once more", expected, normalizer.apply(found).args)


def _refusing(laws: Laws) -> Claims:
    for words, schema, before in _REFUSED:
        applied = laws.normalizer("r", schema, None).apply(args := dict(before))
        yield Claim(words, before, dict(applied.args))
        yield Claim(f"that it is left alone: {words}", True, applied.args is args)
        yield Claim(f"rules for {words}", (), applied.rules)


def _unsupported(laws: Laws) -> Claims:
    for words, ref, schema in _WITHOUT_PLAN:
        yield Claim(
            f"that there is no plan for {words}", True, laws.derive(ref, schema).plan is None
        )
        applied = laws.normalizer(ref, schema, None).apply(args := {"A": None})
        yield Claim(f"that nothing is repaired by {words}", True, applied.args is args)
    for words, ref, schema in _WITH_PLAN:
        found = laws.derive(ref, schema).plan
        yield Claim(f"the ref of a plan for {words}", ref, found and found.ref)


CHECKS: Table = (
    (
        "canonical-identity",
        "accepted arguments come back as the very object that came in, without a witness",
        _canonical,
    ),
    (
        "normalization-idempotence",
        "four rules repair a call and leave their witness; a second application changes nothing",
        _idempotent,
    ),
    (
        "ambiguity-and-loss-refusal",
        "what has two meanings, or would lose its meaning, is left alone",
        _refusing,
    ),
    (
        "unsupported-schema-no-plan",
        "schemas outside of the language get no plan, and those at its edge do",
        _unsupported,
    ),
)
