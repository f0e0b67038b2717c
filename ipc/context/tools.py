"""The six tools that agents are given: what they are said to do, and what each asks the engine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import Struct

from fabricd.core.context.asking import BUDGET, Refused

INSTRUCTIONS = (
    "Context of the code base within a budget of tokens: select first, show what a reference names."
)


class _Select(Struct, forbid_unknown_fields=True):
    query: str
    budget: int = BUDGET
    paths: tuple[str, ...] | str | None = None
    root: str | None = None


class _Show(Struct, forbid_unknown_fields=True):
    what: str
    budget: int = BUDGET
    root: str | None = None


class _Recover(Struct, forbid_unknown_fields=True):
    handle: str
    budget: int = BUDGET
    root: str | None = None


class _Explain(Struct, forbid_unknown_fields=True):
    receipt: str
    what: str
    root: str | None = None


class _Receipt(Struct, forbid_unknown_fields=True):
    receipt: str
    verify: bool = False
    root: str | None = None


class _Status(Struct, forbid_unknown_fields=True):
    root: str | None = None


_TEXT: dict[str, Any] = {"type": "string"}
_ROOT: dict[str, Any] = {"type": "string", "description": "directory, if not the current project"}
_BUDGET: dict[str, Any] = {"type": "integer", "default": BUDGET}


@dataclass(frozen=True)
class Tool:
    """A tool by the engine's method that it is, and the shape of its arguments."""

    method: str
    shape: type[Any]
    words: str
    properties: Mapping[str, dict[str, Any]]
    required: tuple[str, ...]

    def declared(self, name: str) -> dict[str, Any]:
        """As tools/list tells it."""
        schema: dict[str, Any] = {"type": "object", "properties": dict(self.properties)}
        if self.required:
            schema["required"] = list(self.required)
        return {
            "name": name,
            "description": self.words,
            "inputSchema": {**schema, "additionalProperties": False},
            "annotations": {"readOnlyHint": True},
        }


TOOLS: Mapping[str, Tool] = {
    "context_select": Tool(
        "select",
        _Select,
        "Find the code and text that a task is about. Use before reading or searching files: gives "
        "whole definitions with path:lines, skeletons, and references, within budget tokens.",
        {
            "query": {**_TEXT, "description": "the task, in words and names of symbols"},
            "budget": _BUDGET,
            "paths": {"type": "array", "items": _TEXT, "description": "only below these"},
            "root": _ROOT,
        },
        ("query",),
    ),
    "context_show": Tool(
        "show",
        _Show,
        "Show what is on disk now: a handle (cr_…#n) of a reference or skeleton, path, path:a-b, "
        "or a symbol.",
        {"what": _TEXT, "budget": _BUDGET, "root": _ROOT},
        ("what",),
    ),
    "context_recover": Tool(
        "recover",
        _Recover,
        "Give an item again in full as it was delivered, though its file has changed since.",
        {"handle": _TEXT, "budget": _BUDGET},
        ("handle",),
    ),
    "context_explain": Tool(
        "explain",
        _Explain,
        "Say why something was selected or left out of an answer (cr_…).",
        {"receipt": _TEXT, "what": {**_TEXT, "description": "handle, path, path:a-b or symbol"}},
        ("receipt", "what"),
    ),
    "context_receipt": Tool(
        "receipt",
        _Receipt,
        "Give an answer's receipt: items, omissions, certificate; verify checks it for changes.",
        {"receipt": _TEXT, "verify": {"type": "boolean", "default": False}},
        ("receipt",),
    ),
    "context_status": Tool(
        "status",
        _Status,
        "Tell what is indexed of the project, and what was skipped and why.",
        {"root": _ROOT},
        (),
    ),
}


class _Answer(Struct):
    text: str


class UnknownTool(ValueError):
    """Raised by `asked`: there is no such tool."""


def asked(name: str, arguments: bytes, cwd: str) -> tuple[str, bytes]:
    """The engine's method and parameters of a call.

    Args:
        cwd: the root where none is named, and what one that is relative is below.

    Raises:
        UnknownTool: see there.
        Refused: the arguments do not fit.
    """
    tool = TOOLS.get(name)
    if tool is None:
        raise UnknownTool(name)
    try:
        # Models write numbers as text: what they mean is beyond doubt.
        given = msgspec.json.decode(arguments, type=tool.shape, strict=False)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise Refused("usage", f"the arguments do not fit: {error}") from None
    params: dict[str, Any] = {
        key: value for key, value in msgspec.to_builtins(given).items() if value is not None
    }
    if isinstance(paths := params.get("paths"), str):
        params["paths"] = [paths]
    root = params.get("root")
    params["root"] = os.path.join(cwd, root) if root else cwd
    return tool.method, msgspec.json.encode(params)


def text_of(result: bytes) -> str:
    """What an agent reads of the engine's answer."""
    return msgspec.json.decode(result, type=_Answer).text


def listing(is_modern: bool) -> dict[str, Any]:
    """The result of tools/list."""
    found: dict[str, Any] = {"tools": [tool.declared(name) for name, tool in TOOLS.items()]}
    # They change with the daemon alone, and a client that is told so need not ask again.
    return {**found, "ttlMs": 3_600_000, "cacheScope": "public"} if is_modern else found


def error_words(refused: Refused) -> str:
    """A refusal as an agent reads it."""
    more = "" if refused.smallest is None else f"; smallest: {refused.smallest}"
    return f"{refused.message} (reason: {refused.reason}{more})"
