"""The client: one call over the socket with the standard library, and what a probe can say."""

from __future__ import annotations

import json
import os
import socket
import time
from typing import Any, NamedTuple, TypeAlias

from fabricd.core.nesting import RECORD_LEVELS, deeper_than
from fabricd.core.plain import is_list, is_object
from fabricd.ipc import PROTOCOL

_MAX_REPLY = 64 * 1024 * 1024


class NoDaemon(ConnectionError):
    """Raised by `call`: nobody listens at the socket."""


class NoAnswer(ConnectionError):
    """Raised by `call`: somebody listens, but no whole reply came in time."""


class CallFailed(RuntimeError):
    """Raised by `call`: the daemon answered with an error, whose data are `data`."""

    def __init__(
        self, code: int, message: str, reason: str | None, data: dict[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.data = data or {}


class Reply(NamedTuple):
    """A result, and the version and protocol of the daemon that gave it."""

    result: Any
    version: str
    protocol: int


class Ready(NamedTuple):
    """A healthy daemon of this version."""

    reply: Reply


class NeedsRestart(NamedTuple):
    """A daemon of another version or protocol."""

    reason: str
    reply: Reply


class Unreachable(NamedTuple):
    """A daemon that holds the socket and does not answer."""

    reason: str


class NotRunning(NamedTuple):
    """Nobody is there."""


Probe: TypeAlias = Ready | NeedsRestart | Unreachable | NotRunning


def call(
    path: str, method: str, params: dict[str, object] | None = None, seconds: float = 2.0
) -> Reply:
    """Call a method and wait for its reply.

    Raises:
        NoDaemon, NoAnswer, CallFailed: see there.
    """
    request: dict[str, object] = {"jsonrpc": "2.0", "id": 1, "method": method}
    if params is not None:
        request["params"] = params
    ends = time.monotonic() + seconds
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(seconds)
        try:
            connection.connect(os.fsencode(path))
        except (FileNotFoundError, ConnectionRefusedError, NotADirectoryError):
            raise NoDaemon(path) from None
        except OSError as error:
            raise NoAnswer(error.strerror or str(error)) from None
        try:
            connection.sendall(json.dumps(request).encode() + b"\n")
            frame = _read_frame(connection, ends)
        except NoAnswer:
            raise
        except OSError as error:
            raise NoAnswer(error.strerror or f"no reply within {seconds:g} s") from None
    return _reply_of(frame)


def patient_call(
    path: str,
    method: str,
    params: dict[str, object] | None = None,
    seconds: float = 30.0,
    silence: float = 2.0,
) -> Reply:
    """As `call`, for slow methods: only a daemon that tells its status at once is waited for.

    Args:
        silence: how long it may take to tell its status.

    Raises:
        NoDaemon, NoAnswer, CallFailed: see `call`.
    """
    call(path, "status", seconds=silence)
    return call(path, method, params, seconds)


def _read_frame(connection: socket.socket, ends: float) -> bytes:
    parts: list[bytes] = []
    size = 0
    while not parts or not parts[-1].endswith(b"\n"):
        # One deadline for the whole reply: a daemon that drips must not hold a client for ever.
        connection.settimeout(max(0.001, ends - time.monotonic()))
        part = connection.recv(1 << 16)
        if not part:
            raise NoAnswer("the connection was closed before the reply ended")
        parts.append(part)
        size += len(part)
        if size > _MAX_REPLY:
            raise NoAnswer("the reply is too large")
    return b"".join(parts)


def _reply_of(frame: bytes) -> Reply:
    if deeper_than(frame, RECORD_LEVELS):
        raise NoAnswer("the reply is nested too deep")
    try:
        body: Any = json.loads(frame)
        error = body.get("error")
        if error is not None:
            data: dict[str, Any] = error.get("data") or {}
            raise CallFailed(int(error["code"]), str(error["message"]), data.get("reason"), data)
        return Reply(body["result"], str(body["version"]), int(body["protocol"]))
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        raise NoAnswer("the reply is not what this version expects") from None


_STATUS: dict[str, Any] = {
    "state": str,
    "pid": int,
    "version": str,
    "protocol": int,
    "uptimeSeconds": (int, float),
    "home": str,
    "socket": str,
    "rssBytes": int,
    "degraded": [{"what": str, "why": str, "cure": str}],
    "files": {"known": int, "window": int, "bytes": int, "behind": int},
    "report": {"score": (int, float), "actionOperations": int, "invocationRejections": int},
    "artifact": {"state": str, "plans": int},
}


def _fits(value: Any, shape: Any) -> bool:
    """Whether a decoded value has the members and types of a shape; it may have more."""
    if is_object(shape):
        return is_object(value) and all(
            name in value and _fits(value[name], inner) for name, inner in shape.items()
        )
    if is_list(shape):
        return is_list(value) and all(_fits(item, shape[0]) for item in value)
    return isinstance(value, shape) and not isinstance(value, bool)


def probe(path: str, version: str, seconds: float = 2.0) -> Probe:
    """Ask who is there. Never touches the socket file."""
    try:
        reply = call(path, "status", seconds=seconds)
    except NoDaemon:
        return NotRunning()
    except (NoAnswer, CallFailed) as error:
        return Unreachable(str(error))
    if reply.protocol != PROTOCOL:
        return NeedsRestart(f"it speaks protocol {reply.protocol}, this command {PROTOCOL}", reply)
    if reply.version != version:
        return NeedsRestart(f"it is version {reply.version}, this command {version}", reply)
    if not _fits(reply.result, _STATUS):
        return Unreachable("its status is not what this version expects")
    return Ready(reply)
