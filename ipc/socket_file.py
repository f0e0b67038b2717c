"""The socket as a file: own before you bind, and unlink only what is still yours."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import struct
import sys
from collections.abc import Mapping
from pathlib import Path

from fabricd.store.durable import shown

# A client that sets itself a deadline is refused at once where this many wait to be accepted.
_BACKLOG = 512
_FIRST_PASSED = 3


class NotASocket(RuntimeError):
    """Raised by `bind`: something else lies at the socket's path and is left alone."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{shown(path)} is not a socket: move it away")


class LiveSocket(RuntimeError):
    """Raised by `bind`: somebody listens at the path although we hold its lock."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"another program listens at {shown(path)}")


class WrongSocket(RuntimeError):
    """Raised by `inherited`: what the service manager passed cannot serve our clients."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"the service manager passed {what}: install the units anew with "
            "fabricd service install --socket"
        )


class BoundSocket:
    """A listening socket and the identity of its file.

    One that a service manager passed stays when the daemon ends: the manager listens on.
    """

    def __init__(self, path: Path, raw: socket.socket, passed: bool = False) -> None:
        self.path = path
        self.raw = raw
        self.passed = passed
        found = os.stat(path)
        self._identity = (found.st_dev, found.st_ino)

    def is_ours(self) -> bool:
        """Whether the path still leads to this socket."""
        try:
            found = os.lstat(self.path)
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == self._identity

    def bind_again(self) -> None:
        """Listen at the path anew, where its file is gone; `raw` is another socket then.

        The old one stays open for whoever still accepts from it.

        Raises:
            NotASocket, LiveSocket: the path is taken.
            OSError: the kernel refused.
        """
        found = bind(self.path)
        self.raw, self._identity = found.raw, found._identity

    def unlink(self) -> None:
        """Remove the file, if it is still ours to remove."""
        if not self.passed and self.is_ours():
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
        raw.bind(os.fsencode(path))
        # Not by the umask, which all threads share. Nobody can connect before it listens.
        os.chmod(path, 0o600)
        raw.listen(_BACKLOG)
        raw.setblocking(False)
        return BoundSocket(path, raw)
    except BaseException:
        raw.close()
        raise


def inherited(path: Path, env: Mapping[str, str]) -> BoundSocket | None:
    """The listening socket that a service manager passed to this process, if it did.

    Raises:
        WrongSocket: it passed something else, or its socket is not at `path`.
        OSError: the socket's file is gone.
    """
    if env.get("LISTEN_PID") != str(os.getpid()):
        return None
    count = env.get("LISTEN_FDS", "")
    if count in ("", "0"):
        return None
    if count != "1":
        raise WrongSocket(f"{count[:20]} sockets instead of one")
    raw = _listening(_FIRST_PASSED)
    try:
        os.set_inheritable(_FIRST_PASSED, False)
        raw.setblocking(False)
        _require_at(path, raw)
        return BoundSocket(path, raw, passed=True)
    except BaseException:
        raw.close()
        raise


def _listening(descriptor: int) -> socket.socket:
    try:
        raw = socket.socket(fileno=descriptor)
    except OSError:
        raise WrongSocket("something that is no socket") from None
    is_stream = (raw.family, raw.type) == (socket.AF_UNIX, socket.SOCK_STREAM)
    if is_stream and raw.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
        return raw
    raw.close()
    raise WrongSocket("a socket of another kind, or one that does not listen")


def _require_at(path: Path, raw: socket.socket) -> None:
    name = raw.getsockname()
    found = Path(os.fsdecode(name))
    # The same file by another spelling: a runtime directory may be reached through a link.
    if found.name != path.name or not _is_same(found.parent, path.parent):
        raise WrongSocket(f"a socket at {shown(found)}, where no client looks ({shown(path)})")


def _is_same(one: Path, other: Path) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


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
