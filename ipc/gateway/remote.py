"""A server behind a URL: each line of the client is posted, what comes back is a line again.

Lines are posted in their order; replies come as they come. No message is made up: where the server
cannot be talked to, or leaves a request without its reply, the run ends with a sentence.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING
from urllib.parse import SplitResult

from fabricd.ipc.gateway.observing import Observer
from fabricd.ipc.gateway.pipes import Gone, open_standard, read_some, write_all
from fabricd.ipc.gateway.posted import Message, Posted, message_of
from fabricd.ipc.gateway.reaching import CONNECT_SECONDS, BadUrl, Server, address_of
from fabricd.ipc.gateway.responses import (
    Broken,
    body_of,
    check_coding,
    is_stream,
    kind_of,
    response_of,
)
from fabricd.ipc.gateway.sentences import Failed, no_message, no_reply, other_message, refusal
from fabricd.ipc.gateway.streams import Streams
from fabricd.ipc.gateway.turns import Turns

if TYPE_CHECKING:
    from fabricd.ipc.gateway.asked import Asked

__all__ = ["BadUrl", "address_of", "run"]

_END_SECONDS = 10.0
_LOG_SECONDS = 2.0
_LINE_SECONDS = 1.0
# Where these come without the reply, they say more than the message beside them.
_TELLING = (401, 403)


def run(
    asked: Asked, address: SplitResult, headers: Mapping[str, str], say: Callable[[str], None]
) -> int:
    """Wrap a server behind a URL until the client ends; gives the exit code."""
    open_standard()
    return _Remote(asked, Server(address, headers), say).run()


class _Remote:
    def __init__(self, asked: Asked, server: Server, say: Callable[[str], None]) -> None:
        self._server = server
        self._say = say
        self._observer = Observer(asked, 0, say)
        self._turns = Turns(self._send)
        self._streams = Streams(server, self._emit)
        self._output = threading.Lock()
        self._ending = threading.Lock()
        self._listens = False

    def run(self) -> int:
        """Post every line, to the end of the input."""
        self._start(self._turns.post_held)
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
        except Failed as error:
            return self._end(str(error))
        self._turns.wait(_END_SECONDS)
        self._leave_session()
        return self._end(None)

    def _end(self, sentence: str | None) -> int:
        # Held to the end: one sentence is enough.
        self._ending.acquire()
        if sentence is not None:
            self._say(sentence)
        self._observer.close(_LOG_SECONDS)
        return 0 if sentence is None else 1

    def _start(self, work: Callable[[], None]) -> None:
        threading.Thread(target=self._guarded, args=(work,), daemon=True).start()

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Gone:
            os._exit(0)
        except Exception as error:
            said = str(error) if isinstance(error, Failed) else f"{type(error).__name__}: {error}"
            code = self._end(said)
            # A line that is being written is written whole, if anybody reads it.
            self._output.acquire(timeout=_LINE_SECONDS)
            os._exit(code)

    def _post(self, line: bytes) -> None:
        posted = Posted(line)
        if posted.body:
            self._turns.post(posted)

    def _send(self, line: Posted) -> None:
        try:
            connection = self._server.post(line.body)
        except Broken as error:
            raise Failed(str(error)) from None
        self._start(lambda: self._answer(connection, line))
        if not line.asks:
            # The next line may rest on what this one changes.
            line.begun.wait(CONNECT_SECONDS)

    def _answer(self, connection: http.client.HTTPConnection, line: Posted) -> None:
        with contextlib.closing(connection):
            try:
                self._read(response_of(connection), line)
            except Broken as error:
                if not line.is_over:
                    said = f"the server broke off: {error}"
                    raise Failed(no_reply(line, said) if line.asks else said) from None
            except Failed:
                # Nobody waits for what was cancelled.
                if not line.is_over:
                    raise
            finally:
                line.begun.set()
        self._turns.ended(line)

    def _read(self, response: http.client.HTTPResponse, line: Posted) -> None:
        self._server.note_session(response)
        line.begun.set()
        if line.initialized and 200 <= response.status < 300 and not self._listens:
            self._listens = True
            self._start(self._listen)
        if is_stream(response):
            self._streams.finish(response, line)
        else:
            self._take(response, line)

    def _take(self, response: http.client.HTTPResponse, line: Posted) -> None:
        status = response.status
        is_good = 200 <= status < 300
        if is_good and line.asks:
            check_coding(response)
        data, broke = body_of(response)
        message = message_of(data) if data.strip() else None
        if message is not None:
            self._emit(message)
            if message.answers is None:
                line.settle(list(line.waiting))
            if not line.waiting:
                return
        has_session = self._server.has_session
        if status in _TELLING or not (is_good or message is not None):
            raise Failed(refusal(status, has_session))
        if message is not None:
            raise Failed(no_reply(line, other_message(status, has_session)))
        if line.waiting:
            raise Failed(no_reply(line, no_message(status, kind_of(response), data, broke)))

    def _emit(self, message: Message) -> None:
        if self._server.version is None:
            self._server.version = message.version
        watch = self._observer.watch
        with self._output:
            watch.talking()
            write_all(1, message.line)
            watch.heard(message.line)
        self._turns.settle(message.answers or ())

    def _listen(self) -> None:
        try:
            self._streams.listen()
        except Failed as error:
            self._say(f"what the server says by itself is not read any more: {error}")

    def _leave_session(self) -> None:
        if self._server.has_session:
            with contextlib.suppress(Broken, OSError, http.client.HTTPException):
                with contextlib.closing(self._server.leave()) as left:
                    if left.sock is not None:
                        left.sock.settimeout(1.0)
                    left.getresponse().read(1024)
