"""The hook in JSON settings, as three agents have it.

Only our handler comes and goes. Whatever an edit gives is compared with what was there before:
apart from ours, and from containers that stand empty, both must say the same.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from fabricd.core.jsontext.editing import Plain, add, remove, replace
from fabricd.core.jsontext.reading import BadText, Box, Document, Node, Scalar, is_blank, read
from fabricd.daemon.hooks.edits import Change, Edit, Refused, Same, Unfit
from fabricd.daemon.hooks.handlers import GROUP_MEMBERS, Step, box_at, found, member, steps
from fabricd.daemon.hooks.others import others
from fabricd.daemon.hooks.program import line_of

_FRESH = "{}\n"


class Settings(Struct, frozen=True):
    """JSON settings of an agent.

    Attributes:
        event: the event that ends a turn.
        members: what stands in a handler beside type and command.
        comments: whether the agent reads comments in its settings.
        matcher: of the tools whose calls are meant, for an event that is about a call.
        alone: whether to uninstall leaves our handlers for other events.
    """

    event: str
    members: Mapping[str, Plain]
    comments: bool = False
    matcher: str | None = None
    alone: bool = False

    def install(self, text: str | None, words: tuple[str, ...]) -> Edit:
        """Settings with one handler of ours for the event, which runs these words."""
        try:
            document = _document(self, text)
            present = list(found(document, self.event))
            if not present:
                return Change(_checked(self, document, _with(self, document, words)), "installed")
            if len(present) == 1 and present[0].words == words:
                return Same("already_installed")
            return Change(_checked(self, document, _updated(self, document, words)), "updated")
        except Unfit as error:
            return Refused(str(error))

    def uninstall(self, text: str | None) -> Edit:
        """Settings without any handler of ours, for whatever event unless this is alone."""
        event = self.event if self.alone else None
        try:
            document = _document(self, text)
            if next(found(document, event), None) is None:
                return Same("already_uninstalled")
            bare = _without(self, document, event, spared=0)
            return Change(_checked(self, document, bare.text), "uninstalled")
        except Unfit as error:
            return Refused(str(error))

    def commands(self, text: str | None) -> tuple[tuple[str, ...], ...]:
        """The words of each handler of ours for the event.

        Raises:
            Unfit: the settings are not what the agent reads.
        """
        return tuple(each.words for each in found(_document(self, text), self.event))


def is_set(settings: Settings, text: str | None, value: bool, *names: str) -> bool:
    """Whether settings hold this boolean under these names; not where nobody can read them."""
    try:
        node: Node | None = _document(settings, text).root
        for name in names:
            step = member(node, name) if isinstance(node, Box) else None
            node = None if step is None else step.entry.node
    except Unfit:
        return False
    return isinstance(node, Scalar) and node.value is value


def _document(settings: Settings, text: str | None) -> Document:
    if text is None or is_blank(text):
        text = _FRESH
    try:
        document = read(text, settings.comments)
    except BadText as error:
        raise Unfit(f"it is not JSON: {error}") from None
    box_at(document.root, "the document", is_object=True)
    return document


def _with(settings: Settings, document: Document, words: tuple[str, ...]) -> str:
    """With a group of our own at the end: those of others have matchers of their own."""
    entry: dict[str, Plain] = {"type": "command", "command": line_of(words), **settings.members}
    matcher: dict[str, Plain] = {} if settings.matcher is None else {"matcher": settings.matcher}
    group: Plain = {**matcher, "hooks": [entry]}
    root = box_at(document.root, "the document", is_object=True)
    hooks = member(root, "hooks")
    if hooks is None:
        return add(document, root, {settings.event: [group]}, "hooks")
    table = box_at(hooks.entry.node, '"hooks"', is_object=True)
    event = member(table, settings.event)
    if event is None:
        return add(document, table, [group], settings.event)
    return add(document, box_at(event.entry.node, f'"{settings.event}"', is_object=False), group)


def _updated(settings: Settings, document: Document, words: tuple[str, ...]) -> str:
    """With the first of our handlers running these words, and no other."""
    lean = _without(settings, document, settings.event, spared=1)
    [kept] = found(lean, settings.event)
    return replace(lean, kept.command, line_of(words))


def _without(settings: Settings, document: Document, event: str | None, spared: int) -> Document:
    """Without our handlers, apart from the first ones."""
    present = list(found(document, event))
    while len(present) > spared:
        document = _document(settings, _removed(settings, document, present[-1].way))
        present = list(found(document, event))
    return document


def _removed(settings: Settings, document: Document, way: tuple[Step, ...]) -> str:
    """Without a handler and the containers it leaves empty, unless a comment stands in them."""
    entry = way[-1].entry
    own = read(document.text[entry.start : entry.end], settings.comments).comments
    for step in _emptied(way):
        text = remove(document, step.box, step.number)
        if len(_document(settings, text).comments) == len(document.comments) - len(own):
            return text
    return remove(document, way[-1].box, way[-1].number)


def _emptied(way: tuple[Step, ...]) -> list[Step]:
    """What may go together with a handler, the widest first."""
    hooks, event, group, handler = way
    gone = [handler]
    names = {part.entry.name for part in steps(group.entry.node)}
    if len(handler.box.entries) == 1 and names <= GROUP_MEMBERS:
        gone.append(group)
        if len(group.box.entries) == 1:
            gone.append(event)
            if len(event.box.entries) == 1:
                gone.append(hooks)
    return gone[::-1]


def _checked(settings: Settings, before: Document, text: str) -> str:
    try:
        same = others(before) == others(read(text, settings.comments))
    except BadText:
        same = False
    if not same:
        raise Unfit("it cannot be edited without touching what others wrote: edit it by hand")
    return text
