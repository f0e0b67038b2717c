"""A server behind a URL: each line of the client is posted, what comes back is a line again.

Lines are posted in their order; replies come as they come. No message is made up: where the server
cannot be talked to, the run ends with a sentence.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from fabricd.ipc.gateway.events import messages, one_line
from fabricd.ipc.gateway.observing import Observer
from fabricd.ipc.gateway.pipes import Gone, open_standard, read_some, write_all

if TYPE_CHECKING:
    from fabricd.ipc.gateway.asked import Asked

_CONNECT_SECONDS = 30.0
_END_SECONDS = 10.0
_AT_ONCE = 64
_BODY = 64 * 1024 * 1024
_SESSION = "Mcp-Session-Id"
_VERSION = "MCP-Protocol-Version"


class BadUrl(ValueError):
    """Raised by `address_of`: the URL leads to no server. The message says why."""


def address_of(url: str) -> SplitResult:
    """The parts of a URL that leads to a server.

    Raises:
        BadUrl: it does not.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise BadUrl(str(error)) from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise BadUrl("it is no http or https address")
    if parts.username is not None or parts.password is not None:
        raise BadUrl("it names a user: give a header instead")
    return parts


def run(
    asked: Asked, address: SplitResult, headers: Mapping[str, str], say: Callable[[str], None]
) -> int:
    """Wrap a server behind a URL until the client ends; gives the exit code."""
    open_standard()
    return _Remote(asked, address, headers, say).run()


class _Failed(Exception):
    """The server cannot be talked to. The message says why."""


class _Remote:
    def __init__(
        self,
        asked: Asked,
        address: SplitResult,
        headers: Mapping[str, str],
        say: Callable[[str], None],
    ) -> None:
        self._address = address
        self._headers = dict(headers)
        self._say = say
        self._observer = Observer(asked, 0, say)
        self._output = threading.Lock()
        self._slots = threading.Semaphore(_AT_ONCE)
        self._waiting: set[threading.Thread] = set()
        self._version: str | None = None
        self._listens = False

    def run(self) -> int:
        """Post every line, to the end of the input."""
        gate = self._observer.gate
        held: bytes = b""
        try:
            while data := read_some(0):
                for piece in gate.take(data):
                    lines = (held + piece).split(b"\n")
                    held = lines.pop()
                    for line in lines:
                        self._post(line)
            self._post(held + gate.rest())
        except _Failed as error:
            return self._end(str(error))
        ends = time.monotonic() + _END_SECONDS
        for thread in list(self._waiting):
            thread.join(max(0.0, ends - time.monotonic()))
        self._leave_session()
        return self._end(None)

    def _end(self, sentence: str | None) -> int:
        if sentence is not None:
            self._say(sentence)
        self._observer.close(2.0)
        return 0 if sentence is None else 1

    def _post(self, line: bytes) -> None:
        body = line.strip()
        if not body:
            return
        self._slots.acquire()
        kept = {**self._common(), "Content-Type": "application/json"}
        kept["Accept"] = "application/json, text/event-stream"
        connection = self._request("POST", body, kept)
        thread = threading.Thread(target=self._answer, args=(connection, body), daemon=True)
        self._waiting.add(thread)
        thread.start()

    def _common(self) -> dict[str, str]:
        told = {} if self._version is None else {_VERSION: self._version}
        return {**told, **self._headers}

    def _request(
        self, method: str, body: bytes | None, headers: Mapping[str, str]
    ) -> http.client.HTTPConnection:
        host, port = self._address.hostname or "", self._address.port
        if self._address.scheme == "https":
            context = ssl.create_default_context()
            connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                host, port, timeout=_CONNECT_SECONDS, context=context
            )
        else:
            connection = http.client.HTTPConnection(host, port, timeout=_CONNECT_SECONDS)
        path = self._address.path or "/"
        if self._address.query:
            path += f"?{self._address.query}"
        try:
            connection.request(method, path, body, dict(headers))
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise _Failed(f"{host} cannot be reached: {error}") from None
        if connection.sock is not None:
            # A tool may take as long as it takes.
            connection.sock.settimeout(None)
        return connection

    def _answer(self, connection: http.client.HTTPConnection, body: bytes) -> None:
        try:
            with contextlib.closing(connection):
                self._read(connection.getresponse(), body)
        except Gone:
            os._exit(0)
        except (_Failed, OSError, http.client.HTTPException) as error:
            said = str(error) if isinstance(error, _Failed) else f"the server broke off: {error}"
            os._exit(self._end(said))
        finally:
            self._slots.release()
            self._waiting.discard(threading.current_thread())

    def _read(self, response: http.client.HTTPResponse, body: bytes) -> None:
        if session := response.getheader(_SESSION):
            self._headers[_SESSION] = session
        kind = (response.getheader("Content-Type") or "").partition(";")[0].strip().lower()
        if kind == "text/event-stream" and response.status == 200:
            for message in messages(response):
                self._emit(message)
            return
        data = response.read(_BODY)
        if kind == "application/json" and data.strip() and _is_message(data):
            self._emit(one_line(data))
        elif not 200 <= response.status < 300:
            raise _Failed(_refusal(response.status))
        elif b"notifications/initialized" in body:
            self._listen()

    def _emit(self, message: bytes) -> None:
        if self._version is None and b'"protocolVersion"' in message:
            self._version = _version_in(message)
        watch = self._observer.watch
        with self._output:
            watch.talking()
            write_all(1, message)
            watch.heard(message)

    def _listen(self) -> None:
        if not self._listens:
            self._listens = True
            threading.Thread(target=self._hear, daemon=True).start()

    def _hear(self) -> None:
        """What the server says by itself; one that has no such stream answers with an error."""
        headers = {**self._common(), "Accept": "text/event-stream"}
        try:
            with contextlib.closing(self._request("GET", None, headers)) as connection:
                response = connection.getresponse()
                if response.status == 200:
                    for message in messages(response):
                        self._emit(message)
        except Gone:
            os._exit(0)
        except (_Failed, OSError, http.client.HTTPException):
            return

    def _leave_session(self) -> None:
        if _SESSION in self._headers:
            with contextlib.suppress(_Failed, OSError, http.client.HTTPException):
                with contextlib.closing(self._request("DELETE", None, self._common())) as left:
                    if left.sock is not None:
                        left.sock.settimeout(1.0)
                    left.getresponse().read(1024)


def _is_message(data: bytes) -> bool:
    try:
        value: object = json.loads(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, list) or (isinstance(value, dict) and "jsonrpc" in value)


def _version_in(message: bytes) -> str | None:
    with contextlib.suppress(ValueError, RecursionError, TypeError, KeyError):
        found = json.loads(message)["result"]["protocolVersion"]
        if isinstance(found, str) and found.isascii() and found.isprintable():
            return found
    return None


def _refusal(status: int) -> str:
    if status in (401, 403):
        return (
            f"the server refuses us ({status}): servers that want OAuth cannot be wrapped; "
            "where a token is enough, give it with --header NAME=$VARIABLE"
        )
    if 300 <= status < 400:
        return f"the server has moved ({status}): give the address it moved to"
    return f"the server answers with HTTP {status} and no message"
