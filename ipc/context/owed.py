"""What a relay was asked and has not answered. Standard library alone, as the relay itself."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PREFIX = b'{"jsonrpc":"2.0","id":'
_UNREAD = 128
# As deep as the daemon reads, and the least bytes of what is deeper.
_SHALLOW = 1024
_BACKSLASH = ord("\\")


class _Spelled(str):
    """A number as it was written: so the daemon tells ids apart, and gives them back."""


class Owed:
    """What was asked and not answered. Messages are not read before somebody wants to know."""

    def __init__(self) -> None:
        # By id: the line and how often the daemon that was asked has gone.
        self._waiting: dict[str, tuple[bytes, int]] = {}
        # What was said since, in order: ids by the daemon, lines by the agent.
        self._said: list[tuple[bool, bytes]] = []

    def __bool__(self) -> bool:
        """Whether anything may be owed."""
        return bool(self._said or self._waiting)

    def asked(self, line: bytes) -> None:
        """The agent has said this."""
        self._say(False, line)

    def answered(self, lines: bytes) -> None:
        """The daemon has said these."""
        for line in lines.split(b"\n"):
            if key := _answered(line):
                self._say(True, key)

    def _say(self, is_answer: bool, what: bytes) -> None:
        self._said.append((is_answer, what))
        if len(self._said) > _UNREAD:
            self._read()

    def lines(self) -> list[bytes]:
        """What is owed an answer, in order."""
        self._read()
        return [line for line, _ in self._waiting.values()]

    def given_up(self) -> list[str]:
        """The daemon has gone: the ids of what it was the second to go over."""
        self._read()
        lost = [key for key, (_, times) in self._waiting.items() if times]
        self._waiting = {
            key: (line, 1) for key, (line, times) in self._waiting.items() if not times
        }
        return lost

    def all_given_up(self) -> list[str]:
        """The ids of all that is owed; nothing is, from now on."""
        self._read()
        found, self._waiting = list(self._waiting), {}
        return found

    def _read(self) -> None:
        if not self._said:
            return
        import json

        for is_answer, what in self._said:
            if is_answer:
                self._waiting.pop(_answered_key(what, json) or "", None)
                continue
            key, called_off = _read(what, json)
            if key is not None:
                self._waiting[key] = (what, 0)
            if called_off is not None:
                self._waiting.pop(called_off, None)
        self._said = []


def key_of(line: bytes) -> str | None:
    """The id of a request as JSON; None for what the daemon does not answer by an id."""
    import json

    return _read(line, json)[0]


def _read(line: bytes, json: Any) -> tuple[str | None, str | None]:
    """The id of a request, and that of another one that is called off."""
    try:
        message = _message(line, json)
        method = message.get("method")
        if not isinstance(method, str) or isinstance(method, _Spelled):
            return None, None
        if "id" in message:
            return _key(message["id"], json), None
        if method == "notifications/cancelled":
            return None, _key(message["params"]["requestId"], json)
    except (ValueError, AttributeError, LookupError, TypeError, RecursionError):
        # The daemon says what is wrong with it.
        pass
    return None, None


def _message(line: bytes, json: Any) -> Any:
    """A line as the daemon reads it.

    Raises:
        ValueError: it does not.
    """
    if len(line) > _SHALLOW:
        from fabricd.core.nesting import RECORD_LEVELS, deeper_than

        if deeper_than(line, RECORD_LEVELS):
            raise ValueError
    message = _loaded(line, json)
    if b"\\ud" in line or b"\\uD" in line:
        # Half a character is none, wherever it stands.
        json.dumps(message, ensure_ascii=False).encode()
    return message


def _loaded(data: bytes, json: Any) -> Any:
    return json.loads(data.decode(), parse_int=_Spelled, parse_float=_Spelled, parse_constant=_none)


def _none(name: str) -> None:
    raise ValueError(name)


def _key(id: object, json: Any) -> str | None:
    if isinstance(id, _Spelled):
        return str(id)
    return str(json.dumps(id)) if isinstance(id, str) else None


def _answered(line: bytes) -> bytes:
    """The id of an answer as it was written, which stands where the daemon always has it."""
    start = len(_PREFIX)
    if not line.startswith(_PREFIX):
        return b""
    if line[start : start + 1] != b'"':
        return line[start : max(start, line.find(b",", start))]
    end = start
    while (end := line.find(b'"', end + 1)) >= 0:
        first = end
        while line[first - 1] == _BACKSLASH:
            first -= 1
        if (end - first) % 2 == 0:
            return line[start : end + 1]
    return b""


def _answered_key(key: bytes, json: Any) -> str | None:
    try:
        return _key(_loaded(key, json), json)
    except (ValueError, RecursionError):
        return None
