"""Servers in TOML configuration: tables of a command with arguments."""

from __future__ import annotations

import json
from typing import Any

from msgspec import Struct

from fabricd.core.plain import is_object
from fabricd.core.tomltext.reading import BadToml, Document, Member, Value, read
from fabricd.daemon.wrapping.forms import NoEntry, Unfit, split_words
from fabricd.daemon.wrapping.words import before_command, command_at


class TomlForm(Struct, frozen=True):
    """A form of TOML; `table` holds the servers by name."""

    table: str

    def words(self, text: str, name: str) -> tuple[str, ...]:
        """See `Form`."""
        return split_words(self._entry(_read(text), name))

    def wrapped(self, text: str, name: str, program: str) -> str:
        """See `Form`."""
        document = _read(text)
        own = self.words(text, name)[0]
        command = self._member(document, name, "command")
        spelled = text[command.value.start : command.value.end]
        if "\n" in spelled:
            spelled = _quoted(own)
        arguments = document.at(self.table, name, "args")
        if arguments is None:
            front = ", ".join([*map(_quoted, before_command(name)), spelled])
            after = _with_arguments(document, command, f"[{front}]")
        else:
            after = _inserted(document, arguments, before_command(name), spelled)
        return self._checked(text, name, self._commanded(after, name, _quoted(program)))

    def unwrapped(self, text: str, name: str, keeps_empty: bool) -> str:
        """See `Form`."""
        at = command_at(self.words(text, name))
        document = _read(text)
        arguments = document.at(self.table, name, "args")
        if at is None or arguments is None or arguments.items is None:
            raise Unfit("its command is not wrapped")
        # Counted among the arguments alone, the server's own command stands one further left.
        own = arguments.items[at - 1]
        spelled = text[own.start : own.end]
        if len(arguments.items) == at and not keeps_empty:
            after = self._without_arguments(document, name)
        else:
            after = _cut(document, arguments.items, at)
        return self._checked(text, name, self._commanded(after, name, spelled))

    def repointed(self, text: str, name: str, program: str) -> str:
        """See `Form`."""
        return self._checked(text, name, self._commanded(text, name, _quoted(program)))

    def wrapped_names(self, text: str) -> tuple[str, ...]:
        """See `Form`."""
        servers = self._servers(_read(text))
        return tuple(name for name, entry in servers.items() if _is_wrapped(entry))

    def has_arguments(self, text: str, name: str) -> bool:
        """See `Form`."""
        entry = self._entry(_read(text), name)
        return is_object(entry) and "args" in entry

    def _servers(self, document: Document) -> dict[str, Any]:
        found = document.plain.get(self.table)
        return found if is_object(found) else {}

    def _entry(self, document: Document, name: str) -> object:
        servers = self._servers(document)
        if name not in servers:
            raise NoEntry(tuple(servers))
        return servers[name]

    def _member(self, document: Document, name: str, key: str) -> Member:
        found = document.member(self.table, name, key)
        if found is None:
            raise Unfit("its entry is written in a way that cannot be edited")
        return found

    def _commanded(self, text: str, name: str, spelled: str) -> str:
        value = self._member(_read(text), name, "command").value
        return text[: value.start] + spelled + text[value.end :]

    def _without_arguments(self, document: Document, name: str) -> str:
        """The text without a list of arguments: the rest of its line, or of its comma, too."""
        text, member = document.text, self._member(document, name, "args")
        start = text.rfind("\n", 0, member.value.start) + 1
        end = text.find("\n", member.value.end)
        tail = text[member.value.end : len(text) if end < 0 else end]
        if member.is_inline or tail.strip() or "args" not in text[start : member.value.start]:
            # Somebody's remark stands there, or more of the table.
            return text[: member.value.start] + "[]" + text[member.value.end :]
        if end < 0:
            return text[: max(0, start - 1)]
        return text[:start] + text[end + 1 :]

    def _checked(self, before: str, name: str, after: str) -> str:
        """The text after an edit, if it says the same apart from the command.

        Raises:
            Unfit: it does not.
        """
        try:
            same = self._others(before, name) == self._others(after, name)
        except Unfit:
            same = False
        if not same:
            raise Unfit("it cannot be edited without touching what else is there: edit it by hand")
        return after

    def _others(self, text: str, name: str) -> list[object]:
        """What a text says apart from the command of one server, in its order."""
        plain = dict(_read(text).plain)
        servers = dict(self._servers(_read(text)))
        entry = servers.get(name)
        if is_object(entry):
            servers[name] = {
                key: value for key, value in entry.items() if key not in ("command", "args")
            }
        # As text: not every number in TOML equals itself.
        return [json.dumps({**plain, self.table: servers}, default=str)]


def _is_wrapped(entry: object) -> bool:
    try:
        return command_at(split_words(entry)) is not None
    except Unfit:
        return False


def _read(text: str) -> Document:
    try:
        return read(text)
    except BadToml as error:
        raise Unfit(f"it is not TOML: {error}") from None


def _quoted(word: str) -> str:
    """A basic string: JSON's escapes are TOML's too, but for characters beyond the first plane."""
    return json.dumps(word, ensure_ascii=False).replace("\x7f", "\\u007F")


def _with_arguments(document: Document, command: Member, arguments: str) -> str:
    """The text with a list of arguments behind the command."""
    text, end = document.text, command.value.end
    if command.is_inline:
        return f"{text[:end]}, args = {arguments}{text[end:]}"
    start = text.rfind("\n", 0, command.value.start) + 1
    # A dotted key has the same table before its last part.
    lead = text[start : command.value.start]
    key = lead.rstrip(" \t").removesuffix("=").rstrip(" \t")
    for spelled in ("command", '"command"', "'command'"):
        if key.endswith(spelled):
            lead = f"{key.removesuffix(spelled)}args = "
            break
    else:
        raise Unfit("its entry is written in a way that cannot be edited")
    line_end = text.find("\n", end)
    newline = "\r\n" if line_end > 0 and text[line_end - 1] == "\r" else "\n"
    if line_end < 0:
        return f"{text}{newline}{lead}{arguments}"
    return f"{text[: line_end + 1]}{lead}{arguments}{newline}{text[line_end + 1 :]}"


def _inserted(document: Document, box: Value, words: tuple[str, ...], spelled: str) -> str:
    """The text with words and one more, as it is spelled, before those of a list."""
    text, items = document.text, box.items
    if items is None:
        raise Unfit('its "args" is not a list')
    front = ", ".join([*map(_quoted, words), spelled])
    if not items:
        return text[: box.start + 1] + front + text[box.start + 1 :].lstrip(" \t")
    first = items[0].start
    lead = text[box.start + 1 : first]
    gap = lead if "\n" in lead and not lead.strip() else " "
    return text[:first] + front + "," + gap + text[first:]


def _cut(document: Document, items: tuple[Value, ...], count: int) -> str:
    """The text without the first items of a list."""
    text = document.text
    end = items[count].start if count < len(items) else items[count - 1].end
    return text[: items[0].start] + text[end:]
