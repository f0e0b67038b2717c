"""A language's parser and query, loaded when first needed, and a parse that can be given up."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from tree_sitter import Language, Node, Parser, Query, QueryCursor, Tree

from fabricd.core.context.parsing.macros import without_macros
from fabricd.core.context.parsing.tables import TABLES

# Brackets open at the same time. Above, a parser needs memory and time by the square of them, or
# all of the stack; no file that people read has half as many.
DEEPEST = 500
# The same of `<` or `=>` in a statement, where each may be one of two things.
_MOST_UNSURE = 100
_GENERIC = frozenset({"typescript", "tsx", "java", "csharp", "cpp"})
_ARROWLESS = frozenset({"java", "csharp", "c", "cpp", "go"})
_PREPROCESSED = frozenset({"c", "cpp"})
# How far down a tree is asked: a chain of 60,000 calls is a tree as deep, and asking never ends.
_LOWEST = 1000
_SMALL = 4 * 1024  # bytes: not worth asking whether to stop

Captures = dict[str, list[Node]]

_NOT_BRACKETS = bytes(sorted(set(range(256)) - set(b"()[]{}")))
_NOT_ANGLES = bytes(sorted(set(range(256)) - set(b"<>;{}")))
_NOT_ARROWS = bytes(sorted(set(range(256)) - set(b"=>;{}")))
_STEP = np.zeros(256, np.int32)
_STEP[list(b"([{")] = 1
_STEP[list(b")]}")] = -1


class Grammar(NamedTuple):
    """What a text is parsed and asked with."""

    parser: Parser
    query: Query


class Unparsed(Exception):
    """Raised by `captures_of`: the text is nested too deep or took too long."""


@cache
def grammar(language: str) -> Grammar:
    """The grammar of a language of `TABLES`."""
    table = TABLES[language]
    pointer = getattr(importlib.import_module(table.package), table.function)()
    loaded = Language(pointer)  # pyright: ignore[reportDeprecated] - a capsule; stubs name only int
    return Grammar(Parser(loaded), Query(loaded, table.query))


def captures_of(source: bytes, language: str, stop: Callable[[], bool]) -> Captures:
    """What the language's query finds in a text. The nodes know places, `source` the text.

    Args:
        stop: asked now and then in a text of some size; true gives up.

    Raises:
        Unparsed: the text is nested too deep, or `stop` said so.
    """
    if _is_deep(source, language):
        raise Unparsed
    if language in _PREPROCESSED:
        source = without_macros(source)
    parser, query = grammar(language)
    tree = parser.parse(source) if len(source) < _SMALL else _parsed(parser, source, stop)
    cursor = QueryCursor(query)
    cursor.set_max_start_depth(_LOWEST)
    return cursor.captures(tree.root_node)


def _parsed(parser: Parser, source: bytes, stop: Callable[[], bool]) -> Tree:
    given: list[memoryview] = []

    def read(offset: int, _: object) -> memoryview | bytes:
        if offset >= len(source):
            return b""
        given.append(memoryview(source)[offset:])
        return given[-1]

    def progress(_: int, __: bool) -> bool:
        return stop()

    try:
        return parser.parse(read, progress_callback=progress)
    except ValueError:
        parser.reset()
        raise Unparsed from None
    finally:
        # The binding never lets go of what it was given, so that must not hold the text.
        for view in given:
            view.release()


def _is_deep(source: bytes, language: str) -> bool:
    brackets = source.translate(None, _NOT_BRACKETS)
    if len(brackets) > DEEPEST:
        depth = np.cumsum(_STEP[np.frombuffer(brackets, np.uint8)])
        if int((depth - np.minimum.accumulate(depth)).max()) > DEEPEST:
            return True
    if language in _GENERIC:
        angles = source.replace(b"<<", b"").translate(None, _NOT_ANGLES)
        if b"<" * _MOST_UNSURE in angles:
            return True
    return language in _ARROWLESS and (b"=>" * _MOST_UNSURE in source.translate(None, _NOT_ARROWS))
