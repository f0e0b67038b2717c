"""Streams of a server, and how they are gone on with where they end."""

from __future__ import annotations

import contextlib
import http.client
import time
from collections.abc import Callable

from fabricd.ipc.gateway.events import Events, TooLong
from fabricd.ipc.gateway.posted import Message, Posted, message_of
from fabricd.ipc.gateway.reaching import Server
from fabricd.ipc.gateway.responses import Broken, check_coding, is_stream, pieces, response_of
from fabricd.ipc.gateway.sentences import TOO_LONG, Failed, ended_early, no_reply, not_resumed

_PAUSE_SECONDS = 1.0
_SHORTEST_SECONDS = 0.1
_LONGEST_SECONDS = 60.0
# A stream that lasted so long was not in vain, whether it said something or not.
_LASTED_SECONDS = 10.0
_TRIES = 5


class Streams:
    """Reads streams, to the reply or for ever."""

    def __init__(self, server: Server, emit: Callable[[Message], None]) -> None:
        """Nothing is read yet.

        Args:
            emit: takes each message.
        """
        self._server = server
        self._emit = emit

    def finish(self, response: http.client.HTTPResponse, line: Posted) -> None:
        """Read what answers a line, and the streams that go on with it.

        Raises:
            Failed: a request in it gets no reply.
        """
        events = Events()
        broke = self._read(response, events, line)
        failures = 0
        while line.waiting:
            if not events.last or failures == _TRIES:
                raise Failed(no_reply(line, ended_early(broke, failures)))
            time.sleep(_pause(events, failures))
            if not line.waiting:
                return
            count = events.count
            broke = self._resume(events, line)
            failures = failures + 1 if events.count == count else 0

    def listen(self) -> None:
        """Read what the server says by itself; comes back where it has no such stream.

        Raises:
            Failed: it cannot be read.
        """
        events = Events()
        failures, has_opened = 0, False
        while True:
            count, began = events.count, time.monotonic()
            with contextlib.suppress(Broken):
                with contextlib.closing(self._server.listen(events.last)) as connection:
                    response = response_of(connection)
                    if is_stream(response):
                        has_opened = True
                        self._read(response, events, None)
                    elif not (has_opened and _may_pass(response.status)):
                        return
            was_in_vain = events.count == count and time.monotonic() - began < _LASTED_SECONDS
            failures = failures + 1 if was_in_vain else 0
            time.sleep(_pause(events, failures))

    def _resume(self, events: Events, line: Posted) -> str | None:
        try:
            with contextlib.closing(self._server.listen(events.last)) as connection:
                response = response_of(connection)
                if is_stream(response):
                    return self._read(response, events, line)
                if _may_pass(response.status):
                    return f"HTTP {response.status}"
                raise Failed(no_reply(line, not_resumed(response.status)))
        except Broken as error:
            return str(error)

    def _read(
        self, response: http.client.HTTPResponse, events: Events, line: Posted | None
    ) -> str | None:
        """Read one stream, to its end or the last reply; gives how it broke off, if it did."""
        check_coding(response)
        events.begin()
        try:
            for piece in pieces(response):
                for data in events.take(piece):
                    if (message := message_of(data)) is not None:
                        self._emit(message)
                        if line is not None and message.answers is None:
                            line.settle(list(line.waiting))
                    if line is not None and line.is_over:
                        return None
        except Broken as error:
            return str(error)
        except TooLong:
            raise Failed(TOO_LONG) from None
        return None


def _pause(events: Events, failures: int) -> float:
    first = _PAUSE_SECONDS if events.retry is None else max(events.retry, _SHORTEST_SECONDS)
    return min(first * 2.0 ** min(failures, 16), _LONGEST_SECONDS)


def _may_pass(status: int) -> bool:
    return status == 429 or (status >= 500 and status != 501)
