from __future__ import annotations

import json
from typing import Any

import pytest

from fabricd.ipc import PROTOCOL
from fabricd.ipc.protocol import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    OURS,
    PARSE_ERROR,
    NoParams,
    Request,
    RpcError,
    TurnEnd,
    decode_params,
    decode_request,
    error_reply,
    event_frame,
    reply,
)

VERSION = '1.2"3'


def refused(frame: bytes) -> int:
    with pytest.raises(RpcError) as caught:
        decode_request(frame)
    assert caught.value.message
    return caught.value.code


def with_params(params: bytes) -> Request:
    return decode_request(b'{"jsonrpc":"2.0","method":"turn_end","id":1,"params":' + params + b"}")


def test_codes_are_those_of_json_rpc_and_one_of_ours() -> None:
    codes = (PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, OURS)
    assert codes == (-32700, -32600, -32601, -32602, -32000)


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"{",
        b"hello",
        b'{"jsonrpc":"2.0","method":"status","id":1} more',
        b'{"jsonrpc":"2.0","method":"status","id":01}',
        b'{"jsonrpc":"2.0","method":"status","id":NaN}',
        b'\xef\xbb\xbf{"jsonrpc":"2.0","method":"status","id":1}',
    ],
)
def test_what_is_not_json_is_a_parse_error(frame: bytes) -> None:
    assert refused(frame) == PARSE_ERROR


@pytest.mark.parametrize(
    "frame",
    [
        b"\xff\xfe",
        b'{"jsonrpc":"2.0","id":1,"method":"\xff"}',
        b'{"jsonrpc":"2.0","id":"\xff","method":"status"}',
        b'{"jsonrpc":"2.0","id":1,"method":"status","params":{"x":"\xff"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"status","\xff":1}',
    ],
)
def test_bytes_that_are_not_utf8_are_a_parse_error_wherever_they_stand(frame: bytes) -> None:
    assert refused(frame) == PARSE_ERROR


@pytest.mark.parametrize(
    "frame",
    [
        b"{}",
        b"null",
        b'"status"',
        b"5",
        b'{"method":"status","id":1}',
        b'{"jsonrpc":"1.0","method":"status","id":1}',
        b'{"jsonrpc":2.0,"method":"status","id":1}',
        b'{"jsonrpc":"2.0","id":1}',
        b'{"jsonrpc":"2.0","method":7,"id":1}',
        b'{"jsonrpc":"2.0","method":null,"id":1}',
    ],
)
def test_json_that_is_no_request_is_invalid(frame: bytes) -> None:
    assert refused(frame) == INVALID_REQUEST


@pytest.mark.parametrize("request_id", [b"true", b"false", b"{}", b"[]", b"[1]", b'{"a":1}'])
def test_an_id_is_a_string_a_number_or_null(request_id: bytes) -> None:
    frame = b'{"jsonrpc":"2.0","method":"status","id":  ' + request_id + b"}"
    assert refused(frame) == INVALID_REQUEST


@pytest.mark.parametrize(
    "frame", [b"[]", b"[1]", b'  [{"jsonrpc":"2.0","method":"status","id":1}]']
)
def test_a_batch_is_refused_by_name(frame: bytes) -> None:
    with pytest.raises(RpcError, match="batch") as caught:
        decode_request(frame)
    assert caught.value.code == INVALID_REQUEST


def test_nesting_is_bounded_before_any_decoder_sees_it() -> None:
    def nested(levels: int) -> bytes:
        inner = b"[" * (levels - 1) + b"]" * (levels - 1)
        return b'{"jsonrpc":"2.0","method":"status","id":1,"x":' + inner + b"}"

    assert decode_request(nested(512)).method == "status"
    assert refused(nested(513)) == PARSE_ERROR
    assert refused(b"[" * 500_000) == PARSE_ERROR
    brackets_in_text = b'{"jsonrpc":"2.0","method":"' + b"[" * 600 + b'","id":1}'
    assert decode_request(brackets_in_text).method == "[" * 600


