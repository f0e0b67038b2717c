"""How answers are scored against what a change needed."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.context.baselines import pieces
from benchmarks.context.golds import Question, Wanted, definitions, questions, wanted
from benchmarks.context.intervals import difference, interval
from benchmarks.context.scoring import Part, score

SOURCE = """import os


class Client:
    def send(self, request):
        response = self.transport(request)
        return response

    @property
    def name(self):
        return "client"
"""
GOLD = {"path": "a.py", "lines": [6], "functions": ["Client.send", "Client.gone"]}
WANTED = Wanted(
    "a.py",
    ("response = self.transport(request)",),
    (
        (
            "def send(self, request):",
            (
                "def send(self, request):",
                "response = self.transport(request)",
                "return response",
            ),
        ),
    ),
)


def _words(text: str) -> int:
    return len(text.split())


def test_what_was_needed_is_read_from_the_tree(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(SOURCE)
    assert wanted(Question("x", "r", "q", (GOLD,)), tmp_path) == [WANTED]


def test_definitions_begin_with_their_decorators() -> None:
    found = definitions("a.py", SOURCE)
    assert found["Client.name"] == (8, 10, 9)
    assert list(found) == ["Client", "Client.send", "Client.name"]
    assert list(definitions("a.ts", "export const f = () => 1\ninterface A { b: string }\n")) == [
        "f",
        "A",
    ]
    assert definitions("a.md", "# A\n") == {}


def test_a_whole_answer() -> None:
    found = score([WANTED], [Part("b.py", "x = 1"), Part("a.py", SOURCE)], 100, _words)
    assert (found.file, found.shown, found.line, found.function) == (1, 1, 1, 1)
    assert (found.named, found.first) == (1, 0.5)


def test_a_reference_is_a_file_and_nothing_more() -> None:
    found = score([WANTED], [Part("a.py", "5-7 method send", True)], 100, _words)
    assert (found.file, found.shown, found.line, found.function) == (1, 0, 0, 0)


def test_it_is_cut_at_the_budget() -> None:
    parts = [Part("b.py", "x " * 50), Part("a.py", SOURCE)]
    assert score([WANTED], parts, 52, _words).file == 0
    cut = score([WANTED], parts, 62, _words)
    assert (cut.file, cut.line, cut.named) == (1, 0, 1)
    assert cut.tokens > 62


def test_a_gutter_makes_every_line_another() -> None:
    text = "\n".join(f"{n} {line}" for n, line in enumerate(SOURCE.split("\n")))
    assert score([WANTED], [Part("a.py", text)], 500, _words).line == 0


def test_so_many_of_each_repository(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    row = '{"id": "%s-%d", "repo": "%s", "query": "q", "gold": []}\n'
    path.write_text("".join(row % (repo, n, repo) for repo in ("a", "b") for n in range(9)))
    assert [one.id for one in questions(path, 3)] == ["a-0", "a-3", "a-6", "b-0", "b-3", "b-6"]
    assert len(questions(path)) == 18


def test_pieces_are_all_lines_in_order() -> None:
    found = list(pieces("a.py", SOURCE))
    assert [one.name for one in found] == ["", "Client"]
    assert "".join(one.text + "\n" for one in found).split() == SOURCE.split()


def test_intervals_are_of_pairs_and_the_same_each_time() -> None:
    ours, theirs = [1.0, 1.0, None, 0.5], [0.5, 0.0, 1.0, 0.5]
    found = difference(ours, theirs)
    assert (found.mean, found.size) == (0.5, 3)
    assert 0 <= found.low < found.mean < found.high <= 1
    assert difference(ours, theirs) == found
    assert interval([]).size == 0
    assert interval([0.25] * 9)[:3] == pytest.approx((0.25, 0.25, 0.25))
