"""Listeners that answer as told, for the clients under test."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

Behaviour = Callable[[socket.socket], None]


@contextmanager
def listening(path: Path, behaviour: Behaviour) -> Generator[None, None, None]:
    """A listener that treats every connection so, one after the other."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    listener.listen(8)

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection, suppress(OSError):
                connection.settimeout(10)
                behaviour(connection)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        # Closing alone does not wake a thread that waits in accept.
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(timeout=15)
        path.unlink()
    assert not thread.is_alive()


def replying(reply: bytes) -> Behaviour:
    """Read one frame, send these bytes, close."""

    def behaviour(connection: socket.socket) -> None:
        frame_of(connection)
        connection.sendall(reply)

    return behaviour


def silent(connection: socket.socket) -> None:
    """Take everything, say nothing."""
    while connection.recv(1 << 16):
        pass


def recording(into: list[bytes]) -> Behaviour:
    """Keep everything that comes until the client closes."""

    def behaviour(connection: socket.socket) -> None:
        data = b""
        while part := connection.recv(1 << 16):
            data += part
        into.append(data)

    return behaviour


def frame_of(connection: socket.socket) -> bytes:
    """Everything up to the first line feed."""
    data = b""
    while not data.endswith(b"\n") and (part := connection.recv(1 << 16)):
        data += part
    return data


@contextmanager
def deaf(path: Path) -> Generator[None, None, None]:
    """A listener that never accepts, and whose queue is full."""
    waiting: list[socket.socket] = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        listener.listen(0)
        try:
            while True:
                client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                client.setblocking(False)
                waiting.append(client)
                client.connect(str(path))
        except BlockingIOError:
            yield
        finally:
            for client in waiting:
                client.close()
    path.unlink()
