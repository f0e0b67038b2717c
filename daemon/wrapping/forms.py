"""What every form of a configuration answers, and what may be wrong with an entry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from fabricd.core.plain import is_list, is_object

_REMOTE = frozenset(
    {"http", "sse", "streamable-http", "streamableHttp", "remote", "ws", "websocket"}
)
_LOCAL = frozenset({"stdio", "local"})
_ADDRESSES = ("url", "httpUrl", "serverUrl")


class Unfit(ValueError):
    """Raised where a configuration or an entry cannot be edited. The message says why."""


class NoEntry(LookupError):
    """Raised where a configuration has no server of that name. `names` are those it has."""

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__("there is no such server")
        self.names = names


class Form(Protocol):
    """How servers stand in a file. Pure; every text is one that the agent reads."""

    def words(self, text: str, name: str) -> tuple[str, ...]:
        """The words that start a server.

        Raises:
            NoEntry: there is no server of that name.
            Unfit: the file or the entry is not of a known shape, or is not started by a command.
        """
        ...

    def wrapped(self, text: str, name: str, program: str) -> str:
        """The text with the words of one server behind the gateway's."""
        ...

    def unwrapped(self, text: str, name: str, keeps_empty: bool) -> str:
        """The text with the server's own words alone, as they are spelled now.

        Args:
            keeps_empty: whether a list of arguments stays where nothing is left in it.
        """
        ...

    def repointed(self, text: str, name: str, program: str) -> str:
        """The text with another gateway before the words of a wrapped server."""
        ...

    def wrapped_names(self, text: str) -> tuple[str, ...]:
        """The servers whose words are the gateway's."""
        ...

    def has_arguments(self, text: str, name: str) -> bool:
        """Whether an entry has a list of arguments, be it an empty one."""
        ...


def require_command(entry: object) -> Mapping[str, Any]:
    """An entry of a server that is started by a command, as far as its members say.

    Raises:
        Unfit: see there.
    """
    if not is_object(entry):
        raise Unfit("its entry is not an object")
    kind = entry.get("type")
    if kind in _REMOTE or any(name in entry for name in _ADDRESSES):
        raise Unfit("it is reached at a URL: only a server that is started by a command is wrapped")
    if kind is not None and kind not in _LOCAL:
        raise Unfit(f"its entry has an unknown type, {str(kind)[:40]!r}")
    if "command" not in entry:
        raise Unfit("its entry names no command")
    return entry


def texts(value: object, what: str) -> tuple[str, ...]:
    """A list of texts.

    Raises:
        Unfit: it is none.
    """
    if not is_list(value) or not all(isinstance(each, str) for each in value):
        raise Unfit(f"its {what} is not a list of texts")
    return tuple(value)


def split_words(entry: object) -> tuple[str, ...]:
    """The words of an entry with a command and perhaps arguments.

    Raises:
        Unfit: it is of another shape.
    """
    found = require_command(entry)
    command = found["command"]
    if not isinstance(command, str) or not command:
        raise Unfit("its command is not a text")
    return (command, *texts(found.get("args", []), '"args"'))


def joined_words(entry: object) -> tuple[str, ...]:
    """The words of an entry whose command is one list.

    Raises:
        Unfit: it is of another shape.
    """
    words = texts(require_command(entry)["command"], "command")
    if not words or not words[0]:
        raise Unfit("its command is an empty list")
    return words
