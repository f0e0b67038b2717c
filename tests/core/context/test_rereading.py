"""Which lines of a file a read tool was asked for, and which it showed."""

from __future__ import annotations

from typing import Any

import pytest

from fabricd.core.context.rereading import Asked, asked_of, read_lines_of
from fabricd.core.history.calls import AgentName
from fabricd.core.trajectory.sessions.results import Shown


@pytest.mark.parametrize(
    ("agent", "tool", "arguments", "wanted"),
    [
        ("claude-code", "Read", {"file_path": "/a/./b.py"}, ("/a/b.py", 1)),
        ("claude-code", "Read", {"file_path": "/a.py", "offset": 7}, ("/a.py", 7)),
        ("claude-code", "Bash", {"file_path": "/a.py"}, None),
        ("claude-code", "Read", {"file_path": 3}, None),
        ("claude-code", "Read", [], None),
        ("pi", "read", {"path": "b.py", "offset": 7}, ("/w/b.py", 7)),
        ("opencode", "read", {"filePath": "../c.py", "offset": 7}, ("/c.py", 8)),
        ("gemini-cli", "read_file", {"absolute_path": "/a.py", "offset": 0}, ("/a.py", 1)),
        ("gemini-cli", "read_file", {"file_path": "/a.py", "start_line": 4}, ("/a.py", 4)),
        ("copilot-cli", "view", {"path": "/a.py", "view_range": [3, -1]}, ("/a.py", 3)),
        ("copilot-cli", "view", {"path": "/a.py", "view_range": "3"}, ("/a.py", 1)),
        ("codex", "read", {"path": "/a.py"}, None),
    ],
)
def test_what_is_asked(
    agent: AgentName, tool: str, arguments: Any, wanted: tuple[str, int] | None
) -> None:
    found = asked_of(agent, tool, arguments, "/w")
    assert (found and (found.path, found.first)) == wanted


@pytest.mark.parametrize(
    ("mark", "text", "wanted"),
    [
        ("→|\t", "     9→a\n    10→ b\n\n<note>", [(9, "a"), (10, " b")]),
        ("→|\t", "9\ta\n10\tb", [(9, "a"), (10, "b")]),
        (r"\| |: ", "<file>\n00041| x\n00042| 7: y\n</file>", [(41, "x"), (42, "7: y")]),
        # An empty file, or an error: what was asked for is all that is known.
        ("→|\t", "nothing here", [(5, "nothing here")]),
        ("", "1. a\n2. b", [(5, "1. a"), (6, "2. b")]),
        ("", "cut\n--- FILE CONTENT (truncated) ---\na\nb", [(5, "a"), (6, "b")]),
    ],
)
def test_what_is_shown(mark: str, text: str, wanted: list[tuple[int, str]]) -> None:
    assert list(read_lines_of(Asked("/a", 5, mark), Shown(text))) == wanted


def test_the_whole_text_is_taken_where_the_log_keeps_it() -> None:
    shown = Shown("…", full="a\nb")
    assert list(read_lines_of(Asked("/a", 3), shown)) == [(3, "a"), (4, "b")]
