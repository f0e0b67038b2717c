"""Agents' own read tools: which file was asked for, and which of its lines were shown."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from msgspec import Struct

from fabricd.core.history.calls import AgentName
from fabricd.core.plain import is_list, is_object
from fabricd.core.trajectory.sessions.results import Shown


class _Tool(Struct, frozen=True):
    """How a tool names a path, and the first line where it is not the first of the file.

    Attributes:
        base: the number that `offset` has of the first line.
        mark: what stands between the number of a line and the line, where it shows numbers.
    """

    paths: tuple[str, ...]
    first: tuple[str, ...] = ("offset",)
    base: int = 1
    mark: str = ""


_TOOLS: dict[tuple[AgentName, str], _Tool] = {
    ("claude-code", "Read"): _Tool(("file_path",), mark="→|\t"),
    ("pi", "read"): _Tool(("path", "file_path")),
    ("opencode", "read"): _Tool(("filePath",), base=0, mark=r"\| |: "),
    ("gemini-cli", "read_file"): _Tool(
        ("absolute_path", "file_path", "path"), ("start_line", "offset"), 0
    ),
    ("copilot-cli", "view"): _Tool(("path",), ("view_range",), mark=r"\. "),
}
# What stands before a file that was cut.
_CUT = "--- FILE CONTENT (truncated) ---\n"


class Asked(Struct, frozen=True):
    """A file, by absolute path, and the number of the first line that was asked for.

    Attributes:
        mark: what stands between the number of a line and the line, where the tool shows numbers.
    """

    path: str
    first: int
    mark: str = ""


def path_of(path: str) -> str:
    """An absolute path without `.`, `..` and doubled slashes."""
    return posixpath.normpath(path)


def asked_of(agent: AgentName, tool: str, arguments: object, project: str) -> Asked | None:
    """What a call asks for, if it is of a read tool.

    Args:
        project: where a path that is not absolute begins.
    """
    found = _TOOLS.get((agent, tool))
    if found is None or not is_object(arguments):
        return None
    path = next((arguments[name] for name in found.paths if name in arguments), None)
    if not isinstance(path, str) or not path:
        return None
    return Asked(
        path_of(posixpath.join(project or "/", path)), _first(found, arguments), found.mark
    )


def _first(tool: _Tool, arguments: dict[str, object]) -> int:
    for name in tool.first:
        value = arguments.get(name)
        if is_list(value) and value:
            value = value[0]
        if isinstance(value, int) and value >= 0:
            # Lines named as such count from 1 everywhere.
            return max(1, value + (1 - tool.base if name == "offset" else 0))
    return 1


def read_lines_of(asked: Asked, shown: Shown) -> Iterator[tuple[int, str]]:
    """The lines of the file that were shown, with their numbers."""
    listing = list(_numbered(asked, shown.text)) if asked.mark else []
    if listing:
        return iter(listing)
    text = shown.text if shown.full is None else shown.full
    _, _, behind = text.partition(_CUT)
    return enumerate((behind or text).split("\n"), start=asked.first)


def _numbered(asked: Asked, text: str) -> Iterator[tuple[int, str]]:
    """The first run of lines whose numbers follow each other."""
    pattern = re.compile(f"[ 0]*([0-9]{{1,9}})(?:{asked.mark})(.*)", re.DOTALL)
    expected: int | None = None
    for line in text.split("\n"):
        found = pattern.match(line)
        if found is None or expected not in (None, int(found[1])):
            if expected is not None:
                return
            continue
        expected = int(found[1]) + 1
        yield expected - 1, found[2]
