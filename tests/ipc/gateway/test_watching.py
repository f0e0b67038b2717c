"""What fails is off for the rest of the run; the bytes go on."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import pytest

from fabricd.core.mcp.conversation import Asked, Called, Conversation
from fabricd.daemon.cli.wrap.run import is_wrapping
from fabricd.ipc.gateway.journal import Journal
from fabricd.ipc.gateway.watching import Watch

CALL = (
    b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"t","arguments":{"n":"1"}}}\n'
)
LIST = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n'
_SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}
LISTED = (
    json.dumps({"id": 1, "result": {"tools": [{"name": "t", "inputSchema": _SCHEMA}]}}).encode()
    + b"\n"
)
CHANGED = b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n'


def watch(said: list[str]) -> Watch:
    """A watch over a conversation that is logged nowhere."""
    return Watch(
        lambda: Conversation("s", "repair", "extended", lambda _: None, lambda: 0), said.append
    )


def is_repaired(subject: Watch, ident: int = 5) -> bool:
    """Whether a call is repaired."""
    return subject.asked(CALL % ident) != CALL % ident


def test_a_fault_in_reading_is_said_once_and_lines_go_on() -> None:
    said: list[str] = []

    def fails() -> Conversation:
        raise ZeroDivisionError("oh")

    subject = Watch(fails, said.append)
    for _ in range(3):
        assert subject.asked(CALL % 1) == CALL % 1
        subject.talking()
        subject.heard(LISTED)
    subject.close()
    assert len(said) == 1 and "ZeroDivisionError" in said[0]


def test_a_fault_in_deciding_lets_the_very_line_through(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    subject = watch(said)
    subject.asked(LIST)
    subject.heard(LISTED)

    def fails(*_: object) -> bytes:
        raise MemoryError

    monkeypatch.setattr(Conversation, "_call", fails)
    assert not is_repaired(subject)
    monkeypatch.undo()
    assert not is_repaired(subject) and len(said) == 1


@pytest.mark.parametrize("cut", range(0, len(CHANGED), 7))
def test_a_changed_list_is_heard_however_it_is_cut(cut: int) -> None:
    said: list[str] = []
    subject = watch(said)
    subject.asked(LIST)
    subject.heard(b"noise " + LISTED[:5])
    subject.heard(LISTED[5:])
    assert not is_repaired(subject, 1)
    subject.heard(b'{"id":1,"result":{}}\n')
    subject.asked(LIST)
    subject.heard(LISTED)
    assert is_repaired(subject)
    subject.heard(b'{"id":5,"result":{}}\n')
    subject.heard(b"{}\n" + CHANGED[:cut])
    # While half of it is there somebody asks.
    subject.asked(b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"t"}}\n')
    subject.heard(CHANGED[cut:] + b'{"id":9,"result":{}}\n')
    assert not is_repaired(subject, 6) and not said


def test_a_call_waits_a_moment_for_a_listing_that_was_forwarded() -> None:
    subject = watch([])
    subject.asked(LIST)
    subject.talking()

    def read() -> None:
        time.sleep(0.01)
        subject.heard(LISTED)

    reader = threading.Thread(target=read)
    reader.start()
    assert is_repaired(subject)
    reader.join()


def test_a_client_that_does_not_read_is_waited_for_once_a_chunk() -> None:
    subject = watch([])
    subject.asked(LIST)
    subject.heard(LISTED)
    subject.talking()
    started = time.monotonic()
    # The chunk is still being written: what comes now can hardly answer it. A hundred waits of a
    # twentieth of a second would take five.
    assert all(is_repaired(subject, number) for number in range(100))
    assert time.monotonic() - started < 4
    subject.heard(b"{}\n")
    subject.talking()
    reader = threading.Thread(target=lambda: (time.sleep(0.01), subject.heard(CHANGED)))
    reader.start()
    assert not is_repaired(subject, 200)
    reader.join()


def test_a_change_is_heard_between_two_pages_too() -> None:
    subject = watch([])
    subject.asked(LIST)
    subject.heard(LISTED.replace(b'"tools"', b'"nextCursor": "2", "tools"'))
    subject.heard(b"{}\n" + CHANGED)
    subject.asked(LIST.replace(b"}", b',"params":{"cursor":"2"}}'))
    subject.heard(LISTED)
    assert not is_repaired(subject)


def called(number: int, size: int = 10) -> Called:
    """A call that has ended."""
    return Called(Asked(number, "t", {"n": 1}, 0, "accepted", None, None, size), "succeeded")


def test_a_log_that_fails_is_given_up_with_a_sentence() -> None:
    said: list[str] = []

    def fails(_: bytes) -> None:
        raise OSError(28, "No space left on device")

    journal = Journal("s", "projected", fails, said.append)
    for number in range(10):
        journal.note(called(number))
        time.sleep(0.03)
    journal.close(5)
    assert len(said) == 1 and "No space left" in said[0]


def test_without_a_thread_nothing_is_logged_and_lines_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[str] = []

    def fails(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", fails)
    journal = Journal("s", "projected", lambda _: None, said.append)
    monkeypatch.undo()
    subject = Watch(
        lambda: Conversation("s", "repair", "extended", journal.note, lambda: 0), said.append
    )
    subject.asked(LIST)
    subject.heard(LISTED)
    assert is_repaired(subject)
    subject.close()
    journal.close(5)
    assert len(said) == 1 and "nothing is logged any more" in said[0]


def test_what_is_too_much_is_counted_and_dropped() -> None:
    lines: list[bytes] = []
    blocked = threading.Event()

    def write(data: bytes) -> None:
        blocked.wait(10)
        lines.append(data)

    journal = Journal("s", "projected", write, lambda _: None)
    journal.note(called(0))
    time.sleep(0.3)
    for number in range(6000):
        journal.note(called(number))
    journal.note(called(1, 20 * 1024 * 1024))
    blocked.set()
    journal.close(20)
    records: list[dict[str, Any]] = [json.loads(line) for line in b"".join(lines).splitlines()]
    kept = sum(record["type"] == "call" for record in records)
    lost = sum(record["calls"] for record in records if record["type"] == "lost")
    assert kept + lost == 6002 and lost >= 1001


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        ("wrap -- x", True),
        ("wrap --name y -- x --help", True),
        ("wrap --url http://x", True),
        ("wrap --url=http://x --mode observe", True),
        ("wrap", False),
        ("wrap --help", False),
        ("wrap -h -- x", False),
        ("wrap install claude-code x", False),
        ("wrap uninstall claude-code -- x", False),
        ("report -- x", False),
    ],
)
def test_only_what_wraps_is_taken_from_click(line: str, verdict: bool) -> None:
    assert is_wrapping(line.split()) is verdict
