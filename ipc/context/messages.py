"""MCP messages as this server reads and writes them: the handshake of older versions, and none."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from fabricd.core.nesting import RECORD_LEVELS, deeper_than
from fabricd.core.plain import is_object
from fabricd.ipc.context.tools import INSTRUCTIONS, listing
from fabricd.ipc.protocol import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR

MODERN = ("2026-07-28",)
OLDER = ("2025-11-25", "2025-06-18", "2024-11-05")
# It has batches, which no version before or after it has: whoever asks for it is offered the next.
_WITH_BATCHES = "2025-03-26"
_AFTER_BATCHES = "2025-06-18"
UNSUPPORTED_VERSION = -32022
_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_SERVER_KEY = "io.modelcontextprotocol/serverInfo"
_EMPTY = Raw(b"{}")


class McpError(Exception):
    """An error of the protocol itself; what a tool refuses is a result."""

    def __init__(self, code: int, message: str, data: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class Message(Struct, frozen=True):
    """One message. Without a method it is an answer, which nobody here has asked for."""

    id: Raw | UnsetType = UNSET
    method: str | None = None
    params: Raw = _EMPTY

    @property
    def key(self) -> bytes | None:
        """What tells a request from others; None for a notification."""
        return None if self.id is UNSET else bytes(self.id)


class Call(Struct, frozen=True):
    """The parameters of tools/call."""

    name: str
    arguments: Raw = _EMPTY


class _Cancelled(Struct, frozen=True):
    request_id: Raw = msgspec.field(name="requestId", default=Raw(b"null"))


class _Initialize(Struct, frozen=True):
    version: str = msgspec.field(name="protocolVersion", default="")


class _Meta(Struct, frozen=True):
    version: str | None = msgspec.field(name=_VERSION_KEY, default=None)


class _Params(Struct, frozen=True):
    meta: _Meta | None = msgspec.field(name="_meta", default=None)


def message_of(line: bytes) -> Message:
    """The message in a line.

    Raises:
        McpError: it is none.
    """
    if deeper_than(line, RECORD_LEVELS):
        raise McpError(PARSE_ERROR, f"the message nests more than {RECORD_LEVELS} levels deep")
    try:
        line.decode("utf-8")
        found = msgspec.json.decode(line, type=Message)
    except msgspec.ValidationError:
        raise McpError(INVALID_REQUEST, "expected one JSON-RPC message") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise McpError(PARSE_ERROR, "the message is not JSON") from None
    # A mere answer may have the id null: it is one to what could not be read.
    unfit = b"{[tf" if found.method is None else b"{[tfn"
    if found.id is not UNSET and bytes(found.id)[:1] in unfit:
        raise McpError(INVALID_REQUEST, "expected an id that is a string or a number")
    return found


def is_modern(message: Message) -> bool:
    """Whether a request names its version itself, as there is no handshake any more.

    Raises:
        McpError: it names one that is not spoken here.
    """
    try:
        meta = msgspec.json.decode(message.params, type=_Params).meta
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return False
    if meta is None or meta.version is None:
        return False
    if meta.version not in MODERN:
        data = {"supported": list(MODERN), "requested": meta.version[:64]}
        raise McpError(UNSUPPORTED_VERSION, "this protocol version is not spoken here", data)
    return True


def call_of(message: Message) -> Call:
    """The call of a tools/call.

    Raises:
        McpError: it is none.
    """
    try:
        call = msgspec.json.decode(message.params, type=Call)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise McpError(INVALID_PARAMS, f"the parameters do not fit: {error}") from None
    return Call(call.name) if bytes(call.arguments) == b"null" else call


def cancelled_by(message: Message) -> bytes | None:
    """The request that a notification calls off."""
    try:
        return bytes(msgspec.json.decode(message.params, type=_Cancelled).request_id)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def at_once(message: Message, modern: bool, version: str) -> dict[str, Any]:
    """The result of a request that is no call.

    Raises:
        McpError: there is no such method.
    """
    server = {"name": "fabricd", "version": version}
    capabilities: dict[str, Any] = {"tools": {}}
    match message.method:
        case "tools/list":
            result = listing(modern)
        case "server/discover":
            result = {
                "supportedVersions": [*MODERN],
                "capabilities": capabilities,
                "instructions": INSTRUCTIONS,
                "ttlMs": 3_600_000,
                "cacheScope": "public",
            }
        case "initialize" if not modern:
            return {
                "protocolVersion": _agreed(message),
                "capabilities": capabilities,
                "serverInfo": server,
                "instructions": INSTRUCTIONS,
            }
        case "ping":
            result = {}
        case method:
            raise McpError(METHOD_NOT_FOUND, f"there is no method {(method or '')[:64]}")
    return stamped(result, modern, version)


def stamped(result: dict[str, Any], modern: bool, version: str) -> dict[str, Any]:
    """A result with what the newer protocol wants beside it."""
    if not modern:
        return result
    meta = {_SERVER_KEY: {"name": "fabricd", "version": version}}
    return {**result, "resultType": "complete", "_meta": meta}


def _agreed(message: Message) -> str:
    try:
        wanted = msgspec.json.decode(message.params, type=_Initialize).version
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise McpError(INVALID_PARAMS, "expected protocolVersion to be a string") from None
    if wanted == _WITH_BATCHES:
        return _AFTER_BATCHES
    return wanted if wanted in OLDER else OLDER[0]


def told(text: str, is_error: bool = False) -> dict[str, Any]:
    """The result of a call: one text."""
    result: dict[str, Any] = {"content": [{"type": "text", "text": text}]}
    return {**result, "isError": True} if is_error else result


def result_line(key: bytes, result: dict[str, Any]) -> bytes:
    """The reply to a request. Its first members are `jsonrpc` and `id`: the relay goes by them."""
    return _line(key, "result", result)


def error_line(key: bytes | None, error: McpError) -> bytes:
    """The reply to a request that is none, or that the protocol does not know."""
    body: dict[str, Any] = {"code": error.code, "message": error.message}
    if is_object(error.data):
        body["data"] = error.data
    return _line(key or b"null", "error", body)


def _line(key: bytes, member: str, value: dict[str, Any]) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    data = text.encode("utf-8", "replace")
    return b'{"jsonrpc":"2.0","id":%b,"%b":%b}\n' % (key, member.encode(), data)
