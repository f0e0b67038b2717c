"""Documents at an address: a bounded read through fsspec, which comes with the extra `remote`."""

from __future__ import annotations

import importlib
import re
from queue import Empty, SimpleQueue
from threading import Thread
from types import ModuleType
from typing import IO

EXTRA = "fabricd[remote]"

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.:-]*://")
_QUOTED = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")
_USER = re.compile(r"(?<=://)[^/]*@")
_WEB = ("http://", "https://")
_CHUNK = 1 << 20


class CannotFetch(RuntimeError):
    """Raised by `fetch`. The message says why, without the address."""


class NoRemote(RuntimeError):
    """Raised by `fetch`: what reads addresses is not installed."""

    def __init__(self) -> None:
        super().__init__(f"reading an address needs fsspec: pip install '{EXTRA}'")


def is_address(name: str) -> bool:
    """Whether a name is an address rather than a path."""
    return _ADDRESS.match(name) is not None


def address_shown(address: str) -> str:
    """An address for people: without user, password and query, which may be secrets."""
    return re.split("[?#]", _USER.sub("", address), maxsplit=1)[0]


def fetch(address: str, limit: int, seconds: float) -> bytes:
    """The bytes at an address, at most `limit` of them, within so many seconds.

    Raises:
        NoRemote: fsspec is not installed.
        CannotFetch: they cannot be had.
    """
    # One protocol wrapped in another could cache to disk, or open a local file named from afar.
    if "::" in address:
        raise CannotFetch("addresses with :: are not read")
    try:
        core = importlib.import_module("fsspec.core")
    except ImportError:
        raise NoRemote from None
    answers: SimpleQueue[bytes | str] = SimpleQueue()

    def read() -> None:
        try:
            answers.put(_read(core, address, limit))
        except Exception as error:
            # A border: each protocol has its own library and errors of its own.
            answers.put(_words(error))

    # A thread, because few protocols keep a deadline; a daemon, because the process may not wait.
    Thread(target=read, daemon=True).start()
    try:
        found = answers.get(timeout=seconds)
    except Empty:
        raise CannotFetch(f"it did not arrive within {seconds:g} s") from None
    if isinstance(found, str):
        raise CannotFetch(found)
    return found


def _read(core: ModuleType, address: str, limit: int) -> bytes:
    files, path = core.url_to_fs(address)
    # As a stream: what is read in blocks is taken from the server whole, whatever its size.
    streamed = {"block_size": 0} if address.lower().startswith(_WEB) else {}
    parts: list[bytes] = []
    left = limit + 1
    file: IO[bytes]
    with files.open(path, "rb", **streamed) as file:
        while left and (part := file.read(min(left, _CHUNK))):
            parts.append(part)
            left -= len(part)
    if not left:
        raise CannotFetch(f"it is larger than {limit // (1024 * 1024)} MiB")
    return b"".join(parts)


def _words(error: BaseException) -> str:
    status = getattr(error, "status", None)
    if isinstance(status, int):
        return f"the server answered {status}"
    if isinstance(error, FileNotFoundError):
        # Whatever went wrong while asking is called missing; the cause knows more.
        return "it does not exist" if error.__cause__ is None else _words(error.__cause__)
    lines = str(error).splitlines() or [type(error).__name__]
    return _QUOTED.sub(lambda found: address_shown(found[0]), lines[0])[:300]
