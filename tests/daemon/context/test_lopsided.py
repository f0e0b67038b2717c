"""Trees in which one file has nearly everything that a query is about."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabricd.core.context.counting import counter
from tests.daemon.context.trees import opened
from tests.store.context.trees import git, make_repository, write

COUNT = counter("o200k")


@pytest.mark.parametrize("functions", [100, 500])
@pytest.mark.parametrize("query", ["user test", "user", "test_user_7"])
def test_one_file_may_have_it_all(tmp_path: Path, functions: int, query: str) -> None:
    tree = make_repository(tmp_path / "tree")
    write(tree, "api.py", "def make_user(name):\n    return {'name': name}\n")
    tests = "\n".join(
        f"def test_user_{number}(client):\n    assert client.user({number})\n"
        for number in range(functions)
    )
    write(tree, "test_api.py", tests)
    git(tree, "add", "-A")
    git(tree, "commit", "-qm", "Begin")
    with opened(tmp_path / "state", tree) as asked:
        for budget in (500, 8000, 200_000):
            found = asked.select(query, budget)
            assert COUNT(found["text"]) <= found["used"] <= budget
            assert 0 < found["certificate"]["value"] <= found["certificate"]["bound"] < 2**53


def test_many_alike_files(tmp_path: Path) -> None:
    tree = make_repository(tmp_path / "tree")
    for one in range(10):
        text = "\n".join(f"def alpha_{one}_{two}():\n    return {two}\n" for two in range(30))
        write(tree, f"f{one}.py", text)
    with opened(tmp_path / "state", tree) as asked:
        found = asked.select("alpha 3")
        assert found["items"] and found["certificate"]["bound"] < 2**53


@pytest.mark.parametrize("budget", [400, 2000, 20_000])
def test_another_vocabulary_is_counted_and_not_guessed(tmp_path: Path, budget: int) -> None:
    """What takes one token in one vocabulary may take three in another."""
    tree = make_repository(tmp_path / "tree")
    for number in range(20):
        words = "यह एक छोटा पाठ है जिसमें कुछ शब्द हैं " * 6
        write(tree, f"notes/{number}.md", f"# wombat {number}\n\n{words}\n")
    with opened(tmp_path / "state", tree) as asked:
        found = asked.select("wombat", budget, tokenizer="cl100k")
    text = found["text"]
    assert counter("cl100k")(text) <= found["used"] <= budget
    assert found["certificate"]["exact"] and any(one["level"] == "full" for one in found["items"])
    shown = sum(one["tokens"] for one in found["items"])
    assert shown > budget * 0.5 or len(found["items"]) == 20
