"""The wire between the daemon and its context worker: newline JSON frames over a socket pair.

The daemon asks `{id, method, params}` and takes back with `{id, cancel: true}`. The worker says
`{hello}` once, then for each request `{id, result | refused | failed}`, and `{beat}` every second
while it works. `{refused}` without an id is its last word: it cannot serve at all.
"""

from __future__ import annotations

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from fabricd.core.context.asking import Reason, Refused

# Of an answer: the text of the largest budget is a fifth of it.
MAX_RESULT = 8 * 1024 * 1024
MAX_TOLD = MAX_RESULT + 64 * 1024
BEAT_SECONDS = 1.0


class Asked(Struct, frozen=True, omit_defaults=True):
    """A request, or that one is not wanted any more."""

    id: int
    method: str = ""
    params: Raw = Raw(b"{}")
    cancel: bool = False


class Hello(Struct, frozen=True):
    """Who the worker is."""

    pid: int
    version: str


class Refusal(Struct, frozen=True, omit_defaults=True):
    """`Refused` as it is sent."""

    reason: Reason
    message: str
    smallest: int | None = None

    def error(self) -> Refused:
        """The exception it stands for."""
        return Refused(self.reason, self.message, self.smallest)


class Progress(Struct, frozen=True):
    """How far the indexing of a root is, in files."""

    root: str
    done: int
    total: int


class Beat(Struct, frozen=True, omit_defaults=True):
    """A sign of life: how much is going on, and what is being indexed."""

    running: int
    progress: tuple[Progress, ...] = ()


class Told(Struct, frozen=True, omit_defaults=True):
    """A frame of the worker: one of its members is there."""

    id: int | None = None
    hello: Hello | None = None
    result: Raw | UnsetType = UNSET
    refused: Refusal | None = None
    failed: str | None = None
    beat: Beat | None = None


class BadFrame(ValueError):
    """Raised by `Lines` and the decoders: the other side does not speak our language."""


class Lines:
    """Bytes in pieces, lines out of them."""

    def __init__(self, limit: int) -> None:
        """`limit` is the most bytes of a line."""
        self._limit = limit
        self._buffer = bytearray()

    def take(self, piece: bytes) -> list[bytes]:
        """The lines that a piece completes, without their line feeds.

        Raises:
            BadFrame: one is too long.
        """
        seen = len(self._buffer)
        self._buffer += piece
        found: list[bytes] = []
        start = 0
        while (end := self._buffer.find(b"\n", max(start, seen))) >= 0:
            found.append(bytes(self._buffer[start:end]))
            start = end + 1
        del self._buffer[:start]
        if len(self._buffer) > self._limit:
            raise BadFrame("a line is too long")
        return found


_ASKED = msgspec.json.Decoder(Asked)
_TOLD = msgspec.json.Decoder(Told)
_ENCODER = msgspec.json.Encoder()


def asked_of(line: bytes) -> Asked:
    """The request in a line.

    Raises:
        BadFrame: it is none.
    """
    try:
        return _ASKED.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise BadFrame("a line is no request") from None


def told_of(line: bytes) -> Told:
    """The worker's frame in a line.

    Raises:
        BadFrame: it is none.
    """
    try:
        return _TOLD.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise BadFrame("a line is no frame of a worker") from None


def frame(body: Asked | Told) -> bytes:
    """A line with its line feed."""
    return _ENCODER.encode(body) + b"\n"


def refusal_of(error: Refused) -> Refusal:
    """How an exception is sent."""
    return Refusal(error.reason, error.message, error.smallest)
