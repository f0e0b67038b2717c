"""What an MCP server declares: a short talk with it over pipes, bounded in time and bytes."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

from fabricd.core.documents import BadDocument, strict_json
from fabricd.core.nesting import RECORD_LEVELS
from fabricd.core.plain import is_list, is_number, is_object

MAX_MESSAGE = 32 * 1024 * 1024
MAX_OUTPUT = 2 * MAX_MESSAGE
MAX_PAGES = 1000
MAX_GARBAGE = 100
_CURSOR = 64 * 1024
_UNREAD = 1024 * 1024
_STDERR_LINES = 20
_LINE = 400
_GRACE = 0.5
PROTOCOL = "2025-06-18"


class CaptureFailed(Exception):
    """Raised by `capture`: the server did not list its tools. `stderr` is the end of its talk."""

    def __init__(self, message: str, stderr: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.stderr = tuple(stderr)


class NoSuchCommand(Exception):
    """Raised by `capture`: the command cannot be started."""


@dataclass(frozen=True)
class Captured:
    """The tools of all pages, as the server wrote them, and how it calls itself."""

    tools: list[Any]
    server: str


def capture(command: Sequence[str], version: str, seconds: float) -> Captured:
    """Start a server, ask for its tools, and end it.

    Raises:
        NoSuchCommand: it cannot be started.
        CaptureFailed: it died, was too slow, answered with an error, or with what is no answer.
    """
    try:
        process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise NoSuchCommand(f"{command[0]} cannot be started: {reason}") from None
    talk = _Talk(process, time.monotonic() + seconds, seconds)
    try:
        return _ask(talk, version)
    except CaptureFailed as error:
        raise CaptureFailed(str(error), talk.stderr()) from None
    finally:
        talk.end()


def _ask(talk: _Talk, version: str) -> Captured:
    told = talk.request(
        "initialize",
        {
            "protocolVersion": PROTOCOL,
            "capabilities": {},
            "clientInfo": {"name": "fabricd", "version": version},
        },
    )
    info = told.get("serverInfo")
    name = info.get("name") if is_object(info) else None
    talk.notify("notifications/initialized")
    tools: list[Any] = []
    seen: set[str] = set()
    params: dict[str, Any] = {}
    for _ in range(MAX_PAGES):
        page = talk.request("tools/list", params)
        found = page.get("tools")
        if not is_list(found):
            raise CaptureFailed("the server's list of tools is no list")
        tools += found
        cursor = page.get("nextCursor")
        if cursor is None or cursor == "":
            return Captured(tools, name if isinstance(name, str) else "")
        if not isinstance(cursor, str) or len(cursor) > _CURSOR or cursor in seen:
            raise CaptureFailed("the server's pages do not end: it gave a cursor twice, or none")
        seen.add(cursor)
        params = {"cursor": cursor}
    raise CaptureFailed(f"the server has more than {MAX_PAGES:,} pages of tools")


class _Talk:
    """JSON-RPC over the pipes of a process. One loop over all of them, so that nobody waits."""

    def __init__(self, process: subprocess.Popen[bytes], deadline: float, seconds: float) -> None:
        self._process = process
        self._deadline = deadline
        self._seconds = seconds
        self._to_send = b""
        self._received = bytearray()
        self._output = 0
        self._stderr: deque[bytes] = deque(maxlen=_STDERR_LINES)
        self._stderr_open = b""
        self._garbage = 0
        self._next = 0
        self._is_open = True
        self._selector = selectors.DefaultSelector()
        for pipe, what in ((process.stdout, "out"), (process.stderr, "err")):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
                self._selector.register(pipe, selectors.EVENT_READ, what)
        self._stdin: IO[bytes] | None = process.stdin
        if process.stdin is not None:
            os.set_blocking(process.stdin.fileno(), False)

    def request(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request and wait for its answer; others' requests are answered meanwhile."""
        self._next += 1
        number = self._next
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params)})
        while True:
            message = self._receive()
            if "method" in message:
                self._answer(message)
            elif is_number(message.get("id"), number):
                return _result(method, message)

    def notify(self, method: str) -> None:
        """Send a notification."""
        self._send({"jsonrpc": "2.0", "method": method})

    def stderr(self) -> list[str]:
        """The last lines that the server said on standard error."""
        self._drain()
        lines = [*self._stderr, self._stderr_open] if self._stderr_open else list(self._stderr)
        return [line[:_LINE].decode("utf-8", "replace") for line in lines][-_STDERR_LINES:]

    def _drain(self) -> None:
        # A server that has just died may have said why. Its output may be endless: left alone.
        for key in list(self._selector.get_map().values()):
            if key.data != "err":
                self._selector.unregister(key.fileobj)
        ends = time.monotonic() + _GRACE
        while self._selector.get_map() and time.monotonic() < ends:
            if not self._turn(0.05):
                return

    def _answer(self, message: Mapping[str, Any]) -> None:
        if "id" not in message:
            return
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] == "ping":
            reply["result"] = {}
        else:
            reply["error"] = {"code": -32601, "message": "fabricd only lists tools"}
        self._send(reply)

    def _send(self, message: Mapping[str, Any]) -> None:
        if len(self._to_send) > _UNREAD:
            raise CaptureFailed("the server asks on and on, and does not read the answers")
        self._to_send += json.dumps(message).encode() + b"\n"
        if self._stdin is not None:
            with contextlib.suppress(KeyError):
                self._selector.unregister(self._stdin)
            self._selector.register(self._stdin, selectors.EVENT_WRITE, "in")

    def _receive(self) -> dict[str, Any]:
        while True:
            while (end := self._received.find(b"\n")) < 0:
                self._wait()
            line = bytes(self._received[:end])
            del self._received[: end + 1]
            if (message := self._message(line)) is not None:
                return message

    def _message(self, line: bytes) -> dict[str, Any] | None:
        if not line.strip():
            return None
        try:
            value: object = strict_json(line, RECORD_LEVELS)
        except BadDocument as error:
            value = _leniently(line)
            # An answer is kept, and must be read again. Of the rest the method and the id are used.
            if is_object(value) and "method" not in value:
                raise CaptureFailed(f"the server's answer cannot be used: {error}") from None
        if is_object(value):
            return value
        self._garbage += 1
        if self._garbage > MAX_GARBAGE:
            raise CaptureFailed("the server writes something else than messages on its output")
        return None

    def _wait(self) -> None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise CaptureFailed(f"the server did not answer within {self._seconds:g} s")
        if len(self._received) > MAX_MESSAGE:
            raise CaptureFailed(f"a message of the server is larger than {MAX_MESSAGE >> 20} MiB")
        if self._output > MAX_OUTPUT:
            raise CaptureFailed(f"the server wrote more than {MAX_OUTPUT >> 20} MiB")
        self._turn(left)
        if not self._is_open and b"\n" not in self._received:
            raise CaptureFailed("the server ended before it had listed its tools")

    def _turn(self, seconds: float) -> bool:
        """Let what is ready happen once; gives whether anything was."""
        ready = self._selector.select(seconds)
        for key, _ in ready:
            match key.data:
                case "in":
                    self._write(key.fd)
                case "out":
                    data = self._read(key)
                    self._received += data
                    self._output += len(data)
                    self._is_open = bool(data) or key.fd in self._selector.get_map()
                case _:
                    self._hear(self._read(key))
        return bool(ready)

    def _read(self, key: selectors.SelectorKey) -> bytes:
        try:
            data = os.read(key.fd, 1 << 16)
        except BlockingIOError:
            return b""
        except OSError:
            data = b""
        if not data:
            self._selector.unregister(key.fileobj)
        return data

    def _hear(self, data: bytes) -> None:
        lines = (self._stderr_open + data).split(b"\n")
        # The start of a line is all that is ever shown of it.
        self._stderr_open = lines.pop()[:_LINE]
        self._stderr.extend(line[:_LINE] for line in lines)

    def _write(self, descriptor: int) -> None:
        try:
            sent = os.write(descriptor, self._to_send[: 1 << 16])
        except BlockingIOError:
            return
        except OSError:
            # It closed its input: its output, or its end, says the rest.
            sent = len(self._to_send)
        self._to_send = self._to_send[sent:]
        if not self._to_send and self._stdin is not None:
            self._selector.unregister(self._stdin)

    def end(self) -> None:
        """Close the pipes, and end the process and all it started, whatever it does."""
        try:
            self._close()
            self._wait_for_end()
        finally:
            # Also what it left behind in its session, and whatever interrupts the waiting.
            self._signal(signal.SIGKILL)
            self._process.wait()

    def _close(self) -> None:
        self._selector.close()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _wait_for_end(self) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE)
            return
        self._signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE)

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


def _leniently(line: bytes) -> object:
    """What a decoder makes of a line that takes any number and any text; None if nothing."""
    try:
        value: object = json.loads(line.decode("utf-8", "replace"), parse_int=float)
    except (ValueError, RecursionError):
        return None
    return value


def _result(method: str, message: Mapping[str, Any]) -> dict[str, Any]:
    result = message.get("result")
    if is_object(result):
        return result
    error = message.get("error")
    if is_object(error):
        raise CaptureFailed(f"the server refused {method}: {str(error.get('message'))[:_LINE]}")
    raise CaptureFailed(f"the server's answer to {method} is no result")
