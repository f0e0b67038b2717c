"""Becoming the daemon: own before you bind, and say in one sentence why not."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from fabricd.core.plain import is_object, printable
from fabricd.daemon.exits import BAD_CONFIG, FAILED, OK, STALE, CannotStart
from fabricd.ipc.client import NeedsRestart, NotRunning, Probe, Ready, Unreachable, probe
from fabricd.ipc.socket_file import (
    BoundSocket,
    LiveSocket,
    NotASocket,
    WrongSocket,
    bind,
    inherited,
)
from fabricd.store.addresses import SocketPathTooLong, socket_path
from fabricd.store.durable import shown
from fabricd.store.homes import (
    BadHome,
    Homes,
    find,
    is_same_home,
    require_closed,
    require_private,
)
from fabricd.store.locks import AlreadyHeld, Ownership, hold, holder

_PROBE_SECONDS = 2.0


@dataclass(frozen=True)
class Claim:
    """Everything a daemon owns: its homes, its bound socket, and the locks behind both."""

    homes: Homes
    bound: BoundSocket
    held: ExitStack


def claim(env: Mapping[str, str], version: str) -> Claim:
    """Take the locks of home and socket, then bind, or take over what a service manager bound.

    Raises:
        CannotStart: another daemon is in the way, or a place cannot serve.
    """
    # A healthy daemon needs nothing of us, whatever became of its places since.
    _require_no_other(*places(env), version)
    homes, socket = prepared(env)
    with ExitStack() as stack:
        stack.callback(_hold_home(homes.lock, socket, version).close)
        stack.callback(_hold_socket(socket, homes.home, version).close)
        return Claim(homes, _listen(socket, env), stack.pop_all())
    raise AssertionError("unreachable")


def places(env: Mapping[str, str]) -> tuple[Homes, Path]:
    """The homes and the path of the socket. Touches nothing.

    Raises:
        CannotStart: no path can serve as the socket's.
    """
    try:
        return find(env), Path(socket_path(env))
    except SocketPathTooLong as error:
        raise CannotStart(str(error), BAD_CONFIG) from None


def prepared(env: Mapping[str, str]) -> tuple[Homes, Path]:
    """The homes, their directories made, and the path of the socket.

    Raises:
        CannotStart: one of them cannot serve.
    """
    homes, socket = places(env)
    try:
        require_private(homes.home, "the home")
        require_private(homes.state, "the state directory")
        require_closed(socket.parent, "the socket's directory")
    except BadHome as error:
        raise CannotStart(str(error), BAD_CONFIG) from None
    except FileExistsError as error:
        where = shown(error.filename or homes.home)
        raise CannotStart(f"{where} is a file, expected a directory", BAD_CONFIG) from None
    except NotADirectoryError as error:
        where = shown(error.filename or homes.home)
        raise CannotStart(f"{where} lies below a file, not a directory", BAD_CONFIG) from None
    except FileNotFoundError as error:
        where = shown(error.filename or homes.home)
        raise CannotStart(
            f"{where} cannot be made, no directory can be made there: choose another place", FAILED
        ) from None
    except OSError as error:
        where = shown(error.filename or homes.home)
        raise CannotStart(
            f"{where} cannot be made or entered: {error.strerror}{cure_of(error)}", FAILED
        ) from None
    return homes, socket


def _require_no_other(homes: Homes, socket: Path, version: str) -> None:
    held = holder(homes.lock)
    if held is None:
        return
    listening = os.fsdecode(held.told) if held.told else os.fspath(socket)
    found = probe(listening, version, _PROBE_SECONDS)
    if isinstance(found, Ready) and is_same_home(found.reply.result["home"], homes.home):
        raise in_the_way(found, version)


def _listen(socket: Path, env: Mapping[str, str]) -> BoundSocket:
    try:
        return inherited(socket, env) or bind(socket)
    except (NotASocket, LiveSocket) as error:
        raise CannotStart(str(error), FAILED) from None
    except WrongSocket as error:
        raise CannotStart(str(error), BAD_CONFIG) from None
    except OSError as error:
        raise CannotStart(f"{_where(error)}: {error.strerror}", FAILED) from None


def _where(error: OSError) -> str:
    return shown(error.filename) if error.filename else "the socket"


def cure_of(error: OSError) -> str:
    """What to do about a place that cannot be written, to be said behind the error."""
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            return ": free space there"
        case errno.EROFS | errno.EACCES | errno.EPERM:
            return ": make it writable, or set FABRICD_HOME to another place"
        case errno.ELOOP:
            return ": remove the links that lead in a circle, or set FABRICD_HOME to another place"
        case _:
            return ""


def _hold(lock: Path, socket: Path) -> Ownership:
    try:
        return hold(lock, os.fsencode(socket))
    except OSError as error:
        where = shown(error.filename or lock)
        raise CannotStart(f"the lock {where}: {error.strerror}{cure_of(error)}", FAILED) from None


def _hold_home(lock: Path, socket: Path, version: str) -> Ownership:
    try:
        return _hold(lock, socket)
    except AlreadyHeld as held:
        listening = Path(os.fsdecode(held.told)) if held.told else socket
        raise in_the_way(_patient_probe(listening, version), version) from None


def _hold_socket(socket: Path, home: Path, version: str) -> Ownership:
    lock = socket.with_name(socket.name + ".lock")
    try:
        return _hold(lock, socket)
    except AlreadyHeld:
        raise _not_ours(_patient_probe(socket, version), socket, lock, home, version) from None


def _not_ours(found: Probe, socket: Path, lock: Path, home: Path, version: str) -> CannotStart:
    """What to say where somebody holds the socket although nobody held the home."""
    match found:
        case Ready(reply=reply) | NeedsRestart(reply=reply):
            told = reply.result.get("home") if is_object(reply.result) else None
            if is_same_home(told, home):
                # The lock of the home was removed under it; it takes that again by itself.
                return in_the_way(found, version)
            whose = f" ({printable(told)})" if isinstance(told, str) else ""
            return CannotStart(
                f"the daemon of another home{whose} listens at {shown(socket)}: end it with "
                "FABRICD_HOME=THAT_HOME fabricd stop, or set FABRICD_SOCKET to another path for "
                "one of them",
                FAILED,
            )
        case Unreachable() | NotRunning():
            held = holder(lock)
            who = "a process" if held is None or held.pid is None else f"pid {held.pid}"
            return CannotStart(
                f"{who} holds {shown(lock)} and does not answer, for this home or another: end it, "
                "or set FABRICD_SOCKET to another path",
                STALE,
            )


def in_the_way(found: Probe, version: str) -> CannotStart:
    """What to say where another daemon holds the home, by what it answered."""
    match found:
        case Ready(reply=reply):
            return CannotStart(
                f"fabricd {version} already runs here (pid {reply.result['pid']}, "
                f"socket {reply.result['socket']})",
                OK,
            )
        case NeedsRestart(reason=reason):
            return CannotStart(
                f"another fabricd holds this home: {reason}; replace it with: fabricd restart",
                STALE,
            )
        case Unreachable(reason=reason):
            return CannotStart(
                f"another fabricd holds this home and does not answer: {reason}; "
                "replace it with: fabricd restart --force, or end it with: fabricd stop --force",
                STALE,
            )
        case NotRunning():
            return CannotStart(
                "another fabricd holds this home and has no socket yet: it is starting", STALE
            )


def _patient_probe(socket: Path, version: str) -> Probe:
    """Ask who listens where somebody holds the lock: without a socket yet, wait for it."""
    ends = time.monotonic() + _PROBE_SECONDS
    while True:
        left = ends - time.monotonic()
        found = probe(os.fspath(socket), version, max(0.1, left))
        if not isinstance(found, NotRunning) or left <= 0:
            return found
        time.sleep(0.05)
