"""A surface in its normal form: the snapshot that machines exchange, a function of the actions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from fabricd.core.canonical import as_given, string_text, text, utf8
from fabricd.core.compiling.compile import ordered_actions
from fabricd.core.javascript import number_text
from fabricd.core.model import Action, Surface
from fabricd.core.plain import is_list, is_object
from fabricd.core.steps import ACTIONS, Steps

MAX_ACTIONS = 1000


class Snapshot(Struct, frozen=True):
    """The bytes of a snapshot file; actions beyond the first 1,000 by ref are left out."""

    data: bytes
    actions: int
    beyond_limit: int


def snapshot_steps(surface: Surface) -> Steps[Snapshot]:
    """Write a surface by ref in code-unit order, yielding between actions.

    Of several actions with one name the first counts. Members other than ref and inputSchema are
    not part of a surface.
    """
    actions = ordered_actions(surface)
    listed: list[str] = []
    for action in actions[:MAX_ACTIONS]:
        listed.append("    " + _layout(_value(action), "    "))
        if len(listed) % ACTIONS == 0:
            yield
    rows = "[\n" + ",\n".join(listed) + "\n  ]" if listed else "[]"
    data = utf8(f'{{\n  "version": 1,\n  "actions": {rows}\n}}\n')
    return Snapshot(data, len(listed), len(actions) - len(listed))


def _value(action: Action) -> dict[str, Any]:
    if action.input_schema is None:
        return {"ref": action.ref}
    return {"ref": action.ref, "inputSchema": action.input_schema}


def _layout(value: object, indent: str) -> str:
    deeper = indent + "  "
    if is_object(value) and value:
        rows = [f"{string_text(name)}: {_layout(item, deeper)}" for name, item in value.items()]
        return _block("{}", rows, indent)
    if is_list(value) and value:
        return _block("[]", [_layout(item, deeper) for item in value], indent)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _exact(value)
    return text(value, as_given)


def _exact(number: float) -> str:
    """A number that reads back as itself: otherwise a bound would admit its neighbour."""
    if isinstance(number, int):
        return int.__repr__(number)
    host = number_text(number)
    if host.lstrip("-").isdigit() and int(host) != int(number):
        # The host pads a large double with zeros, which read as an integer are another number.
        return repr(number)
    return host


def _block(brackets: str, rows: Sequence[str], indent: str) -> str:
    inner = f",\n{indent}  ".join(rows)
    return f"{brackets[0]}\n{indent}  {inner}\n{indent}{brackets[1]}"
