"""What an HTTP response holds, read as it comes."""

from __future__ import annotations

import http.client
from collections.abc import Iterator

from fabricd.ipc.gateway.events import LIMIT
from fabricd.ipc.gateway.sentences import TOO_LONG, Failed, compressed

STREAM = "text/event-stream"
_CHUNK = 1 << 16


class Broken(Exception):
    """A connection was not made, or ended before its time. The message says how."""


def response_of(connection: http.client.HTTPConnection) -> http.client.HTTPResponse:
    """What the server answers.

    Raises:
        Broken: it does not.
    """
    try:
        return connection.getresponse()
    except (OSError, http.client.HTTPException) as error:
        raise Broken(str(error) or type(error).__name__) from None


def kind_of(response: http.client.HTTPResponse) -> str:
    """The media type of a response, empty where it names none."""
    return (response.getheader("Content-Type") or "").partition(";")[0].strip().lower()


def is_stream(response: http.client.HTTPResponse) -> bool:
    """Whether a response is a stream of events."""
    return response.status == 200 and kind_of(response) == STREAM


def check_coding(response: http.client.HTTPResponse) -> None:
    """See that a body comes as it is: we accept no coding.

    Raises:
        Failed: it does not.
    """
    coding = (response.getheader("Content-Encoding") or "identity").strip().lower()
    if coding != "identity":
        raise Failed(compressed(coding))


def pieces(response: http.client.HTTPResponse) -> Iterator[bytes]:
    """The bytes of a body, as they come.

    Raises:
        Broken: it ends before its time.
    """
    # Not every Python counts this down.
    left = response.length
    try:
        while left is None or left > 0:
            piece = response.read1(_CHUNK if left is None else min(left, _CHUNK))
            if not piece:
                break
            left = left and left - len(piece)
            yield piece
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise Broken(str(error) or type(error).__name__) from None
    if left:
        raise Broken(f"{left} bytes are missing")


def body_of(response: http.client.HTTPResponse) -> tuple[bytes, str | None]:
    """A whole body, as far as it came, and how it broke off, if it did.

    Raises:
        Failed: it is longer than what is taken.
    """
    found: list[bytes] = []
    size = 0
    try:
        for piece in pieces(response):
            found.append(piece)
            size += len(piece)
            if size > LIMIT:
                raise Failed(TOO_LONG)
    except Broken as error:
        return b"".join(found), str(error)
    return b"".join(found), None
