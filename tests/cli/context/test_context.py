"""`fabricd context` without a daemon: the command opens the index itself, and says so."""

from __future__ import annotations

import importlib.util
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fabricd.daemon.context.library import Context, Refused, Unreachable
from fabricd.store.locks import hold
from tests.cli.running import Cli
from tests.harness import ROOT

needs_engine = pytest.mark.skipif(
    importlib.util.find_spec("tree_sitter") is None, reason="the extra is not installed"
)
SOURCE = '''def discounted(cents: int, percent: int) -> int:
    """A price with a discount, rounded down."""
    return cents * (100 - percent) // 100
'''


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "prices.py").write_text(SOURCE)
    (tmp_path / "README.md").write_text("# Shop\n\nPrices \x1b[31mand\tdiscounts.\n")
    return tmp_path


@pytest.fixture
def state(place: Path) -> Path:
    return place / "home" / "state"


def asked(cli: Cli, *arguments: str | Path) -> Any:
    found = cli("context", *arguments, "--json")
    assert found.code == 0, found.err
    return found.json


@needs_engine
def test_an_answer_goes_to_stdout_and_nothing_else(cli: Cli, tree: Path) -> None:
    found = cli("context", "select", "--query", "discount of a price", "--root", tree)
    assert found.code == 0
    assert found.out.decode().startswith("## prices.py\n@@ 1-3 function discounted #1\n" + SOURCE)
    found.says("no daemon runs", "opened the context index itself")


@needs_engine
def test_an_answer_is_explained_recovered_verified_and_replayed(cli: Cli, tree: Path) -> None:
    root = ("--root", tree)
    answer = asked(cli, "select", "--query", "discounted", "--budget", "400", *root)
    receipt = answer["receipt"]
    assert answer["used"] <= 400
    whole = cli("context", "replay", receipt, *root)
    assert whole.out.decode() == answer["text"]
    assert SOURCE.encode() in cli("context", "recover", f"{receipt}#1", *root).out
    assert SOURCE.encode() in cli("context", "show", "discounted", *root).out
    assert b"discounted" in cli("context", "explain", "discounted", "--receipt", receipt, *root).out
    arguments = ("--receipt", receipt, "--why-omitted", *root)
    assert cli("context", "explain", "discounted", *arguments).code == 1
    assert receipt.encode() in cli("context", "verify", receipt, *root).out
    assert cli("context", "verify", receipt, *root).code == 0
    assert asked(cli, "receipt", receipt, *root)["receipt"]["query"] == "discounted"
    assert b"discounted" in cli("context", "receipt", receipt, "--markdown", *root).out
    assert str(tree) in asked(cli, "stats")["trees"][0]["root"]


@needs_engine
def test_what_is_changed_in_the_store_is_found(cli: Cli, tree: Path, state: Path) -> None:
    import sqlite3

    receipt = asked(cli, "select", "--query", "discounted", "--root", tree)["receipt"]
    with sqlite3.connect(state / "context" / "receipts.db") as database:
        tables = [
            (table, column[1])
            for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type='table'")
            for column in database.execute(f"PRAGMA table_info({table})")
        ]
        for table, column in tables:
            if column in ("canonical", "body", "receipt", "json", "data", "text"):
                database.execute(
                    f"UPDATE {table} SET {column} = CAST(REPLACE(CAST({column} AS TEXT), "
                    "'discounted', 'discountef') AS BLOB)"
                )
    database.close()
    found = cli("context", "verify", receipt, "--root", tree)
    assert found.code == 1, tables


@needs_engine
def test_forgotten_is_gone(cli: Cli, tree: Path) -> None:
    receipt = asked(cli, "select", "--query", "discounted", "--root", tree)["receipt"]
    assert cli("context", "forget", "--root", tree).code == 0
    found = cli("context", "replay", receipt, "--root", tree)
    assert (found.code, found.out) == (1, b"")


