"""Ranking as a whole: what people ask, and what has to come first."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricd.core.context.ranking.ranked import CANDIDATES, FILES, rank
from fabricd.core.context.ranking.weights import MILLION
from tests.core.context.ranking.corpora import MemoryCorpus, features, ranked

CLIENT = '''
"""Sending."""


class Client:
    """Speaks to a server."""

    def __init__(self, timeout):
        self.timeout = timeout
        self.transport = open_transport(timeout)

    def send(self, request):
        """Send a request and wait for its response."""
        response = self.transport.exchange(request)
        response.raise_for_status()
        return response

    def close(self):
        self.transport.close()
'''
CLIENT_LONG = CLIENT + "\n".join(
    f"\n    def option_{number}(self):\n        return self.settings[{number}]\n"
    for number in range(30)
)
RESPONSE = '''
class HTTPStatusError(Exception):
    pass


def raise_for_status(response):
    """Raise unless the status is a success."""
    if response.status >= 400:
        raise HTTPStatusError(f"server said no to the polite question with {response.status}")


def decode(body, charset):
    return body.decode(charset)
'''
TRANSPORT = """
def open_transport(timeout):
    return Transport(dial(timeout))


def dial(timeout):
    return socket.create_connection(timeout)
"""
TEST = """
from app.response import raise_for_status


def test_raise_for_status_raises_for_a_failure():
    raise_for_status(response(status=500))


def test_penguins_waddle():
    assert dial(3)
