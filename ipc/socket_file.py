"""The socket as a file: own before you bind, and unlink only what is still yours."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import struct
import sys
from pathlib import Path

from fabricd.store.durable import shown

_BACKLOG = 64


class NotASocket(RuntimeError):
    """Raised by `bind`: something else lies at the socket's path and is left alone."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{shown(path)} is not a socket: move it away")


class LiveSocket(RuntimeError):
    """Raised by `bind`: somebody listens at the path although we hold its lock."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"another program listens at {shown(path)}")


class BoundSocket:
    """A listening socket and the identity of its file."""

    def __init__(self, path: Path, raw: socket.socket) -> None:
        self.path = path
        self.raw = raw
        found = os.stat(path)
        self._identity = (found.st_dev, found.st_ino)

    def is_ours(self) -> bool:
        """Whether the path still leads to this socket."""
        try:
            found = os.lstat(self.path)
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == self._identity

    def unlink(self) -> None:
        """Remove the file, if it is still ours."""
        if self.is_ours():
            with contextlib.suppress(OSError):
                os.unlink(self.path)


def is_stale(path: Path) -> bool:
    """Whether a socket file has nobody behind it: only a refused connection proves that."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(os.fsencode(path))
        except ConnectionRefusedError:
            return True
        except FileNotFoundError:
            return False
        except OSError:
            return False
    return False


def bind(path: Path) -> BoundSocket:
    """Bind and listen, mode 0600. The caller holds the lock of this path.

    Raises:
        NotASocket, LiveSocket: the path is taken.
        OSError: the kernel refused.
    """
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        pass
    else:
        if not stat.S_ISSOCK(found.st_mode):
            raise NotASocket(path)
        if not is_stale(path):
            raise LiveSocket(path)
        os.unlink(path)
    raw = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        before = os.umask(0o177)
        try:
            raw.bind(os.fsencode(path))
        finally:
            os.umask(before)
        raw.listen(_BACKLOG)
        raw.setblocking(False)
        return BoundSocket(path, raw)
    except BaseException:
        raw.close()
        raise


def peer_uid(connection: socket.socket) -> int | None:
    """The user at the other end, or None where the system does not tell."""
    try:
        if sys.platform == "linux":
            size = struct.calcsize("3i")
            data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
            _, uid, _ = struct.unpack("3i", data)
            return int(uid)
        # LOCAL_PEERCRED of level SOL_LOCAL: struct xucred starts with version and uid.
        data = connection.getsockopt(0, 1, 76)
        return int(struct.unpack("II", data[:8])[1])
    except (OSError, struct.error):
        return None
