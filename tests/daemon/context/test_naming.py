"""What is shown and explained is named in many spellings, and refused by what it is."""

from __future__ import annotations

import json
import shutil
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from fabricd.core.context.asking import Refused
from fabricd.core.steps import finish
from tests.daemon.context.trees import Asked, opened, project


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Generator[Asked, None, None]:
    place = tmp_path_factory.mktemp("naming")
    tree = project(place / "tree")
    (tree / "empty.py").touch()
    (tree / "blank.py").write_text("\n  \n")
    with opened(place / "state", tree) as found:
        yield found


def refused(asked: Asked, method: str, **params: Any) -> Refused:
    with pytest.raises(Refused) as found:
        asked(method, **params)
    return found.value


@pytest.mark.parametrize(
    ("what", "held"),
    [
        ("src/client.py:21:9", "def follow"),
        ("src/client.py#L21-L22", "def follow"),
        ('File "src/client.py", line 21, in follow', "def follow"),
        ("Client.follow()", "def follow"),
        ("client.Client.follow", "def follow"),
        ("project.src.client.Client.follow", "def follow"),
        ("src/client.py::Client::follow", "def follow"),
        ("tests/test_client.py::test_redirects[twice]", "def test_redirects"),
        ("`openSession`", "export function openSession"),
    ],
)
def test_a_unit_is_shown_however_it_is_pointed_at(asked: Asked, what: str, held: str) -> None:
    assert held in asked("show", what=what)["text"]


@pytest.mark.parametrize(
    ("what", "reason", "words"),
    [
        ("src", "unknown", "src/ is a directory with 2 files in the index: name one, as src/c"),
        ("./src/", "unknown", "src/ is a directory with 2 files"),
        (".", "unknown", ". is a directory with 7 files"),
        (" ", "usage", "say what is meant"),
        ("cr_0123456789abcdef", "unknown", "is a receipt; its items are cr_0123456789abcdef#1"),
        ("src/client.py::Client::gone", "unknown", "no unit of that file is called"),
        ("src/client.py:25-21", "usage", "runs backwards: its first line is 25 and its last 21"),
        ("src/client.py#L25-L21", "usage", "a range is path:first-last"),
        ("src/client.py:0", "usage", "'src/client.py:0' is no place: the first line is 1"),
        ("src/client.py:0-1", "usage", "is no place: the first line is 1"),
        ("src/errors.py:7", "unknown", "src/errors.py has 6 lines; line 7 lies beyond its end"),
        ("src/errors.py:9-12", "unknown", "has 6 lines; lines 9-12 lie beyond its end"),
        ("docs/guide.md:999999999", "unknown", "line 999999999 lies beyond"),
        ("empty.py", "unknown", "empty.py is empty"),
        ("empty.py:1", "unknown", "empty.py is empty"),
        ("blank.py:1-9", "unknown", "lines 1-2 are blank in blank.py"),
        ("blank.py:2", "unknown", "line 2 is blank in blank.py"),
        ("other.client.Client.follow.now", "unknown", "no handle, path or symbol"),
    ],
)
def test_what_is_no_unit_is_told(asked: Asked, what: str, reason: str, words: str) -> None:
    found = refused(asked, "show", what=what)
    assert found.reason == reason and words in found.message


def test_an_item_of_the_receipt_at_hand_is_a_number(asked: Asked) -> None:
    receipt = asked.select("follow redirects", 300)["receipt"]
    by_number = asked("explain", receipt=receipt, what="#1")
    assert by_number == asked("explain", receipt=receipt, what=f"{receipt}#1")
    assert refused(asked, "explain", receipt=receipt, what="#99").reason == "unknown"
    assert refused(asked, "explain", receipt=receipt, what=" ").reason == "usage"


def test_the_handle_of_an_item_names_its_receipt(asked: Asked) -> None:
    receipt = asked.select("follow redirects", 300)["receipt"]
    for method, more in (("receipt", {}), ("receipt", {"verify": True}), ("replay", {})):
        of_handle = asked(method, receipt=f"{receipt}#1", **more)
        assert of_handle == asked(method, receipt=receipt, **more)
        found = refused(asked, method, receipt="cr_12", **more)
        assert (found.reason, "is no receipt" in found.message) == ("unknown", True)


def test_a_place_is_explained_as_compilers_tell_it(asked: Asked) -> None:
    receipt = asked.select("follow redirects", 2000)["receipt"]
    found = asked("explain", receipt=receipt, what="src/client.py:21:9")
    assert "src/client.py:21-25 method Client.follow: given" in found["text"]


def test_a_tree_that_is_not_indexed_is_named(asked: Asked, tmp_path: Path) -> None:
    asked("index")
    assert f"{tmp_path} is not indexed yet" in asked("stats", root=str(tmp_path))["text"]


def test_a_tree_that_was_deleted_is_forgotten(tmp_path: Path) -> None:
    with opened(tmp_path / "state", project(tmp_path / "tree")) as asked:
        asked.select("follow redirects", 300)
        shutil.rmtree(asked.root)
        assert asked("forget")["text"] == "forgot 1 tree, 1 delivery\n"
        assert refused(asked, "forget").reason == "usage"


def test_a_tree_that_is_being_indexed_is_told_of(asked: Asked) -> None:
    asked("index")
    steps = asked.engine.ask("index", json.dumps({"root": str(asked.root)}).encode())
    next(steps)
    found = asked("stats")
    assert list(found["indexing"]) == [str(asked.root)]
    assert found["text"].startswith(f"indexing {asked.root}: ")
    finish(steps)
    assert asked("stats")["indexing"] == {}
