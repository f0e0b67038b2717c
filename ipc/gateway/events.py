"""Messages in the body of an HTTP response: one JSON text, or a stream of events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def one_line(message: bytes) -> bytes:
    """A message as a line. Line breaks in JSON stand between tokens, and mean nothing."""
    return message.strip().replace(b"\r", b" ").replace(b"\n", b" ") + b"\n"


def messages(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The messages of a stream of events, each as a line; other events are passed over.

    Args:
        lines: of the stream, with their ends.
    """
    data: list[bytes] = []
    kind = b"message"
    for raw in lines:
        line = raw.rstrip(b"\r\n")
        if not line:
            if data and kind == b"message":
                yield one_line(b"\n".join(data))
            data, kind = [], b"message"
            continue
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            data.append(value)
        elif name == b"event":
            kind = value
