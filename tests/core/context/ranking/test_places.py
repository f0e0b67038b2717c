"""Files that a query names."""

from __future__ import annotations

import pytest

from fabricd.core.context.ranking.places import Place, names, places
from fabricd.core.context.ranking.tree import Tree
from fabricd.core.context.ranking.wanted import wanted
from fabricd.core.context.ranking.weights import WEIGHTS
from tests.core.context.ranking.corpora import MemoryCorpus, ranked
from tests.growth import grows_with_length

VALUES = {
    "app/value.py": "def first():\n    return 1\n\n\ndef second():\n    return 2\n",
    "app/values.py": 'def open_value(value):\n    """Open a value.py."""\n    return value.py\n',
    "app/names.py": "def own():\n    return 1\n",
    "app/other/names.py": "def other():\n    return 2\n",
    "app/say.py": 'def show_names(names):\n    """Show names of py names."""\n',
    "bin/deploy.d/run": "#!/bin/bash\nstart() {\n  echo a\n}\n\nstop() {\n  echo b\n}\n",
    "Makefile.d/Deploy": "#!/bin/bash\nevery() {\n  echo a\n}\n",
    "app/deploy.py": 'def deploy(run):\n    """Run, run the deploy run in bin."""\n',
}


@pytest.fixture(scope="module")
def values() -> MemoryCorpus:
    return MemoryCorpus(VALUES)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("value.py", "app/value.py"),
        ("open value.py", "app/value.py"),
        ("app/value.py", "app/value.py"),
        ("show me app/value.py, please", "app/value.py"),
        ("where is value.py", "app/value.py"),
        ("names.py", "app/names.py"),
        ("app/other/names.py", "app/other/names.py"),
        ("Makefile.d/Deploy", "Makefile.d/Deploy"),
        ("Where is Deploy?", "Makefile.d/Deploy"),
        ("open bin/deploy.d/run", "bin/deploy.d/run"),
    ],
)  # fmt: skip
def test_a_query_that_is_a_file_finds_it(values: MemoryCorpus, query: str, first: str) -> None:
    assert ranked(values, query)[0].startswith(f"{first}:")


def test_files_of_one_name_come_before_all_others(values: MemoryCorpus) -> None:
    first = {one.partition(":")[0] for one in ranked(values, "show names.py")[:2]}
    assert first == {"app/names.py", "app/other/names.py"}


def test_the_suffix_of_a_place_weighs_little() -> None:
    terms = {term.text: term.weight for term in wanted("slow start of value.py", WEIGHTS).terms}
    assert terms["py"] == WEIGHTS.filler
    assert terms["valu"] == 1.0
    assert wanted("drop py", WEIGHTS).terms[-1].weight == 1.0
    assert [term.weight for term in wanted("Client.send hangs", WEIGHTS).terms] == [1.0] * 3


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("bin/deploy.d/run:6", "bin/deploy.d/run:stop"),
        ("deploy.d/run:2:4 says no", "bin/deploy.d/run:start"),
        ("bin/deploy.d/run#L7", "bin/deploy.d/run:stop"),
        ("bin/deploy.d/run, line 6", "bin/deploy.d/run:stop"),
        ("run:6", "bin/deploy.d/run:stop"),
    ],
)  # fmt: skip
def test_a_place_needs_no_suffix(values: MemoryCorpus, query: str, first: str) -> None:
    assert ranked(values, query)[0] == first


def test_names_that_may_be_files() -> None:
    assert names("Makefile:100 fails", False) == (Place("Makefile", 100),)
    assert names("see docs/fabricd.1.", False) == (Place("docs/fabricd.1"),)
    assert names("run deploy twice", False) == ()
    assert names("where is deploy", True)[-1] == Place("deploy")
    assert places("docs/fabricd.1 bin/deploy") == ()
    assert names("src/x.py:3", False) == ()


def test_only_the_end_of_a_path_is_called_so() -> None:
    tree = Tree(("Makefile", "docs/fabricd.1", "bin/deploy"))
    assert tree.called("Makefile") == [0]
    assert tree.called("fabricd.1") == [1]
    assert tree.called("in/deploy") == []
    assert tree.called("home/me/bin/deploy") == []
    many = Tree(tuple(f"p{number}/Makefile" for number in range(9)))
    assert many.called("Makefile") == []
    assert many.called("p3/Makefile") == [3]


@pytest.mark.parametrize(
    "piece", ["/", "a/", "-/", "_", "-", ".", "a.", "a:", "(", "(*A).", "main.(*", "a_", "x.y:1 "]
)
def test_a_query_is_read_in_time_by_its_length(piece: str) -> None:
    """Four times as long as a query may be; to try each beginning anew would take minutes."""
    assert grows_with_length(
        lambda length: (piece * length)[:length], lambda query: wanted(query, WEIGHTS), 16_384
    )
