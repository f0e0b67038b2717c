"""What settings say apart from us: the same before and after every edit."""

from __future__ import annotations

from typing import TypeAlias

from fabricd.core.jsontext.reading import Document, Node, Number, Scalar
from fabricd.daemon.hooks.handlers import GROUP_MEMBERS, command_of, steps

Said: TypeAlias = "str | bool | Number | list[tuple[str | None, Said]] | None"


def others(document: Document) -> Said:
    """What a document says, apart from our handlers and from what stands empty around handlers."""
    said = [
        (step.entry.name, _hooks(step.entry.node))
        if step.entry.name == "hooks"
        else (step.entry.name, _plain(step.entry.node))
        for step in steps(document.root)
    ]
    return [item for item in said if item != ("hooks", [])]


def _hooks(node: Node) -> Said:
    said = [(step.entry.name, _event(step.entry.node)) for step in steps(node)]
    return [item for item in said if item[1] != []]


def _event(node: Node) -> Said:
    if isinstance(node, Scalar):
        return node.value
    said = [(step.entry.name, _group(step.entry.node)) for step in steps(node)]
    return [item for item in said if item[1] != []]


def _group(node: Node) -> Said:
    if isinstance(node, Scalar):
        return node.value
    said = [
        (step.entry.name, _handlers(step.entry.node))
        if step.entry.name == "hooks"
        else (step.entry.name, _plain(step.entry.node))
        for step in steps(node)
    ]
    idle = ("hooks", []) in said and {name for name, _ in said} <= GROUP_MEMBERS
    return [] if idle else said


def _handlers(node: Node) -> Said:
    if isinstance(node, Scalar):
        return node.value
    kept = [step for step in steps(node) if command_of(step.entry.node) is None]
    return [(step.entry.name, _plain(step.entry.node)) for step in kept]


def _plain(node: Node) -> Said:
    if isinstance(node, Scalar):
        return node.value
    return [(entry.name, _plain(entry.node)) for entry in node.entries]
