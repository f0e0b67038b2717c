from __future__ import annotations

import pytest

from fabricd.core.context.function_words import function_words
from fabricd.core.context.terms import query_terms


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        (
            "Wie erkennt der Daemon, dass ein Log gekürzt wurde?",
            ["erkennt", "daemon", "log", "gekürzt"],
        ),
        ("où est-ce que le verrou du daemon est pris", ["verrou", "daemon", "pris"]),
        ("dónde se abre el socket y por qué falla", ["abre", "socket", "falla"]),
    ],
)
def test_a_query_in_another_language_is_left_what_it_is_about(query: str, terms: list[str]) -> None:
    assert query_terms(query) == terms


@pytest.mark.parametrize(
    "query",
    ["why does the worker die", "man page and MIT licence", "le lock", "des key"],
)
def test_words_of_code_stay_in_english(query: str) -> None:
    assert function_words(query.lower().split()) == frozenset()


def test_a_query_of_nothing_else_keeps_its_words() -> None:
    assert query_terms("wie und wo") == ["wie", "und", "wo"]