"""
TREE = {
    "app/client.py": CLIENT_LONG,
    "app/response.py": RESPONSE,
    "app/transport.py": TRANSPORT,
    "tests/test_response.py": TEST,
    "docs/guide.md": "# Guide\n\nCall raise_for_status to raise for a status.\n",
    "locales/de.json": '{"raise": "status", "timeout": "Zeit"}\n',
}


@pytest.fixture(scope="module")
def corpus() -> MemoryCorpus:
    return MemoryCorpus(TREE)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("raise_for_status", "app/response.py:raise_for_status"),
        ("why does `raise_for_status` not raise", "app/response.py:raise_for_status"),
        ("Client.send", "app/client.py:Client.send"),
        ("Client.send hangs", "app/client.py:Client.send"),
        ("Client::close", "app/client.py:Client.close"),
        ("server said no to the polite question with 404", "app/response.py:raise_for_status"),
        ('File "/home/me/x/app/transport.py", line 7, in dial', "app/transport.py:dial"),
        ("app/client.py:12", "app/client.py:Client.send"),
        ("look at app/transport.py#L3", "app/transport.py:open_transport"),
        ("test for penguins", "tests/test_response.py:test_penguins_waddle"),
        ("HTTPStatusError", "app/response.py:HTTPStatusError"),
        ("decode the body with another charset", "app/response.py:decode"),
    ],
)  # fmt: skip
def test_what_a_query_is_about_comes_first(corpus: MemoryCorpus, query: str, first: str) -> None:
    assert ranked(corpus, query)[0] == first


def test_a_query_in_another_script_finds_what_is_written_in_it() -> None:
    corpus = MemoryCorpus(
        {"a.py": "def one():\n    return 'Ошибка соединения'\n", "b.py": "def two():\n    pass\n"}
    )
    assert ranked(corpus, "ошибка соединения") == ["a.py:one"]


@pytest.mark.parametrize("query", ["main.(*Server).Serve", "(*Server).Serve", "Server.Serve"])
def test_a_method_of_go_is_told_with_its_pointer(query: str) -> None:
    methods = "".join(
        f"type {name} struct{{}}\n\nfunc (s *{name}) Serve() int {{\n\treturn {number}\n}}\n\n"
        for number, name in enumerate(("Client", "Server"))
    )
    corpus = MemoryCorpus({"main.go": f"package main\n\n{methods}func Serve() {{}}\n"})
    assert ranked(corpus, query)[0] == "main.go:Server.Serve"
    assert ranked(corpus, f"{query} hangs")[0] == "main.go:Server.Serve"


def test_nothing_in_common_is_no_candidate(corpus: MemoryCorpus) -> None:
    found = rank(corpus, "zyzzyva quokka")
    assert found.candidates == ()
    assert found.files == ()
    assert (found.scored, found.no_match) == (0, len(corpus.file_of))


def test_an_empty_tree_and_an_empty_query() -> None:
    assert rank(MemoryCorpus({}), "anything").candidates == ()
    assert rank(MemoryCorpus({"a.py": "x = 1\n"}), " ?! ").candidates == ()


def test_tests_and_documents_come_behind_unless_they_are_asked_for(corpus: MemoryCorpus) -> None:
    plain = ranked(corpus, "raise for status")
    assert plain[0].startswith("app/")
    assert any(one.startswith("docs/") for one in plain)
    assert ranked(corpus, "docs: raise for status")[0].startswith("docs/")


def test_candidates_are_within_the_paths_that_were_named(corpus: MemoryCorpus) -> None:
    found = ranked(corpus, "raise for status", ["tests"])
    assert found
    assert all(one.startswith("tests/") for one in found)
    assert ranked(corpus, "raise for status", ["app/resp"]) == []
    assert ranked(corpus, "raise for status", ["./app/response.py"])[0].startswith("app/response")
    assert ranked(corpus, "raise for status", ["."]) == ranked(corpus, "raise for status")


def test_what_the_best_call_gains_and_what_tests_call_too(corpus: MemoryCorpus) -> None:
    found = rank(corpus, "send a request and wait for its response")
    assert features(corpus, found, "app/response.py:raise_for_status")["called"] > 0
    found = rank(corpus, "penguins waddle")
    assert features(corpus, found, "app/transport.py:dial")["tested"] > 0


def test_a_feature_is_told_for_all_of_the_relevance(corpus: MemoryCorpus) -> None:
    found = rank(corpus, "raise for status in Client.send, app/client.py")
    for one in found.candidates:
        parts = {name: value for name, value in one.features.items() if name not in _FACTORS}
        assert one.relevance == one.features["relevance"]
        if "similar" not in one.features:
            square = sum(parts.values()) ** 2 // MILLION
            assert max(1, square**2 // MILLION) == one.relevance
    assert max(one.features.get("text", 0) for one in found.candidates) == MILLION


_FACTORS = frozenset({"relevance", "kind", "similar"})


def test_equal_text_points_to_the_first() -> None:
    body = "def parse(text):\n    return text.split()\n"
    corpus = MemoryCorpus({"a.py": body, "b.py": body, "c.py": "def other():\n    pass\n"})
    first, second = rank(corpus, "parse").candidates
    assert (first.same_as, second.same_as) == (-1, first.unit)


def test_nearly_the_same_comes_behind_but_stays() -> None:
    lines = "".join(f"    step_{n} = prepare(step_{n - 1}, {n})\n" for n in range(1, 60))
    corpus = MemoryCorpus(
        {
            "a.py": f"def convert(step_0):\n{lines}    return step_9\n",
            "b.py": f"def convert(step_0):\n{lines}    return step_8\n",
        }
    )
    first, second = rank(corpus, "convert steps").candidates
    assert "similar" not in first.features
    assert second.features["similar"] == 700_000
    assert second.relevance < first.relevance


def test_history_lifts_what_such_commits_touched() -> None:
    texts = {f"{name}.py": f"def {name}():\n    return retry()\n" for name in ("one", "two", "six")}
    commits = [("bump version", ["one.py"]), ("retry with a longer pause", ["two.py"])]
    found = rank(MemoryCorpus(texts, commits), "retry pause")
    plain = rank(MemoryCorpus(texts), "retry pause")
    assert {one.relevance for one in plain.candidates} == {plain.candidates[0].relevance}
    assert found.candidates[0].features["history"] > 0
    assert MemoryCorpus(texts).shown(found.candidates[0].unit) == "two.py:two"


def test_to_have_changed_last_is_nothing_by_itself() -> None:
    texts = {f"{name}.py": f"def {name}():\n    return retry()\n" for name in ("one", "two")}
    corpus = MemoryCorpus(texts, [("bump version", ["one.py"])])
    assert rank(corpus, "zyzzyva").candidates == ()
    assert ranked(corpus, "two") == ["two.py:two"]
    found = rank(corpus, "retry").candidates[0].features
    assert found["recent"] > 0


def test_a_line_between_units_is_the_next_unit() -> None:
    corpus = MemoryCorpus({"a.py": "def one():\n    pass\n\n\ndef two():\n    pass\n"})
    assert ranked(corpus, "a.py:3")[0] == "a.py:two"
    assert ranked(corpus, "a.py:2")[0] == "a.py:one"


def test_the_best_300_with_one_of_each_of_the_best_files() -> None:
    texts = {
        f"pkg/m{number:03}.py": f"def parse_{number}(text):\n    return parse(text)\n\n\n"
        f"def more_{number}(text):\n    return parse(text, text)\n"
        for number in range(400)
    }
    corpus = MemoryCorpus(texts)
    found = rank(corpus, "parse text")
    relevances = [one.relevance for one in found.candidates]
    assert len(relevances) == CANDIDATES
    assert relevances == sorted(relevances, reverse=True)
    assert set(found.files) == {one.file for one in found.candidates}
    assert len(found.files) >= FILES
    assert found.scored + found.no_match == len(corpus.file_of)


_WORDS = st.sampled_from(
    "parse send retry Client.send app/client.py:12 the of status ошибка".split()
)


@settings(max_examples=30, deadline=None)
@given(query=st.lists(_WORDS, max_size=6).map(" ".join))
def test_the_same_question_has_the_same_answer(query: str) -> None:
    first, second = rank(MemoryCorpus(TREE), query), rank(MemoryCorpus(TREE), query)
    assert first == second
    units = [one.unit for one in first.candidates]
    assert len(set(units)) == len(units)
    assert all(one.relevance > 0 for one in first.candidates)


@settings(max_examples=40, deadline=None)
@given(query=st.text(max_size=80))
def test_any_text_may_be_asked(query: str) -> None:
    found = rank(MemoryCorpus({"a.py": CLIENT, "b.md": "# Title\n"}), query)
    assert np.all(np.diff([-one.relevance for one in found.candidates]) >= 0)
