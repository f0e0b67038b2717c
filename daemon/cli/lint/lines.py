"""On which line of a listing a finding's place stands, for those who show it there."""

from __future__ import annotations

from collections.abc import Iterator

from fabricd.core.jsontext.reading import BadText, Box, Document, Entry, Node, Scalar, read

_LISTS = ("tools", "actions")
_NAMES = ("name", "ref")
_SCHEMAS = ("inputSchema", "input_schema", "parameters")
# A larger listing is not read a second time.
_MAX_BYTES = 4 * 1024 * 1024


class Lines:
    """The lines of one listing; none where it cannot be read with its places."""

    def __init__(self, data: bytes) -> None:
        self._schemas: dict[str, Node] = {}
        self._text = ""
        if len(data) <= _MAX_BYTES:
            try:
                document = read(data.decode())
            except (BadText, UnicodeDecodeError):
                return
            self._text = document.text
            self._schemas = dict(_schemas(document))

    def line_of(self, tool: str, pointer: str) -> int | None:
        """The line, from 1 on, of a place in the schema of a tool, or of what encloses it."""
        node = self._schemas.get(tool)
        if node is None:
            return None
        for step in pointer.split("/")[1:]:
            inner = _step(node, step.replace("~1", "/").replace("~0", "~"))
            if inner is None:
                break
            node = inner
        return self._text.count("\n", 0, node.start) + 1


def _schemas(document: Document) -> Iterator[tuple[str, Node]]:
    root = document.root
    if (result := _member(root, "result")) is not None:
        root = result
    listed = root
    for member in _LISTS:
        if (found := _member(root, member)) is not None:
            listed = found
    for entry in _entries(listed):
        function = _member(entry.node, "function")
        tool = entry.node if function is None else function
        called = [_text_of(_member(tool, each)) for each in _NAMES]
        schemas = [_member(tool, each) for each in _SCHEMAS]
        word = next((each for each in called if each is not None), None)
        if word is not None:
            yield word, next((each for each in schemas if each is not None), tool)


def _entries(node: Node) -> tuple[Entry, ...]:
    return node.entries if isinstance(node, Box) else ()


def _member(node: Node, name: str) -> Node | None:
    # Of doubled names the last counts, as for whoever reads the listing.
    found = [entry.node for entry in _entries(node) if entry.name == name]
    return found[-1] if found else None


def _step(node: Node, step: str) -> Node | None:
    if isinstance(node, Box) and not node.is_object:
        known = step.isdecimal() and int(step) < len(node.entries)
        return node.entries[int(step)].node if known else None
    return _member(node, step)


def _text_of(node: Node | None) -> str | None:
    return node.value if isinstance(node, Scalar) and isinstance(node.value, str) else None
