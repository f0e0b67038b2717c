"""The official SDK as a client. It is installed for these tests alone, so it is loaded by name."""

from __future__ import annotations

import importlib
import importlib.util
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SECONDS = 20.0


@dataclass(frozen=True)
class Answer:
    """What a client was given for a call: a result or an error, as canonical JSON text."""

    is_success: bool
    text: str


class Client:
    """A connected client that has read the whole listing, as agents do before they call."""

    def __init__(self, connected: Any, changes: list[str]) -> None:
        self._connected = connected
        self._changes = changes
        self._types: Any = importlib.import_module("mcp.types")
        self._errors: Any = importlib.import_module("mcp.shared.exceptions")

    @property
    def own(self) -> Any:
        """The SDK's own client, for what is not a plain call."""
        return self._connected

    @property
    def protocol(self) -> str:
        """The version that both sides agreed on."""
        return str(self._connected.protocol_version)

    async def tools(self) -> list[str]:
        """The names of all declared tools, page by page, until none is said to have changed."""
        while True:
            self._changes.clear()
            names = await self._pages()
            if not self._changes:
                return names

    async def _pages(self) -> list[str]:
        names: list[str] = []
        cursor: str | None = None
        while True:
            page = await self._connected.list_tools(cursor=cursor, cache_mode="refresh")
            names += [tool.name for tool in page.tools]
            cursor = page.next_cursor
            if not cursor:
                return names

    async def call(self, tool: str, arguments: object) -> Answer:
        """Call a tool with arguments of any shape."""
        try:
            if isinstance(arguments, dict):
                result = await self._connected.session.call_tool(tool, arguments, SECONDS)
            else:
                result = await self._raw(tool, arguments)
        except self._errors.MCPError as error:
            told = error.error.model_dump(mode="json", by_alias=True, exclude_none=True)
            return Answer(False, _text({"error": told}))
        told = result.model_dump(mode="json", by_alias=True, exclude_none=True)
        return Answer(not result.is_error, _text({"result": told}))

    async def _raw(self, tool: str, arguments: object) -> Any:
        # The typed request takes an object alone; what models send as text needs the general one.
        request = self._types.Request[dict[str, Any], str](
            method="tools/call", params={"name": tool, "arguments": arguments}
        )
        session = self._connected.session
        return await session.send_request(request, self._types.CallToolResult, SECONDS)


@asynccontextmanager
async def connected(
    command: Sequence[str], env: Mapping[str, str], errors: Path, **options: object
) -> AsyncGenerator[Client]:
    """A client of a server that is started for it; its stderr goes to a file.

    Args:
        options: of the SDK's client.
    """
    stdio: Any = importlib.import_module("mcp.client.stdio")
    sdk: Any = importlib.import_module("mcp")
    asked = stdio.StdioServerParameters(
        command=command[0], args=list(command[1:]), env=dict(env), cwd=str(errors.parent)
    )
    changes: list[str] = []

    async def heard(message: Any) -> None:
        if getattr(message, "method", None) == "notifications/tools/list_changed":
            changes.append(message.method)

    with errors.open("w") as log:
        transport = stdio.stdio_client(asked, errlog=log)
        given = {"read_timeout_seconds": SECONDS, "message_handler": heard, **options}
        async with sdk.Client(transport, **given) as client:
            yield Client(client, changes)


def is_installed() -> bool:
    """Whether the SDK can be had in this environment."""
    return importlib.util.find_spec("mcp") is not None


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
