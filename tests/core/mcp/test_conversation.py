"""A run seen from between: listings over pages, replies by id, outcomes by their types alone."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest

from fabricd.core.mcp import conversation
from fabricd.core.mcp.conversation import Called, Conversation, Event, Surfaced

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


class Run:
    """A conversation with its events."""

    def __init__(self, **more: Any) -> None:
        self.events: list[Event] = []
        self.talk = Conversation("s", "repair", "extended", self.events.append, lambda: 5)

    def ask(self, method: str, ident: Any = 1, **params: Any) -> bytes:
        """A client's line."""
        value = {"jsonrpc": "2.0", "id": ident, "method": method, "params": params}
        return self.talk.asked(json.dumps(value).encode() + b"\n")

    def reply(self, ident: Any, result: Any = None, **more: Any) -> None:
        """A server's line."""
        value = {
            "jsonrpc": "2.0",
            "id": ident,
            **({"result": result} if result is not None else {}),
        }
        self.talk.heard(json.dumps({**value, **more}).encode() + b"\n")

    def list(self, tools: Any = None, ident: Any = 1) -> None:
        """A complete listing."""
        self.ask("tools/list", ident)
        self.reply(ident, {"tools": tools or [{"name": "t", "inputSchema": SCHEMA}]})

    def repairs(self, ident: Any = 50) -> bool:
        """Whether a call is repaired."""
        found = json.loads(self.ask("tools/call", ident, name="t", arguments={"n": "1"}))
        return found["params"]["arguments"] == {"n": 1}

    @property
    def calls(self) -> list[tuple[Any, str, str]]:
        """What was noted of calls."""
        return [
            (e.asked.id, e.asked.check, e.outcome) for e in self.events if isinstance(e, Called)
        ]


def test_pages_are_put_together_by_their_cursors() -> None:
    run = Run()
    tool = {"name": "t", "inputSchema": SCHEMA}
    run.ask("tools/list", "a")
    run.reply("a", {"tools": [{"name": "x"}], "nextCursor": "c1"})
    run.ask("tools/list", "b", cursor="c1")
    assert not run.repairs()
    run.reply("b", {"tools": [tool], "nextCursor": "c2"})
    # Another listing, which is given up.
    run.ask("tools/list", "z")
    run.reply("z", {"tools": [], "nextCursor": "c9"})
    run.ask("tools/list", "c", cursor="c2")
    run.reply("c", {"tools": [{"name": "y"}]})
    assert run.repairs(51)
    [surfaced] = [event for event in run.events if isinstance(event, Surfaced)]
    refs = [action["ref"] for action in surfaced.declared.actions]
    assert refs == ["mcp.s.t", "mcp.s.x", "mcp.s.y"]


def test_the_tools_of_a_listing_stand_until_the_next_is_complete() -> None:
    run = Run()
    run.list()
    run.ask("tools/list", 2)
    run.reply(2, {"tools": [], "nextCursor": "more"})
    assert run.repairs()
    run.ask("tools/list", 3, cursor="more")
    run.reply(3, {"tools": []})
    assert not run.repairs(51)


@pytest.mark.parametrize(
    "result",
    [{}, [], 1, {"tools": {}}, {"tools": [], "nextCursor": 5}, {"tools": [1, {"name": 2}, {}]}],
)
def test_an_odd_page_is_no_listing(result: Any) -> None:
    run = Run()
    run.ask("tools/list")
    run.reply(1, result)
    assert not run.repairs()


def test_an_error_is_no_listing() -> None:
    run = Run()
    run.ask("tools/list")
    run.reply(1, error={"code": -1, "message": "no"})
    assert not run.repairs()


CHANGED = b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n'


def test_a_listing_that_comes_after_a_change_is_the_newest_the_client_knows() -> None:
    run = Run()
    run.list()
    run.ask("tools/list", 2)
    run.talk.heard(CHANGED)
    assert not run.repairs()
    run.reply(2, {"tools": [{"name": "t", "inputSchema": SCHEMA}]})
    assert run.repairs(51)


