"""The books of a machine, from logs as agents write them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fabricd.core.context.books import Book, Books, Fetch
from fabricd.core.context.receipt import receipt_id
from fabricd.core.steps import finish
from fabricd.store.context.bookkeeping import booked
from fabricd.store.context.receipts import Given, ReceiptStore
from tests.core.context.receipting import ROOT, delivery, given
from tests.core.trajectory.sessions.written import (
    claude_call,
    claude_result,
    codex_call,
    codex_header,
    codex_output,
    copilot_event,
    gemini_document,
    pi_call,
    pi_header,
    pi_result,
    write,
)
from tests.store.opencode_stores import Database, tool

Json = dict[str, Any]
ANSWER = given()
NAME = receipt_id(ANSWER.receipt)
USED = ANSWER.receipt.used
FILE = f"{ROOT}/src/client.py"
# Ten lines of one word from line 15 on: five and five of two items that were given whole.
LISTING = "".join(f"{number:>6}→word{number}\n" for number in range(15, 25))


def words(text: str) -> int:
    return len(text.split())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ReceiptStore]:
    opened = ReceiptStore(tmp_path / "state" / "receipts.db")
    opened.save(ANSWER, delivery(ANSWER))
    yield opened
    opened.close()


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {
        "HOME": str(tmp_path / "home"),
        "CLAUDE_CONFIG_DIR": str(tmp_path / "claude"),
        "CODEX_HOME": str(tmp_path / "codex"),
        "COPILOT_HOME": str(tmp_path / "copilot"),
        "GEMINI_CLI_HOME": str(tmp_path / "gemini"),
        "PI_CODING_AGENT_DIR": str(tmp_path / "pi"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "FABRICD_STATE_DIR": str(tmp_path / "state"),
    }


def at(env: dict[str, str], name: str, *folders: str) -> Path:
    path = Path(env[name]).joinpath(*folders)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def books(store: ReceiptStore, env: dict[str, str], root: str | None = None) -> Books:
    return finish(booked(store, env, words, root))


def claude(env: dict[str, str], *rows: Json, name: str = "c") -> Path:
    return write(at(env, "CLAUDE_CONFIG_DIR", "projects", "p", f"{name}.jsonl"), *rows)


def selected(call_id: str = "a", answer: Given = ANSWER) -> tuple[Json, Json]:
    tool = "mcp__fabricd__context_select"
    return claude_call(call_id, tool, query="q"), claude_result(call_id, answer.text)


def read(call_id: str, listing: str = LISTING, path: str = FILE) -> tuple[Json, Json]:
    return claude_call(call_id, "Read", file_path=path), claude_result(call_id, listing)


def test_what_no_log_shows_is_unlinked(store: ReceiptStore, env: dict[str, str]) -> None:
    found = books(store, env)
    assert found.sessions == ()
    assert (found.unlinked, found.unlinked_tokens) == (1, USED)
    assert found.why


def test_a_session_with_all_three(store: ReceiptStore, env: dict[str, str]) -> None:
    recovered = claude_call("d", "mcp__fabricd__context_recover", handle=f"{NAME}#3")
    claude(
        env,
        *read("before"),
        *selected(),
        *read("b"),
        *read("other", path=f"{ROOT}/src/other.py"),
        recovered,
        claude_result("d", "def c(): ..."),
    )
    found = books(store, env)
    # Before it was given nothing is read again.
    assert found.sessions == (Book("claude-code", "c", 1, USED, 3, 10, USED + 13),)
    assert found.unlinked == 0


def test_a_listing_that_starts_elsewhere_counts_by_its_numbers(
    store: ReceiptStore, env: dict[str, str]
) -> None:
    far = "".join(f"{number:>6}→word\n" for number in range(28, 60))
    claude(env, *selected(), *read("b", far))
    assert books(store, env).sessions[0].reread == 2


def test_copies_of_a_session_count_once(store: ReceiptStore, env: dict[str, str]) -> None:
    claude(env, *selected(), *read("b"))
    claude(env, *selected(), *read("b"), *read("c"), name="resumed")
    assert books(store, env).sessions == (Book("claude-code", "c", 1, USED, 0, 20, USED + 20),)


def test_an_id_that_was_never_given_links_nothing(store: ReceiptStore, env: dict[str, str]) -> None:
    claude(env, *selected(answer=given(query="of another machine")))
    claude(env, claude_call("x"), claude_result("x", "-- cr_0123456789abcdef 1/2 o200k"), name="d")
    assert books(store, env).sessions == ()


def test_an_answer_in_json_and_a_mere_mention(store: ReceiptStore, env: dict[str, str]) -> None:
    shown = json.dumps({"receipt": NAME, "text": ANSWER.text})
    claude(env, claude_call("x"), claude_result("x", shown))
    claude(env, *[_in(row, "e") for row in (claude_call("y"), claude_result("y", NAME))], name="e")
    found = books(store, env).sessions
    assert [(book.session, book.selections, book.gross) for book in found] == [
        ("c", 1, USED),
        ("e", 0, 0),
    ]


def _in(row: Json, session: str) -> Json:
    return {**row, "sessionId": session}


def test_codex_has_no_typed_read_tool(store: ReceiptStore, env: dict[str, str]) -> None:
    write(
        at(env, "CODEX_HOME", "sessions", "2026", "rollout-x.jsonl"),
        codex_header("x"),
        codex_call("a"),
        codex_output("a", ANSWER.text),
    )
    (book,) = books(store, env).sessions
    assert (book.agent, book.gross, book.reread, book.net) == ("codex", USED, None, None)
    assert book.why == "codex has no typed read tool"


def test_pi_reads_from_an_offset(store: ReceiptStore, env: dict[str, str]) -> None:
    asked = pi_call("b", path="src/client.py", offset=25)
    asked["message"]["content"][0]["name"] = "read"
    write(
        at(env, "PI_CODING_AGENT_DIR", "sessions", "p", "f.jsonl"),
        {**pi_header(), "cwd": ROOT},
        pi_call("a"),
        pi_result("a", ANSWER.text),
        asked,
        pi_result("b", "word\n" * 20),
    )
    (book,) = books(store, env).sessions
    assert (book.agent, book.session, book.reread) == ("pi", "f", 5)


def test_gemini_documents_and_copilot_events(store: ReceiptStore, env: dict[str, str]) -> None:
    def call(call_id: str, name: str, args: Json, output: str) -> Json:
        told = {"id": call_id, "name": name, "response": {"output": output}}
        response = [{"functionResponse": told}]
        return {"id": call_id, "name": name, "args": args, "status": "success", "result": response}

    path = at(env, "GEMINI_CLI_HOME", ".gemini", "tmp", "h", "chats", "session.json")
    asked = {"absolute_path": FILE, "offset": 9, "limit": 3}
    shown = call("b", "read_file", asked, "one\ntwo\nthree")
    path.write_text(json.dumps(gemini_document(call("a", "sh", {}, ANSWER.text), shown)))

    def event(kind: str, **data: Any) -> Json:
        return copilot_event(f"tool.execution_{kind}", **data)

    write(
        at(env, "COPILOT_HOME", "session-state", "s", "events.jsonl"),
        copilot_event("session.start", sessionId="s", context={"cwd": ROOT}),
        event("start", toolCallId="a", toolName="bash", arguments={}),
        event("complete", toolCallId="a", success=True, result={"content": ANSWER.text}),
        event(
            "start",
            toolCallId="b",
            toolName="view",
            arguments={"path": FILE, "view_range": [29, 31]},
        ),
        event("complete", toolCallId="b", success=True, result={"content": "29. a\n30. b\n31. c"}),
    )
    found = {book.agent: book.reread for book in books(store, env).sessions}
    assert found == {"gemini-cli": 3, "copilot-cli": 1}


def test_opencodes_database(store: ReceiptStore, env: dict[str, str]) -> None:
    database = Database(at(env, "XDG_DATA_HOME", "opencode", "opencode.db"))
    for session in ("s", "t"):
        database.session(session, f"m{session}", ROOT)
    database.part("p1", tool("c1", output=ANSWER.text), "s", "ms")
    asked = {"filePath": FILE, "offset": 27}
    listing = "<file>\n00028| one\n00029| two\n00030| three\n</file>"
    database.part("p2", tool("c2", name="read", input=asked, output=listing), "s", "ms")
    database.part("p3", tool("c3", output="cr_ is no id"), "t", "mt")
    (book,) = books(store, env).sessions
    assert (book.agent, book.session, book.gross, book.reread) == ("opencode", "s", USED, 2)
    database.close()
    assert len(books(store, env).sessions) == 1
    database.path.write_bytes(b"no database")
    assert books(store, env).sessions == ()


def test_what_was_recovered_on_the_command_line(store: ReceiptStore, env: dict[str, str]) -> None:
    tool = "fabricd__context_recover"
    claude(
        env,
        *selected(),
        claude_call("d", tool, handle=f"{NAME}#3"),
        claude_result("d", "def c(): ..."),
    )
    for number, session in ((3, None), (3, None), (1, "c"), (1, "nobody")):
        store.fetched(Fetch(1, ROOT, session, "recover", f"{NAME}#{number}", 100))
    store.fetched(Fetch(1, ROOT, None, "recover", "cr_0123456789abcdef#1", 100))
    assert len(store.fetches(ROOT)) == 5 and store.fetches("/elsewhere") == []
    # One of the five stands in the log as what it is, and one belongs to a receipt it never saw.
    assert books(store, env).sessions[0].recovered == 3 + 300


def test_what_was_shown_is_recovered_and_not_gross(
    store: ReceiptStore, env: dict[str, str]
) -> None:
    shown = given(query="show send_1")
    store.save(shown, delivery(shown))
    claude(env, *selected(), *selected("x", shown))
    assert [book.gross for book in books(store, env).sessions] == [2 * USED]
    store.fetched(Fetch(1, ROOT, None, "show", receipt_id(shown.receipt), USED))
    (book,) = books(store, env).sessions
    assert (book.selections, book.gross, book.recovered, book.net) == (1, USED, USED, 2 * USED)


def test_another_projects_receipts_are_not_in_its_books(
    store: ReceiptStore, env: dict[str, str]
) -> None:
    claude(env, *selected())
    assert books(store, env, "/elsewhere") == Books((), 0, 0)
    assert len(books(store, env, ROOT).sessions) == 1


def test_a_compressed_or_damaged_log(store: ReceiptStore, env: dict[str, str]) -> None:
    import zstandard

    path = claude(env, *selected())
    packed = path.with_suffix(".jsonl.zst")
    packed.write_bytes(zstandard.compress(path.read_bytes()))
    path.write_bytes(b"\xff\xfe" + NAME.encode())
    packed.with_name("cut.jsonl.zst").write_bytes(packed.read_bytes()[:-4])
    (packed.parent / "empty.jsonl").touch()
    assert [book.gross for book in books(store, env).sessions] == [USED]


def test_no_path_and_no_text_is_kept(store: ReceiptStore, env: dict[str, str]) -> None:
    claude(env, *selected(), *read("b"))
    found = json.dumps([str(book) for book in books(store, env).sessions])
    assert "client" not in found and "word" not in found
