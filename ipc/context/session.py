"""One attached agent: its MCP messages answered, calls side by side, none held up by another."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import anyio
from anyio.abc import TaskGroup
from msgspec import MsgspecError, Struct

from fabricd.core.context.asking import Refused
from fabricd.ipc.connection import Connection, FrameTooLarge
from fabricd.ipc.context.messages import (
    McpError,
    Message,
    at_once,
    call_of,
    cancelled_by,
    error_line,
    is_modern,
    message_of,
    result_line,
    stamped,
    told,
)
from fabricd.ipc.context.tools import UnknownTool, asked, error_words, text_of
from fabricd.ipc.protocol import INVALID_PARAMS, INVALID_REQUEST

AT_ONCE = 8
MAX_GARBAGE = 100

# Answers a method of the engine, JSON to JSON; raises Refused.
Ask = Callable[[str, bytes], Awaitable[bytes]]


class Attach(Struct, frozen=True):
    """What a relay says of its agent: the directory that it works in, and the relay's protocol."""

    cwd: str
    protocol: int = 0


@dataclass(eq=False)
class Session:
    """A conversation with one agent, for as long as that stays."""

    connection: Connection
    ask: Ask
    cwd: str
    version: str
    _calls: dict[bytes, anyio.CancelScope] = field(default_factory=dict[bytes, anyio.CancelScope])
    _sending: anyio.Lock = field(default_factory=anyio.Lock)
    _all: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    async def run(self) -> None:
        """Answer until the agent leaves."""
        with self._all:
            async with anyio.create_task_group() as group:
                await self._listen(group)
                # It may have closed one direction alone, and wait for its answers.
                await self.connection.until_hung_up(lambda: not self._calls)
                group.cancel_scope.cancel()

    async def _listen(self, group: TaskGroup) -> None:
        garbage = 0
        while garbage < MAX_GARBAGE:
            try:
                line = await self.connection.line()
            except FrameTooLarge as error:
                await self._send(error_line(None, McpError(INVALID_REQUEST, str(error))))
                await self.connection.drain()
                return
            if line is None:
                return
            if not line.strip():
                continue
            try:
                message = message_of(line)
            except McpError as error:
                garbage += 1
                await self._send(error_line(None, error))
                continue
            garbage = 0
            await self._take(message, group)
        self.connection.cut = "garbage"

    async def _take(self, message: Message, group: TaskGroup) -> None:
        key = message.key
        if message.method == "notifications/cancelled":
            self._call_off(cancelled_by(message))
        if key is None or message.method is None:
            return
        try:
            modern = is_modern(message)
            if message.method != "tools/call":
                await self._send(result_line(key, at_once(message, modern, self.version)))
            elif key in self._calls:
                raise McpError(INVALID_REQUEST, "a request of this id is being answered")
            elif len(self._calls) >= AT_ONCE:
                refused = Refused("busy", f"{AT_ONCE} calls are being answered; wait for one")
                await self._send(self._refusal(key, refused, modern))
            else:
                self._calls[key] = anyio.CancelScope()
                group.start_soon(self._call, message, key, modern)
        except McpError as error:
            await self._send(error_line(key, error))

    def _call_off(self, key: bytes | None) -> None:
        if key in self._calls:
            self._calls[key].cancel()

    async def _call(self, message: Message, key: bytes, modern: bool) -> None:
        line: bytes | None = None
        with self._calls[key]:
            try:
                line = await self._answered(message, key, modern)
            except McpError as error:
                line = error_line(key, error)
        del self._calls[key]
        # Whoever has called it off expects no answer; once it is begun a line is sent whole.
        if line is not None:
            await self._send(line)

    async def _answered(self, message: Message, key: bytes, modern: bool) -> bytes:
        call = call_of(message)
        try:
            method, params = asked(call.name, bytes(call.arguments), self.cwd)
            text = text_of(await self.ask(method, params))
        except UnknownTool:
            raise McpError(INVALID_PARAMS, f"there is no tool {call.name[:64]}") from None
        except Refused as refused:
            return self._refusal(key, refused, modern)
        except MsgspecError:
            without = Refused("failed", "the answer cannot be shown as text")
            return self._refusal(key, without, modern)
        return result_line(key, stamped(told(text), modern, self.version))

    def _refusal(self, key: bytes, refused: Refused, modern: bool) -> bytes:
        result = told(error_words(refused), is_error=True)
        return result_line(key, stamped(result, modern, self.version))

    async def _send(self, line: bytes) -> None:
        async with self._sending:
            if not await self.connection.send(line):
                self._all.cancel()
