"""Servers in JSON configuration: a command with arguments, or one list of both."""

from __future__ import annotations

import json
from typing import Any, TypeAlias

from msgspec import Struct

from fabricd.core.jsontext.editing import add, remove
from fabricd.core.jsontext.reading import BadText, Box, Document, Entry, Node, Number, Scalar, read
from fabricd.daemon.wrapping.forms import NoEntry, Unfit, joined_words, split_words
from fabricd.daemon.wrapping.words import before_command, command_at

Tables: TypeAlias = tuple[tuple[str, ...], ...]


class JsonForm(Struct, frozen=True):
    """A form of JSON.

    Attributes:
        tables: where servers may stand by name: the first table that has one counts.
        joined: whether a command and its arguments are one list.
        comments: whether the agent reads comments.
    """

    tables: Tables
    joined: bool = False
    comments: bool = True

    def words(self, text: str, name: str) -> tuple[str, ...]:
        """See `Form`."""
        return self._words_of(self._entry(self._read(text), name))

    def wrapped(self, text: str, name: str, program: str) -> str:
        """See `Form`."""
        document = self._read(text)
        box = self._box(document, name)
        if self.joined:
            words = (program, *before_command(name))
            return _checked(self, text, name, _inserted(document, _box_of(box, "command"), words))
        command = _member(box, "command")
        spelled = text[command.node.start : command.node.end]
        if _has(box, "args"):
            after = _inserted(document, _box_of(box, "args"), before_command(name), spelled)
        else:
            after = self._with_arguments(document, name, spelled)
        return _checked(self, text, name, self._commanded(after, name, _quoted(program)))

    def unwrapped(self, text: str, name: str, keeps_empty: bool) -> str:
        """See `Form`."""
        at = command_at(self.words(text, name))
        if at is None:
            raise Unfit("its command is not wrapped")
        document = self._read(text)
        box = self._box(document, name)
        if self.joined:
            return _checked(self, text, name, _cut(document, _box_of(box, "command"), at))
        # Counted among the arguments alone, the server's own command stands one further left.
        arguments = _box_of(box, "args")
        spelled_node = arguments.entries[at - 1].node
        spelled = text[spelled_node.start : spelled_node.end]
        if len(arguments.entries) == at and not keeps_empty:
            index = next(i for i, entry in enumerate(box.entries) if entry.name == "args")
            after = remove(document, box, index)
        else:
            after = _cut(document, arguments, at)
        return _checked(self, text, name, self._commanded(after, name, spelled))

    def repointed(self, text: str, name: str, program: str) -> str:
        """See `Form`."""
        document = self._read(text)
        box = self._box(document, name)
        if self.joined:
            node = _box_of(box, "command").entries[0].node
        else:
            node = _member(box, "command").node
        return _checked(self, text, name, _put(text, node, program))

    def wrapped_names(self, text: str) -> tuple[str, ...]:
        """See `Form`."""
        document = self._read(text)
        return tuple(name for name in self._names(document) if self._is_wrapped(document, name))

    def has_arguments(self, text: str, name: str) -> bool:
        """See `Form`."""
        return _has(self._box(self._read(text), name), "args")

    def others(self, text: str, name: str) -> object:
        """What a text says apart from the command of one server."""
        document = self._read(text)
        node = self._box(document, name)
        mute = {"command", "args"}
        return _said(document.root, node, mute)

    def _commanded(self, text: str, name: str, spelled: str) -> str:
        node = _member(self._box(self._read(text), name), "command").node
        return text[: node.start] + spelled + text[node.end :]

    def _is_wrapped(self, document: Document, name: str) -> bool:
        try:
            return command_at(self._words_of(self._entry(document, name))) is not None
        except (Unfit, NoEntry):
            return False

    def _words_of(self, entry: object) -> tuple[str, ...]:
        return joined_words(entry) if self.joined else split_words(entry)

    def _read(self, text: str) -> Document:
        try:
            return read(text, self.comments)
        except BadText as error:
            raise Unfit(f"it is not JSON: {error}") from None

    def _tables(self, document: Document) -> list[Box]:
        found = [_table(document.root, path) for path in self.tables]
        return [box for box in found if box is not None]

    def _names(self, document: Document) -> tuple[str, ...]:
        names = [
            entry.name or ""
            for table in self._tables(document)
            for entry in table.entries
            if isinstance(entry.node, Box) and entry.node.is_object and not _holds_servers(entry)
        ]
        return tuple(dict.fromkeys(names))

    def _box(self, document: Document, name: str) -> Box:
        for table in self._tables(document):
            same = [entry for entry in table.entries if entry.name == name]
            if len(same) > 1:
                raise Unfit("it stands there twice, and only one of them counts")
            if same and not _holds_servers(same[0]):
                node = same[0].node
                if isinstance(node, Box) and node.is_object:
                    names = [entry.name for entry in node.entries]
                    if len(set(names)) != len(names):
                        raise Unfit("its entry has a member twice, and only one of them counts")
                    return node
                raise Unfit("its entry is not an object")
        raise NoEntry(self._names(document))

    def _entry(self, document: Document, name: str) -> object:
        return _plain(self._box(document, name))

    def _with_arguments(self, document: Document, name: str, spelled: str) -> str:
        """The text with a list of arguments, the last of them as it is spelled."""
        own = [*before_command(name), ""]
        after = add(document, self._box(document, name), own, "args")
        last = _box_of(self._box(self._read(after), name), "args").entries[-1].node
        return after[: last.start] + spelled + after[last.end :]


