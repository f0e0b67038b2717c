"""How far lines are read, and which are worth it at all. It comes first: it imports nothing."""

from __future__ import annotations

import re

HEAD = 64 * 1024
MAX_LINE = 32 * 1024 * 1024
CHANGED_MARK = b"list_changed"
# Any escape may spell a letter of a method.
_WORTH = re.compile(rb"tools|cancelled|\\")


def may_be_read(line: bytes) -> bool:
    """The cheap question first: most lines are of other methods."""
    return _WORTH.search(line) is not None and line.lstrip(b" \t\r\n")[:1] == b"{"