@pytest.mark.parametrize(
    "request_id",
    [
        b"0",
        b"-0",
        b"7",
        b"1.50",
        b"1E5",
        b"1e400",
        b"123456789012345678901234567890123456789",
        b'""',
        b'"a b"',
        '"é 😀"'.encode(),
        b'"\\u00e9\\/\\n"',
        b"null",
    ],
)
def test_an_id_comes_back_byte_for_byte(request_id: bytes) -> None:
    request = decode_request(
        b'{ "id" : ' + request_id + b' , "jsonrpc":"2.0", "method":"status" }\r'
    )
    assert not request.is_notification
    for answer in (
        reply(VERSION, request, b'{"ok":1}'),
        error_reply(VERSION, request, RpcError(OURS, "no", "failed")),
    ):
        assert b'"id":' + request_id + b"," in answer


def test_a_request_without_id_is_a_notification() -> None:
    assert decode_request(b'{"jsonrpc":"2.0","method":"turn_end"}').is_notification
    assert not decode_request(b'{"jsonrpc":"2.0","method":"turn_end","id":null}').is_notification


@pytest.mark.parametrize("params", [b"[]", b'["claude"]', b"null", b"5", b'"x"', b'{"cwd":5}'])
def test_params_that_are_positional_or_do_not_fit_are_invalid(params: bytes) -> None:
    with pytest.raises(RpcError) as caught:
        decode_params(with_params(params), TurnEnd)
    assert caught.value.code == INVALID_PARAMS


def test_params_may_be_missing_partial_or_have_members_of_a_later_version() -> None:
    bare = decode_request(b'{"jsonrpc":"2.0","method":"turn_end","id":1}')
    assert decode_params(bare, TurnEnd) == TurnEnd()
    found = decode_params(with_params(b'{"cwd":"/repo","later":[1]}'), TurnEnd)
    assert found == TurnEnd(cwd="/repo")
    assert decode_params(with_params(b"{}"), NoParams) == NoParams()


def test_every_frame_is_one_line_with_version_and_protocol() -> None:
    request = decode_request(b'{"jsonrpc":"2.0","method":"status","id":3}')
    frames = [
        reply(VERSION, request, b'{"ok":1}'),
        error_reply(VERSION, request, RpcError(METHOD_NOT_FOUND, "a\nb")),
        error_reply(VERSION, None, RpcError(PARSE_ERROR, "\ud800 é")),
        event_frame(VERSION, "compiled", {"text": "a\nb\ud800"}),
    ]
    for frame in frames:
        assert frame.endswith(b"\n") and frame.count(b"\n") == 1
        found: dict[str, Any] = json.loads(frame)
        assert (found["jsonrpc"], found["version"]) == ("2.0", VERSION)
        assert found["protocol"] == PROTOCOL


def test_shapes_of_result_error_and_event() -> None:
    request = decode_request(b'{"jsonrpc":"2.0","method":"status","id":3}')
    envelope = {"jsonrpc": "2.0", "version": VERSION, "protocol": PROTOCOL}
    assert json.loads(reply(VERSION, request, b'{"ok":[1]}')) == {
        **envelope,
        "id": 3,
        "result": {"ok": [1]},
    }
    assert json.loads(error_reply(VERSION, None, RpcError(OURS, "full", "busy"))) == {
        **envelope,
        "id": None,
        "error": {"code": -32000, "message": "full", "data": {"reason": "busy"}},
    }
    without_reason = json.loads(error_reply(VERSION, request, RpcError(INVALID_PARAMS, "no")))
    assert without_reason["error"] == {"code": -32602, "message": "no"}
    assert json.loads(event_frame(VERSION, "compiled", {"plans": 3})) == {
        **envelope,
        "method": "event",
        "params": {"event": "compiled", "plans": 3},
    }