def _holds_servers(entry: Entry) -> bool:
    """A table of servers inside a table of servers: the newer of two layouts of one agent."""
    if entry.name != "servers" or not isinstance(entry.node, Box):
        return False
    inner = [part.node for part in entry.node.entries]
    return bool(inner) and all(isinstance(node, Box) and node.is_object for node in inner)


def _table(root: Node, path: tuple[str, ...]) -> Box | None:
    node: Node = root
    for name in path:
        if not isinstance(node, Box) or not node.is_object:
            return None
        same = [entry.node for entry in node.entries if entry.name == name]
        if len(same) > 1:
            raise Unfit(f'"{name}" stands twice in one object, and only one of them counts')
        if not same:
            return None
        node = same[0]
    return node if isinstance(node, Box) and node.is_object else None


def _has(box: Box, name: str) -> bool:
    return any(entry.name == name for entry in box.entries)


def _member(box: Box, name: str) -> Entry:
    return next(entry for entry in box.entries if entry.name == name)


def _box_of(box: Box, name: str) -> Box:
    node = _member(box, name).node
    if not isinstance(node, Box):
        raise Unfit(f'its "{name}" is not a list')
    return node


def _quoted(word: str) -> str:
    return json.dumps(word, ensure_ascii=False)


def _put(text: str, node: Node, word: str) -> str:
    return text[: node.start] + _quoted(word) + text[node.end :]


def _inserted(
    document: Document, box: Box, words: tuple[str, ...], spelled: str | None = None
) -> str:
    """The text with words before those of a list, and perhaps one more as it is spelled."""
    text = document.text
    front = ", ".join([*map(_quoted, words), *([] if spelled is None else [spelled])])
    if not box.entries:
        return text[: box.start + 1] + front + text[box.start + 1 :].lstrip(" \t\r\n")
    first = box.entries[0].start
    lead = text[box.start + 1 : first]
    gap = lead if "\n" in lead and not lead.strip() else " "
    return text[:first] + front + "," + gap + text[first:]


def _cut(document: Document, box: Box, count: int) -> str:
    """The text without the first words of a list."""
    text, entries = document.text, box.entries
    end = entries[count].start if count < len(entries) else entries[count - 1].end
    return text[: entries[0].start] + text[end:]


def _plain(node: Node) -> Any:
    if isinstance(node, Scalar):
        return node.value
    if node.is_object:
        return {entry.name: _plain(entry.node) for entry in node.entries}
    return [_plain(entry.node) for entry in node.entries]


Said: TypeAlias = "str | bool | Number | list[tuple[str | None, Said]] | None"


def _said(node: Node, muted: Box, mute: set[str]) -> Said:
    """What a node says, with the place of every member, apart from some members of one box."""
    if isinstance(node, Scalar):
        return node.value
    return [
        (entry.name, _said(entry.node, muted, mute))
        for entry in node.entries
        if not (node is muted and entry.name in mute)
    ]


def _checked(form: JsonForm, before: str, name: str, after: str) -> str:
    """The text after an edit, if it says the same apart from the command.

    Raises:
        Unfit: it does not.
    """
    try:
        if form.others(before, name) == form.others(after, name):
            return after
    except NoEntry:
        pass
    raise Unfit("it cannot be edited without touching what else is there: edit it by hand")
