"""Lines reach a server behind a URL in their order, and only requests wait for their turn."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.ipc.gateway.test_remote import wrap
from tests.ipc.gateway.web import Web, reply, web

JSON = "application/json"


def line(**members: Any) -> bytes:
    """A line of the client."""
    return json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n"


def until(condition: Callable[[], bool]) -> None:
    """Wait for something."""
    ends = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.02)


def test_what_a_notification_changes_is_there_for_the_next_line(tmp_path: Path) -> None:
    done: list[str] = []

    def answers(self: Web, method: str, what: Any) -> None:
        if method == "GET":
            self.body(b"", None, 405)
        elif "id" not in what:
            time.sleep(0.3)
            done.append(what["method"])
            self.body(b"", None, 202)
        else:
            done.append(what["method"])
            self.body(reply(what["id"]), JSON)

    asked = line(method="notifications/initialized") + line(id=1, method="tools/list")
    with web(answers) as (url, _), wrap(tmp_path, "--url", url) as process:
        out, err = process.communicate(asked, timeout=30)
    assert (out, err) == (reply(1) + b"\n", b"")
    assert done == ["notifications/initialized", "tools/list"]


def test_only_requests_wait_while_many_are_unanswered(tmp_path: Path) -> None:
    free = threading.Event()

    def answers(self: Web, _method: str, what: Any) -> None:
        if "method" in what and "id" in what:
            free.wait(30)
            self.body(reply(what["id"]), JSON)
        else:
            self.body(b"", None, 202)

    def posted(name: str) -> list[Any]:
        return [what for _, what in seen if name in what]

    cancelled = "notifications/cancelled"
    with web(answers) as (url, seen), wrap(tmp_path, "--url", url) as process:
        assert process.stdin is not None and process.stdout is not None
        # The last two of them wait.
        for ident in range(66):
            process.stdin.write(line(id=ident, method="tools/call"))
        # Of one that was posted, and of one that waits: this one stays behind it.
        process.stdin.write(line(method=cancelled, params={"requestId": 65}))
        process.stdin.write(line(id="from the server", result={}))
        until(lambda: bool(posted("result")))
        assert len(posted("id")) == 65 and len(seen) == 65
        process.stdin.write(line(method=cancelled, params={"requestId": 3}))
        # What was cancelled leaves its place to the next.
        until(lambda: len(seen) == 67)
        assert [what["id"] for what in posted("method") if "id" in what][64:] == [64]
        free.set()
        found = [json.loads(process.stdout.readline())["id"] for _ in range(66)]
        process.stdin.close()
        assert process.wait(20) == 0 and sorted(found) == list(range(66))
        ours = [what for what in posted("method") if what.get("id") == 65 or "params" in what]
        # They were sent in this order; which thread of the server sees its own first is its affair.
        assert ours[0].get("id") is None and ours[0]["params"] == {"requestId": 3}
        assert {what.get("id") for what in ours[1:]} == {65, None} and len(ours) == 3


def test_a_cancelled_request_may_stay_without_its_reply(tmp_path: Path) -> None:
    told = threading.Event()

    def answers(self: Web, _method: str, what: Any) -> None:
        if what["method"] == "tools/call":
            told.wait(20)
            self.stream(b"")
        else:
            self.body(b"", None, 202)
            told.set()

    asked = line(id=1, method="tools/call")
    asked += line(method="notifications/cancelled", params={"requestId": 1})
    with web(answers) as (url, _), wrap(tmp_path, "--url", url) as process:
        assert process.communicate(asked, timeout=30) == (b"", b"")
    assert process.returncode == 0


def test_the_servers_own_stream_is_opened_again(tmp_path: Path) -> None:
    def answers(self: Web, method: str, _what: Any) -> None:
        if method == "POST":
            self.body(b"", None, 202)
        else:
            number = sum(1 for each, _ in seen if each == "GET")
            said = line(method=f"notifications/{number}")
            self.stream(b"retry: 100\nid: %d\ndata: %s\n" % (number, said))

    with web(answers) as (url, seen), wrap(tmp_path, "--url", url) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(line(method="notifications/initialized"))
        heard = [json.loads(process.stdout.readline())["method"] for _ in range(3)]
        process.stdin.close()
        assert process.wait(20) == 0
    assert heard == ["notifications/1", "notifications/2", "notifications/3"]
    assert [what for method, what in seen if method == "GET"][:3] == [None, "1", "2"]
