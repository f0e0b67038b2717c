"""What a change touched: the questions, and the lines and definitions that would have been needed.

A row of the questions' file is one JSON object: `id` (the folder of its tree), `repo`, `query`, and
`gold`: of each source file that the change touched its `path`, the `lines` (1-based, before the
change) and the `functions` around them by qualified name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from tree_sitter import Language, Node, Parser

_GRAMMARS = {
    ".py": ("tree_sitter_python", "language"),
    ".pyi": ("tree_sitter_python", "language"),
    ".ts": ("tree_sitter_typescript", "language_typescript"),
    ".mts": ("tree_sitter_typescript", "language_typescript"),
    ".tsx": ("tree_sitter_typescript", "language_tsx"),
    ".jsx": ("tree_sitter_typescript", "language_tsx"),
    ".js": ("tree_sitter_javascript", "language"),
    ".mjs": ("tree_sitter_javascript", "language"),
    ".cjs": ("tree_sitter_javascript", "language"),
}
_DEFINING = frozenset(
    """
    function_definition class_definition function_declaration generator_function_declaration
    method_definition class_declaration abstract_class_declaration interface_declaration
    type_alias_declaration enum_declaration
    """.split()
)
_VALUES = frozenset(
    {"arrow_function", "function_expression", "function", "class", "call_expression"}
)
_DEEPEST = 3
_LONGEST = 400
_TELLING = re.compile(r"[A-Za-z0-9]")


class Definition(NamedTuple):
    """A definition: 0-based rows with decorators, and the row that its own text begins in."""

    first: int
    last: int
    named: int


class Wanted(NamedTuple):
    """What was needed of one file, as lines without surplus white space.

    Attributes:
        functions: for each the line that names it, and all of its lines.
    """

    path: str
    lines: tuple[str, ...]
    functions: tuple[tuple[str, tuple[str, ...]], ...]


class Question(NamedTuple):
    """One row."""

    id: str
    repo: str
    query: str
    gold: tuple[dict[str, Any], ...]


def questions(path: Path, limit: int | None = None) -> list[Question]:
    """The rows of a file; with a limit so many of each repository, evenly."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    found = [Question(row["id"], row["repo"], row["query"], tuple(row["gold"])) for row in rows]
    if limit is None:
        return found
    by_repo: dict[str, list[Question]] = {}
    for question in found:
        by_repo.setdefault(question.repo, []).append(question)
    return [
        question
        for group in by_repo.values()
        for question in group[:: max(1, len(group) // limit)][:limit]
    ]


def normal(line: str) -> str:
    """A line with single spaces."""
    return " ".join(line.split())


def tells(line: str) -> bool:
    """Whether a normal line is worth asking for: a brace alone is everywhere."""
    return len(line) >= 4 and _TELLING.search(line) is not None


def wanted(question: Question, tree: Path) -> list[Wanted]:
    """What a question's change needed, read from the tree before it."""
    return [_wanted(gold, tree) for gold in question.gold]


def _wanted(gold: dict[str, Any], tree: Path) -> Wanted:
    text = (tree / gold["path"]).read_text("utf-8", errors="replace")
    lines = [normal(line) for line in text.split("\n")]
    known = definitions(gold["path"], text)
    functions: list[tuple[str, tuple[str, ...]]] = []
    for name in gold["functions"]:
        if (one := known.get(name)) is not None:
            body = tuple(line for line in lines[one.first : one.last + 1] if tells(line))
            if body:
                functions.append((lines[one.named], body[:_LONGEST]))
    numbers: list[int] = gold["lines"]
    changed = [lines[number - 1] for number in numbers if number <= len(lines)]
    return Wanted(gold["path"], tuple(filter(tells, changed)), tuple(functions))


def definitions(path: str, text: str) -> dict[str, Definition]:
    """The definitions of a Python or JavaScript file by qualified name; of two the last counts."""
    parser = _parser(Path(path).suffix)
    if parser is None:
        return {}
    return dict(_walk(parser.parse(text.encode()).root_node, "", 0))


def _walk(node: Node, within: str, depth: int) -> Iterator[tuple[str, Definition]]:
    name = _name(node)
    if name:
        within = f"{within}.{name}" if within else name
        parent = node.parent
        whole = parent if parent is not None and parent.type == "decorated_definition" else node
        row = node.start_point[0]
        yield within, Definition(whole.start_point[0], node.end_point[0], row)
        depth += 1
    if depth <= _DEEPEST:
        for child in node.children:
            yield from _walk(child, within, depth)


def _name(node: Node) -> str:
    """What a node defines; empty where it defines nothing."""
    if node.type == "variable_declarator":
        value = node.child_by_field_name("value")
        if value is None or value.type not in _VALUES:
            return ""
    elif node.type not in _DEFINING:
        return ""
    name = node.child_by_field_name("name")
    return "" if name is None or name.text is None else name.text.decode("utf-8", "replace")


@cache
def _parser(suffix: str) -> Parser | None:
    if suffix not in _GRAMMARS:
        return None
    module, function = _GRAMMARS[suffix]
    loaded: object = getattr(import_module(module), function)()
    return Parser(Language(loaded))
