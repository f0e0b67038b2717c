"""Terms: identifiers in their parts, endings off, nothing that nobody asks for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.context.terms import LONGEST, query_terms, stem, terms_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("getUserNames", ["getusernames", "get", "user", "name"]),
        ("get_user_name", ["getusername", "get", "user", "name"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("__init__", ["init"]),
        ("parse_http2", ["parsehttp2", "pars", "http", "2"]),
        ("x = y + 1", []),
        ("404", ["404"]),
        ("deadbeefdeadbeef1234", []),
        ("1234567890", []),
        ("a" * (LONGEST + 1), []),
        ("QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0MTIz", []),
        ("café Привет", ["café", "привет"]),
        ("日本語", ["日本", "本語"]),
        ("字", ["字"]),
        ("\uff34\uff45\uff53\uff54", ["test"]),
        ("key = \u2039secret:github:1\u203a", ["key"]),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert terms_of(text) == expected


@pytest.mark.parametrize(
    "words",
    [
        ("parse", "parses", "parsed", "parsing"),
        ("cache", "caches", "cached", "caching"),
        ("stop", "stops", "stopped", "stopping"),
        ("class", "classes"),
        ("entry", "entries"),
        ("call", "calls", "called", "calling"),
    ],
)
def test_forms_of_a_word_are_one_term(words: tuple[str, ...]) -> None:
    assert len({stem(word) for word in words}) == 1


def test_a_query_has_no_stop_words_and_each_term_once() -> None:
    assert query_terms("How does the parser split parser names?") == ["parser", "split", "name"]


def test_a_query_of_stop_words_keeps_them() -> None:
    assert query_terms("with") == ["with"]


@given(text=st.text(max_size=200))
def test_what_is_in_a_text_is_found_by_its_own_words(text: str) -> None:
    terms = terms_of(text)

    assert set(query_terms(text)) <= set(terms)
    assert all(term and term == term.lower() for term in terms)
