"""Reading and writing pipes: whole writes, short reads, whatever mode a pipe was given to us in."""

from __future__ import annotations

import contextlib
import os
import select

CHUNK = 1 << 16


class Gone(Exception):
    """Raised by `write_all`: whoever read this pipe has closed it."""


def read_some(descriptor: int) -> bytes:
    """The next bytes; nothing at the end, or where the pipe cannot be read any more."""
    while True:
        try:
            return os.read(descriptor, CHUNK)
        except BlockingIOError:
            _wait(descriptor, select.POLLIN)
        except OSError:
            return b""


def write_all(descriptor: int, data: bytes) -> None:
    """Write all bytes.

    Raises:
        Gone: nobody reads them.
    """
    try:
        sent = _write(descriptor, data)
        if sent == len(data):
            return
        rest = memoryview(data)[sent:]
        while rest:
            rest = rest[_write(descriptor, rest[: 1 << 20]) :]
    except OSError:
        raise Gone from None


def _write(descriptor: int, data: bytes | memoryview) -> int:
    while True:
        try:
            return os.write(descriptor, data)
        except BlockingIOError:
            _wait(descriptor, select.POLLOUT)


def _wait(descriptor: int, events: int) -> None:
    poll = select.poll()
    poll.register(descriptor, events)
    poll.poll()


def open_standard() -> None:
    """Take the numbers of standard descriptors that were closed: else a file would get them."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def close(descriptor: int) -> None:
    """Close, whatever that says."""
    with contextlib.suppress(OSError):
        os.close(descriptor)
