"""Places in a schema: JSON pointers, and the local `$ref`s that lead to them."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from fabricd.core.plain import is_list, is_object


def step(at: str, *names: str | int) -> str:
    """The pointer of what lies below a place."""
    parts = (str(name).replace("~", "~0").replace("/", "~1") for name in names)
    return "/".join((at, *parts))


class References:
    """Where the `$ref`s of one document lead. Only local pointers are followed."""

    def __init__(self, root: dict[str, Any], draft: int) -> None:
        self._root = root
        # Below an identifier of its own a pointer starts elsewhere; such documents are rare.
        self._is_plain = not _has_inner_names(root, "id" if draft == 4 else "$id")

    def target(self, reference: str) -> tuple[str, object] | None:
        """The pointer and the schema that a reference names; None where it is not followed."""
        if not self._is_plain or not reference.startswith("#"):
            return None
        fragment = unquote(reference[1:])
        if fragment and not fragment.startswith("/"):
            return None
        found: object = self._root
        at = ""
        for token in fragment.split("/")[1:]:
            name = token.replace("~1", "/").replace("~0", "~")
            if is_object(found) and name in found:
                found = found[name]
            elif is_list(found) and _is_index(name) and int(name) < len(found):
                found = found[int(name)]
            else:
                return None
            at = step(at, name)
        return at, found


def _is_index(name: str) -> bool:
    return name.isascii() and name.isdigit() and len(name) < 9 and (name == "0" or name[0] != "0")


def _has_inner_names(root: dict[str, Any], word: str) -> bool:
    pending: list[object] = list(root.values())
    while pending:
        found = pending.pop()
        if is_object(found):
            if isinstance(found.get(word), str):
                return True
            pending.extend(found.values())
        elif is_list(found):
            pending.extend(found)
    return False