def test_a_changed_list_drops_the_tools_and_the_pages_before_it() -> None:
    run = Run()
    run.list()
    run.ask("tools/list", 2)
    run.reply(2, {"tools": [{"name": "t", "inputSchema": SCHEMA}], "nextCursor": "c"})
    run.ask("tools/list", 3, cursor="c")
    run.talk.heard(CHANGED)
    run.reply(3, {"tools": []})
    assert not run.repairs()
    run.list(ident=4)
    assert run.repairs(51)
    assert run.talk.changed(b'{"method":"log","params":"list_changed"}\nx\n') is True
    assert not run.repairs(52)


def test_bytes_that_nobody_awaits_are_looked_through_for_a_changed_list_alone() -> None:
    run = Run()
    run.list()
    quiet = b'x\n{"method":"log","params":"tools/list_changed"}\ny\n'
    assert run.talk.changed(quiet) is False and run.repairs()
    loud = b'x\n{"method":"notifications/tools/list_changed"}\ny\n'
    assert run.talk.changed(quiet + loud) is True and not run.repairs(51)


def test_outcomes_are_told_by_type_and_never_by_text() -> None:
    run = Run()
    run.list()
    for ident, reply in enumerate(
        [
            {"result": {"isError": True}},
            {"result": {"isError": False, "content": "Error: MCP error -32602"}},
            {"result": {"isError": "true"}},
            {"result": "isError"},
            {"error": {"code": -32602}},
            {"error": None, "result": {}},
        ],
        100,
    ):
        run.ask("tools/call", ident, name="t", arguments={"n": 1})
        run.reply(ident, **reply)
    assert [outcome for _, _, outcome in run.calls] == [
        "failed", "succeeded", "succeeded", "succeeded", "failed", "succeeded",
    ]  # fmt: skip


def test_replies_find_their_calls_by_id_in_any_order() -> None:
    run = Run()
    run.list()
    for ident in (1, "1", 2.5, "é"):
        run.ask("tools/call", ident, name="t", arguments={"n": 1})
    for ident in ("é", 1.0, "1"):
        run.reply(ident, {})
    # A request of the server with the same id is no reply.
    run.reply(2.5, method="sampling/createMessage", params={})
    assert run.talk.is_expecting
    run.talk.close()
    assert [(ident, outcome) for ident, _, outcome in run.calls] == [
        ("é", "succeeded"), (1, "succeeded"), ("1", "succeeded"), (2.5, "aborted"),
    ]  # fmt: skip


def test_a_tool_listed_twice_is_not_judged() -> None:
    run = Run()
    run.list([{"name": "t", "inputSchema": SCHEMA}, {"name": "t", "inputSchema": {}}])
    assert not run.repairs()
    run.reply(50, {})
    assert run.calls == [(50, "unknown", "succeeded")]


def test_calls_that_nobody_answers_do_not_fill_the_memory() -> None:
    run = Run()
    run.list()
    for ident in range(5000):
        run.ask("tools/call", ident, name="t", arguments={"n": 1, "x": "y" * 5000})
    run.talk.close()
    kept = [e.asked for e in run.events if isinstance(e, Called)]
    assert len(kept) == 4096
    assert sum(each.size for each in kept) <= 16 * 1024 * 1024
    assert any(each.arguments is None for each in kept)


PAGE = {"tools": [{"name": "t", "inputSchema": SCHEMA}]}


def test_a_page_that_was_asked_for_before_a_change_is_no_page_of_what_came_after() -> None:
    run = Run()
    run.ask("tools/list", 1)
    run.reply(1, {"tools": [], "nextCursor": "2"})
    run.ask("tools/list", 2, cursor="2")
    run.talk.heard(CHANGED)
    run.ask("tools/list", 3)
    run.reply(3, {"tools": [], "nextCursor": "2"})
    run.reply(2, PAGE)
    assert not run.talk.has_tools
    run.ask("tools/list", 4, cursor="2")
    run.reply(4, PAGE)
    assert run.repairs()


