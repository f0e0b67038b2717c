"""Words that ask, and what is left of a query without them."""

from __future__ import annotations

import pytest

from fabricd.core.context.ranking.questions import fillers
from fabricd.core.context.ranking.wanted import Symbol, wanted
from fabricd.core.context.ranking.weights import WEIGHTS
from fabricd.core.context.terms import words_of
from tests.core.context.ranking.corpora import MemoryCorpus, ranked

NAMES = {
    "names.py": '''
def _counted(values):
    """What is counted, counted again."""
    return counted(counted(values))


def counted(values):
    return [value for value in values if value]


class Message:
    pass


def message(text):
    """A message of a message."""
    return send_message(text)


def send_message(text):
    return _deliver(text)


def _deliver(text):
    return Message()
''',
    "define.py": '''
def _define(name):
    """Define a name: where it is defined, its definition, what is declared, called, used."""
    return find_definition(name)


def find_definition(name):
    """Find where a name is defined; a bug in it is a bug in the definition."""
''',
}


@pytest.fixture(scope="module")
def names() -> MemoryCorpus:
    return MemoryCorpus(NAMES)


@pytest.mark.parametrize("name", ["counted", "_counted", "Message", "send_message", "_deliver"])
@pytest.mark.parametrize(
    "asked",
    [
        "where is {} defined",
        "where is {} defined?",
        "find the definition of {}",
        "where is {}",
        "how does {} work",
        "where is {} used",
        "fix bug in {}",
    ],
)
def test_the_name_that_is_asked_for_comes_first(names: MemoryCorpus, asked: str, name: str) -> None:
    assert ranked(names, asked.format(name))[0] == f"names.py:{name}"


def _fillers(query: str) -> set[str]:
    return set(fillers(query, words_of(query)))


def test_words_that_ask_weigh_little_in_a_question() -> None:
    assert _fillers("where is the timeout of a client defined") == {"where", "defined"}
    assert _fillers("the timeout of a client is defined twice") == set()
    terms = {term.text: term for term in wanted("how do timeouts of clients work", WEIGHTS).terms}
    assert terms["work"].weight == WEIGHTS.filler
    assert terms["work"].is_wish
    assert terms["timeout"].weight == 1.0


def test_all_but_the_one_word_that_matters_are_fillers() -> None:
    assert _fillers("fix bug in counted") == {"fix", "bug", "in"}
    assert _fillers("fix_bug in add_call") == set()
    assert _fillers("docs: fix a bug") == set()
    assert _fillers("Find where Called is defined") == {"Find", "where", "is", "defined"}


def test_a_question_of_nothing_but_such_words_keeps_them() -> None:
    assert _fillers("where is find defined") == set()
    assert [term.weight for term in wanted("where is find defined", WEIGHTS).terms] == [1.0, 1.0]


def test_the_one_word_of_a_question_is_a_name() -> None:
    assert wanted("where is counted defined", WEIGHTS).symbols == (Symbol("counted"),)
    assert wanted("where is what was counted last defined", WEIGHTS).symbols == ()


def test_a_name_that_many_have_weighs_less_than_one_that_few_have() -> None:
    texts = {f"m{number}.py": "class Handler:\n    pass\n" for number in range(WEIGHTS.few + 1)}
    texts |= {"one.py": "class Rare:\n    pass\n"}
    found = ranked(MemoryCorpus(texts), "the Handler of the Rare kind")
    assert found[0] == "one.py:Rare"