@needs_engine
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("select", "--query", "discount", "--budget", "3"), 1),
        (("recover", "cr_0000000000000000#1"), 1),
        (("receipt", "cr_0000000000000000"), 1),
        (("show", "../../etc/passwd"), 1),
        (("show", "no_such_symbol_at_all"), 1),
        (("select", "--query", "x" * 5000), 2),
        (("select", "--query", ""), 2),
        (("receipt", "no id"), 1),
    ],
)
def test_what_is_refused_is_a_sentence(
    cli: Cli, tree: Path, arguments: tuple[str, ...], code: int
) -> None:
    found = cli("context", *arguments, "--root", tree)
    assert (found.code, found.out) == (code, b"")
    lines = found.err.splitlines()
    assert len(lines) == 2 and all(line.startswith("fabricd: ") for line in lines), found.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("select",), "--query"),
        (("select", "--query", "x", "--tokenizer", "words"), "words"),
        (("receipt", "cr_0", "--json", "--markdown"), "exclude"),
        (("forget",), "say what to forget"),
        (("forget", "--all", "--root", "."), "excludes"),
        (("forget", "--before", "tomorrow"), "no moment"),
        (("explain", "x"), "--receipt"),
        (("stats", "--root", "README.md"), "is a file"),
    ],
)
def test_usage(
    cli: Cli, arguments: tuple[str, ...], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    cli("context", *arguments).complains(2, words)


def test_an_index_that_somebody_holds_is_exit_4(cli: Cli, tree: Path, state: Path) -> None:
    if importlib.util.find_spec("tree_sitter") is None:
        pytest.skip("the extra is not installed")
    lock = hold(state / "context" / "index.lock")
    try:
        cli("context", "stats").complains(4, "no daemon runs", "index.lock")
        with pytest.raises(Unreachable):
            Context(tree).select("x")
    finally:
        lock.close()


def test_without_the_extra_it_says_what_to_install(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = importlib.util.find_spec

    def without(name: str, package: str | None = None) -> Any:
        return None if name == "tree_sitter" else whole(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", without)
    cli("context", "stats").complains(2, "tree_sitter", "pip install 'fabricd[context]'")


@needs_engine
def test_the_library_opens_the_index_itself(tree: Path) -> None:
    said: list[str] = []
    context = Context(tree, say=said.append)
    answer = context.select("discount of a price", budget=300)
    assert answer.text.startswith("## prices.py") and answer.used <= 300
    assert answer.receipt is not None and answer.receipt.startswith("cr_")
    assert answer.items[0]["name"] == "discounted"
    assert SOURCE in context.recover(f"{answer.receipt}#1").text
    assert context.replay(answer.receipt).text == answer.text
    assert "discounted" in context.explain("discounted", receipt=answer.receipt).text
    assert context.receipt(answer.receipt, verify=True).value["verified"] is True
    assert context.index().value["files"] == 2
    about = (
        context.show("discounted"),
        context.explain("discounted", receipt=answer.receipt),
        context.replay(answer.receipt),
        context.receipt(answer.receipt, verify=True),
    )
    assert about[0].receipt not in (None, answer.receipt)
    assert {one.receipt for one in about[1:]} == {answer.receipt}
    whole = context.receipt(answer.receipt)
    assert (whole.receipt, whole.value["id"]) == (None, answer.receipt)
    assert context.recover(f"{answer.receipt}#1").receipt is context.index().receipt is None
    with pytest.raises(Refused) as caught:
        context.select("discount", budget=3)
    assert caught.value.reason in ("budget-too-small", "usage")
    assert said and all("no daemon runs" in words for words in said)


@needs_engine
def test_on_a_terminal_nothing_of_a_file_is_obeyed(tree: Path) -> None:
    code, out = on_a_terminal("context", "show", "README.md", "--root", str(tree))
    assert code == 0
    assert b"\x1b[31m" not in out and b"\\x1b[31mand\tdiscounts." in out


@needs_engine
def test_indexing_on_a_terminal_ends_with_the_same_words(cli: Cli, tree: Path) -> None:
    for number in range(60):
        (tree / f"file{number}.py").write_text(SOURCE * 20)
    code, out = on_a_terminal("context", "index", "--root", str(tree))
    assert code == 0 and b"62 files" in out


def on_a_terminal(*arguments: str) -> tuple[int, bytes]:
    """A command with a terminal as standard output and standard error."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "fabricd", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "TERM": "xterm"},
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    data = b""
    while True:
        try:
            piece = os.read(ours, 1 << 16)
        except OSError:
            break
        if not piece:
            break
        data += piece
    os.close(ours)
    return process.wait(30), data.replace(b"\r\n", b"\n")


def test_an_engine_that_breaks_is_a_sentence(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tree: Path
) -> None:
    from fabricd.daemon.context import contract
    from tests.daemon.context.fake import SECRET, FakeEngine

    monkeypatch.setattr(contract, "open_engine", FakeEngine.open)
    found = cli("context", "select", "--query", "break", "--root", tree)
    assert (found.code, found.out) == (1, b"")
    assert "KeyError at fake.py:" in found.err and SECRET not in found.err
    assert "Traceback" not in found.err
