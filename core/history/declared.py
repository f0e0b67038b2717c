"""Listings of tools, in the shapes that people have: the schema of each tool, by name.

Read are a Fabric surface, the result of MCP's `tools/list`, and a bare list of tools as the model
APIs take it. Whatever cannot be understood is refused as a whole: calls are judged by it later.
"""

from __future__ import annotations

from typing import Any

from fabricd.core.documents import BadDocument, strict_json
from fabricd.core.nesting import SCHEMA_LEVELS, value_deeper_than
from fabricd.core.plain import is_list, is_object
from fabricd.core.steps import finish
from fabricd.core.surface import surface_steps

__all__ = ["declared", "listed"]

# A reply with a result, its list, a tool and its function stand above a schema.
_LEVELS = SCHEMA_LEVELS + 5
_SCHEMAS = ("inputSchema", "input_schema", "parameters")
_EXPECTED = (
    'expected a Fabric surface (`{"version": 1, "actions": […]}`), a tools/list result '
    '(`{"tools": […]}`) or a list of tools'
)


def declared(data: bytes, prefix: str = "") -> dict[str, Any]:
    """The tools of a listing: the schema by name, None where a tool has none.

    Args:
        prefix: is put before every name.

    Raises:
        BadDocument: it is no listing. The message names the place and what was expected there.
    """
    value = strict_json(data, _LEVELS)
    if is_object(value) and is_object(value.get("result")):
        value = value["result"]
    if is_list(value):
        return listed(value, prefix, "")
    if is_object(value) and "tools" in value:
        return listed(value["tools"], prefix)
    if is_object(value) and "actions" in value:
        return _actions(data, prefix)
    raise BadDocument(f"{_EXPECTED}, found {_kind(value)}{_members(value)}")


def listed(tools: object, prefix: str = "", path: str = "tools") -> dict[str, Any]:
    """The tools of a decoded list. Of two equal ones one counts.

    Args:
        path: of the list, for messages.

    Raises:
        BadDocument: see `declared`.
    """
    if not is_list(tools):
        raise BadDocument(f"{path}: expected a list of tools, found {_kind(tools)}")
    found: dict[str, Any] = {}
    for index, tool in enumerate(tools):
        where = f"{path}[{index}]"
        name, schema = _tool(tool, where)
        if name in found and found[name] != schema:
            raise BadDocument(f"{where}: expected each name once, this one has another schema too")
        found[name] = schema
    return {prefix + name: schema for name, schema in found.items()}


def _tool(tool: object, where: str) -> tuple[str, Any]:
    if not is_object(tool):
        raise BadDocument(f"{where}: expected a tool, found {_kind(tool)}")
    is_function = tool.get("type") == "function"
    if is_function and "function" in tool:
        tool, where = tool["function"], f"{where}.function"
        if not is_object(tool):
            raise BadDocument(f"{where}: expected an object, found {_kind(tool)}")
    name = tool.get("name")
    if not isinstance(name, str) or not name:
        found = "an empty one" if name == "" else _kind(name)
        raise BadDocument(f"{where}.name: expected a name, found {found}")
    member = next((each for each in _SCHEMAS if each in tool), None)
    if member is None:
        # A function without parameters takes none, and nothing says what else it would refuse.
        if is_function:
            return name, None
        raise BadDocument(f"{where}: expected inputSchema, input_schema or parameters beside name")
    return name, _schema(tool[member], f"{where}.{member}")


def _schema(schema: object, where: str) -> Any:
    if not is_object(schema):
        raise BadDocument(f"{where}: expected a JSON Schema object, found {_kind(schema)}")
    if value_deeper_than(schema, SCHEMA_LEVELS):
        raise BadDocument(f"{where}: expected at most {SCHEMA_LEVELS} levels of nesting")
    return schema


def _actions(data: bytes, prefix: str) -> dict[str, Any]:
    schemas = finish(surface_steps(data)).schema_of()
    return {
        prefix + ref: None if schema is None else _schema(schema, f"actions, ref {ref[:80]}")
        for ref, schema in schemas.items()
    }


def _members(value: object) -> str:
    if not is_object(value):
        return ""
    return f" with {', '.join(list(value)[:5])[:120]}" if value else " without members"


def _kind(value: object) -> str:
    if value is None:
        return "nothing"
    words: dict[type, str] = {dict: "an object", list: "a list", str: "a text", bool: "a boolean"}
    return words.get(type(value), "a number")
