"""Lines that are posted, and messages that come back: read as far as to see what answers what."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias, cast

from fabricd.ipc.gateway.events import BOM, one_line

# A text and a number are never the same id.
Key: TypeAlias = tuple[bool, str | float]

_INITIALIZED = "notifications/initialized"
_CANCELLED = "notifications/cancelled"


class Posted:
    """A line of the client, and which of its requests still await their reply.

    Attributes:
        asks: it holds a request: an id and a method.
        waiting: the ids without a reply, and what was asked.
        cancels: ids whose replies the client wants no more.
        initialized: from here on the server may speak by itself.
        begun: the server has begun to answer, or never will.
    """

    def __init__(self, line: bytes) -> None:
        self.body = line.strip()
        self.waiting: dict[Key, str] = {}
        self.cancels: set[Key] = set()
        self.initialized = False
        self.begun = threading.Event()
        try:
            values = _objects(_decoded(self.body))
        except (ValueError, RecursionError):
            values = None
        for value in values or ():
            self._read(value)
        self.asks = bool(self.waiting)

    @property
    def is_over(self) -> bool:
        """Whether it held requests, and none of them awaits anything."""
        return self.asks and not self.waiting

    def settle(self, keys: Iterable[Key]) -> None:
        """These have their reply, or want none."""
        for key in keys:
            self.waiting.pop(key, None)

    def _read(self, value: dict[str, object]) -> None:
        method, key = value.get("method"), _key(value.get("id"))
        if not isinstance(method, str):
            return
        if key is not None:
            self.waiting[key] = f"{method} (id {_shown(value['id'])})"
        elif method == _INITIALIZED:
            self.initialized = True
        elif method == _CANCELLED:
            params = value.get("params")
            if isinstance(params, dict):
                cancelled = _key(cast("dict[str, object]", params).get("requestId"))
                self.cancels |= set() if cancelled is None else {cancelled}


@dataclass(frozen=True)
class Message:
    """What the server said, as a line.

    Attributes:
        answers: ids it replies to; None where it nests too deeply to say.
        version: of the protocol, where it names the one that both agreed on.
    """

    line: bytes
    answers: frozenset[Key] | None
    version: str | None = None


def message_of(data: bytes) -> Message | None:
    """The message, or list of messages, that data are; None where they are none."""
    line = one_line(data.removeprefix(BOM))
    try:
        values = _objects(_decoded(line))
    except RecursionError:
        return Message(line, None)
    except ValueError:
        return None
    if not values or not all(map(_is_message, values)):
        return None
    answers = {_key(value.get("id")) for value in values if "method" not in value}
    version = next(filter(None, map(_version, values)), None)
    return Message(line, frozenset(key for key in answers if key is not None), version)


def _decoded(data: bytes) -> object:
    # A number may have more digits than Python turns into an integer.
    found: object = json.loads(data.decode("utf-8", "replace"), parse_int=float)
    return found


def _objects(value: object) -> list[dict[str, object]] | None:
    values = cast("list[object]", value) if isinstance(value, list) else [value]
    found = [cast("dict[str, object]", each) for each in values if isinstance(each, dict)]
    return found if len(found) == len(values) else None


def _is_message(value: dict[str, object]) -> bool:
    if "jsonrpc" in value or isinstance(value.get("method"), str):
        return True
    return "id" in value and ("result" in value or isinstance(value.get("error"), dict))


def _key(value: object) -> Key | None:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    return isinstance(value, str), value


def _shown(ident: object) -> str:
    return json.dumps(int(ident) if isinstance(ident, float) and ident.is_integer() else ident)


def _version(value: dict[str, object]) -> str | None:
    result = value.get("result")
    if not isinstance(result, dict):
        return None
    found = cast("dict[str, object]", result).get("protocolVersion")
    if isinstance(found, str) and found.isascii() and found.isprintable():
        return found
    return None