@pytest.mark.parametrize("cursor", [2, 0, True, 1.5, {}, ["2"]])
def test_an_odd_cursor_asks_for_no_first_page(cursor: Any) -> None:
    run = Run()
    run.ask("tools/list", 1, cursor=cursor)
    assert not run.talk.is_expecting
    run.reply(1, PAGE)
    assert not run.talk.has_tools


def test_listings_that_were_begun_and_left_make_room() -> None:
    run = Run()
    for ident in range(20):
        run.ask("tools/list", ident)
        run.reply(ident, {"tools": [], "nextCursor": f"c{ident}"})
    run.ask("tools/list", 30, cursor="c0")
    run.reply(30, PAGE)
    assert not run.talk.has_tools
    run.ask("tools/list", 31, cursor="c19")
    run.reply(31, PAGE)
    assert run.repairs()


def test_a_listing_that_was_cancelled_is_not_awaited() -> None:
    run = Run()
    run.ask("tools/list", "x")
    run.ask("notifications/cancelled", None, requestId="x")
    assert not run.talk.is_expecting
    run.reply("x", PAGE)
    assert not run.talk.has_tools


@pytest.mark.parametrize("line", [b"[%s]\n", b' [{"id":1,"result":{}},%s]\n'])
def test_a_batch_that_speaks_of_a_changed_list_drops_it(line: bytes) -> None:
    line %= CHANGED.strip()
    run = Run()
    run.list()
    assert run.repairs()
    run.talk.heard(line)
    assert not run.repairs(51)
    run.list()
    assert run.talk.changed(b"{}\n" + line + b"{}\n") and not run.repairs(52)


def test_long_ids_and_cursors_are_known_by_their_digest() -> None:
    run = Run()
    long = "é" * 5000
    run.ask("tools/list", long)
    run.reply(long, {"tools": [], "nextCursor": long})
    run.ask("tools/list", 2, cursor=long)
    run.reply(2, PAGE)
    assert run.repairs(long) and not run.talk.is_listing
    run.reply(long + "x", {})
    assert not run.calls
    run.reply(long, {})
    assert [outcome for _, _, outcome in run.calls] == ["succeeded"]
    ident = run.calls[0][0]
    assert ident.startswith("sha256:") and len(ident) == 71


@pytest.mark.parametrize("unit", ["[]", '{"a":1}', '"' + "x" * 500 + '"'])
@pytest.mark.parametrize("size", [1_500, 60_000, 255_000])
def test_what_awaits_a_reply_is_small_whatever_its_values_are(
    unit: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversation, "_KEPT_BYTES", 512 * 1024)
    run = Run()
    run.list()
    args = '{"n":"1","any":[' + ",".join([unit] * (size // (len(unit) + 1))) + "]}"
    line = '{"id":%d,"method":"tools/call","params":{"name":"t","arguments":' + args + "}}\n"
    tracemalloc.start()
    try:
        for ident in range(600_000 // size + 3):
            run.talk.asked((line % ident).encode())
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 1536 * 1024


@pytest.mark.parametrize("size", [10, 5_000])
def test_arguments_are_whole_again_when_a_call_has_ended(size: int) -> None:
    run = Run()
    run.list()
    args = {"n": "1", "é": ["x" * size, {"a": 1}]}
    run.ask("tools/call", 60, name="t", arguments=args)
    run.reply(60, {})
    [called] = [event for event in run.events if isinstance(event, Called)]
    asked = called.asked.whole()
    assert asked.arguments == args and asked.check == "repaired"
    assert asked.repair is not None and asked.repair.args == {**args, "n": 1}
    assert asked.repair.witness()["version"] == 2
