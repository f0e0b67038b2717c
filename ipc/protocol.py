"""The wire: newline-delimited JSON-RPC 2.0, its bounds and its errors.

Every reply also carries `version` and `protocol` beside the members of JSON-RPC, so that a client
knows whom it talks to before it reads a result.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from fabricd.core.nesting import RECORD_LEVELS, deeper_than
from fabricd.ipc import PROTOCOL

MAX_FRAME = 1024 * 1024

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
OURS = -32000


class RpcError(Exception):
    """An error that is sent to the client. `reason` is a word of ours, stable across versions.

    `more` stands beside it in the error's data.
    """

    def __init__(
        self,
        code: int,
        message: str,
        reason: str | None = None,
        more: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.reason = reason
        self.more = more or {}


class Request(Struct, frozen=True):
    """One call. Without an id it is a notification, which is never answered."""

    jsonrpc: str
    method: str
    id: Raw | UnsetType = UNSET
    params: Raw | UnsetType = UNSET

    @property
    def is_notification(self) -> bool:
        """Whether no reply is expected."""
        return self.id is UNSET


class TurnEnd(Struct, frozen=True):
    """What a hook tells: a turn of some agent has ended. Every member may be missing."""

    agent: str | None = None
    session: str | None = None
    transcript_path: str | None = None
    cwd: str | None = None


class RepairAsk(Struct, frozen=True):
    """What a hook asks before a tool is called: may these arguments be repaired, and how?"""

    agent: str = ""
    tool: str = ""
    arguments: Raw = Raw(b"null")


class NoParams(Struct, frozen=True):
    """The parameters of a method that takes none."""


_REQUEST = msgspec.json.Decoder(Request)


def decode_request(frame: bytes) -> Request:
    """The request in a frame.

    Raises:
        RpcError: the frame is no JSON, a batch, or no request.
    """
    if deeper_than(frame, RECORD_LEVELS):
        raise RpcError(PARSE_ERROR, f"the frame nests more than {RECORD_LEVELS} levels deep")
    try:
        # The decoder passes over members it does not know without looking into their texts.
        frame.decode("utf-8")
        request = _REQUEST.decode(frame)
    except msgspec.ValidationError:
        if frame.lstrip()[:1] == b"[":
            raise RpcError(INVALID_REQUEST, "batches are not supported") from None
        raise RpcError(
            INVALID_REQUEST, "expected an object with jsonrpc, method and, for a reply, id"
        ) from None
    except UnicodeDecodeError:
        raise RpcError(PARSE_ERROR, "the frame is not UTF-8") from None
    except msgspec.DecodeError:
        raise RpcError(PARSE_ERROR, "the frame is not JSON") from None
    if request.jsonrpc != "2.0":
        raise RpcError(INVALID_REQUEST, 'expected jsonrpc "2.0"')
    if not _is_id(request.id):
        raise RpcError(INVALID_REQUEST, "expected an id that is a string, a number or null")
    return request


def _is_id(found: Raw | UnsetType) -> bool:
    return found is UNSET or bytes(found)[:1] not in (b"{", b"[", b"t", b"f")


def decode_params(request: Request, shape: type[Any]) -> Any:
    """The parameters of a request as `shape`; a missing member is its default.

    Raises:
        RpcError: they do not fit. Positional parameters are not supported.
    """
    if request.params is UNSET:
        return shape()
    try:
        return msgspec.json.decode(request.params, type=shape)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise RpcError(INVALID_PARAMS, f"the parameters do not fit: {error}") from None


def _envelope(version: str, request_id: bytes, member: str, value: bytes) -> bytes:
    head = f'{{"jsonrpc":"2.0","version":{json.dumps(version)},"protocol":{PROTOCOL},'
    return head.encode() + b'"id":' + request_id + f',"{member}":'.encode() + value + b"}\n"


def reply(version: str, request: Request, result: bytes) -> bytes:
    """The frame of a result that is already JSON."""
    request_id = b"null" if request.id is UNSET else bytes(request.id)
    return _envelope(version, request_id, "result", result)


def error_reply(version: str, request: Request | None, error: RpcError) -> bytes:
    """The frame of an error."""
    body: dict[str, object] = {"code": error.code, "message": error.message}
    if error.reason is not None:
        body["data"] = {"reason": error.reason, **error.more}
    request_id = b"null"
    if request is not None and request.id is not UNSET:
        request_id = bytes(request.id)
    return _envelope(version, request_id, "error", _compact(body))


def event_frame(version: str, name: str, fields: dict[str, object]) -> bytes:
    """The frame of an event sent to a subscriber."""
    body: dict[str, object] = {
        "jsonrpc": "2.0",
        "version": version,
        "protocol": PROTOCOL,
        "method": "event",
        "params": {"event": name, **fields},
    }
    return _compact(body) + b"\n"


def _compact(body: dict[str, object]) -> bytes:
    return json.dumps(body, separators=(",", ":")).encode()
