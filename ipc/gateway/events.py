"""Messages in the body of an HTTP response: one JSON text, or a stream of events."""

from __future__ import annotations

from collections.abc import Iterator

# What is taken at once from a URL: a whole body, or one event of a stream.
LIMIT = 64 * 1024 * 1024
BOM = b"\xef\xbb\xbf"
_DIGITS = 9


class TooLong(Exception):
    """Raised by `Events.take`: an event is larger than `LIMIT`."""


def one_line(message: bytes) -> bytes:
    """A message as a line. Line breaks in JSON stand between tokens, and mean nothing."""
    return message.strip().replace(b"\r", b" ").replace(b"\n", b" ") + b"\n"


class Events:
    """Reads a stream of events, and the streams that go on where it ended.

    Attributes:
        last: the id of the last event that had one; empty where there is none to go on from.
        retry: seconds the server wants us to wait before we come back; None where it said nothing.
        count: of the events that there were, blank ones included.
    """

    def __init__(self) -> None:
        self.last = b""
        self.retry: float | None = None
        self.count = 0
        self.begin()

    def begin(self) -> None:
        """A new stream: what the one before left unfinished is gone."""
        self._is_first = True
        self._after_return = False
        self._part: list[bytes] = []
        self._data: list[bytes] = []
        self._kind = b""
        self._id = self.last
        self._size = 0

    def take(self, piece: bytes) -> Iterator[bytes]:
        """Take the next bytes; gives the data of each message that they end, as a line.

        Events of another kind and blank data are passed over.

        Raises:
            TooLong: one is larger than what is taken.
        """
        if not piece:
            return
        if self._after_return:
            # The second half of a line end.
            piece = piece.removeprefix(b"\n")
        self._after_return = piece.endswith(b"\r")
        lines = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        for line in lines[:-1]:
            self._grow(line)
            whole, self._part = b"".join(self._part), []
            if self._is_first:
                self._is_first, whole = False, whole.removeprefix(BOM)
            if whole:
                self._field(whole)
            elif (data := self._event()) is not None:
                yield data
        self._grow(lines[-1])

    def _grow(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > LIMIT:
            raise TooLong
        if part:
            self._part.append(part)

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
            return
        self._size -= len(line)
        match name:
            case b"event":
                self._kind = value
            case b"id" if b"\0" not in value:
                self._id = value
            case b"retry" if value.isdigit() and len(value) <= _DIGITS:
                self.retry = int(value) / 1000
            case _:
                pass

    def _event(self) -> bytes | None:
        data, kind = b"\n".join(self._data), self._kind
        self.last = self._id
        self.count += bool(self._data)
        self._data, self._kind, self._size = [], b"", 0
        return one_line(data) if kind in (b"", b"message") and data.strip() else None
