"""Where our handlers stand in settings of the shape hooks → event → groups → handlers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from fabricd.core.jsontext.reading import Box, Document, Entry, Node, Scalar
from fabricd.daemon.hooks.edits import Unfit
from fabricd.daemon.hooks.program import ours

# A group that says no more than this does nothing without handlers.
GROUP_MEMBERS = frozenset({"hooks", "matcher", "sequential"})


class Step(NamedTuple):
    """An entry of a box, by its place in it."""

    box: Box
    number: int

    @property
    def entry(self) -> Entry:
        """The entry itself."""
        return self.box.entries[self.number]


class Ours(NamedTuple):
    """A handler of ours: the way to it (hooks, event, group, handler), its command, its words."""

    way: tuple[Step, ...]
    command: Scalar
    words: tuple[str, ...]


def box_at(node: Node, what: str, is_object: bool) -> Box:
    """A node that must be an object or an array.

    Raises:
        Unfit: it is not.
    """
    if isinstance(node, Box) and node.is_object == is_object:
        return node
    raise Unfit(f"{what} is not an {'object' if is_object else 'array'}")


def member(box: Box, name: str) -> Step | None:
    """The one member of this name.

    Raises:
        Unfit: there are several.
    """
    same = [index for index, entry in enumerate(box.entries) if entry.name == name]
    if len(same) > 1:
        raise Unfit(f'"{name}" stands twice in one object, and only one of them counts')
    return Step(box, same[0]) if same else None


def steps(node: Node) -> list[Step]:
    """Every entry of a box; none of a scalar."""
    if not isinstance(node, Box):
        return []
    return [Step(node, number) for number in range(len(node.entries))]


def found(document: Document, event: str | None = None) -> Iterator[Ours]:
    """Our handlers in order: those of one event, or of all.

    Raises:
        Unfit: the document cannot hold any, or holds them ambiguously.
    """
    hooks = member(box_at(document.root, "the document", is_object=True), "hooks")
    if hooks is None:
        return
    table = box_at(hooks.entry.node, '"hooks"', is_object=True)
    if event is not None:
        named = member(table, event)
        events = [] if named is None else [named]
    else:
        events = steps(table)
    for each in events:
        yield from _of_event((hooks, each), each.entry.node)


def _of_event(way: tuple[Step, ...], groups: Node) -> Iterator[Ours]:
    for group in steps(groups):
        for part in steps(group.entry.node):
            if part.entry.name == "hooks":
                yield from _of_group((*way, group), part.entry.node)


def _of_group(way: tuple[Step, ...], handlers: Node) -> Iterator[Ours]:
    for step in steps(handlers):
        command = command_of(step.entry.node)
        if command is not None:
            yield Ours((*way, step), *command)


def command_of(handler: Node) -> tuple[Scalar, tuple[str, ...]] | None:
    """The command of a handler and its words, if it is ours."""
    for part in steps(handler):
        value = part.entry.node
        if part.entry.name == "command" and isinstance(value, Scalar):
            words = ours(value.value) if isinstance(value.value, str) else None
            if words is not None:
                return value, words
    return None
