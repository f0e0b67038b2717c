"""What differs from what should be, in sentences: all of it at once, since a run is dear."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from tests.e2e.calls import Call
from tests.e2e.playing import Records
from tests.e2e.sdk import Answer
from tests.e2e.servers import Server

_MARK = b'"arguments":'


def outcomes(
    server: Server, bent: Sequence[Answer], proper: Sequence[Answer], found: Sequence[Answer]
) -> Iterator[str]:
    """Whether each call was answered as it should be.

    Args:
        bent: the direct answers to the malformed calls.
        proper: the direct answers to what the other calls mean.
        found: the answers through the gateway to all of them.
    """
    refusals, results = iter(bent), iter(proper)
    for call, answer in zip(server.calls, found, strict=True):
        refusal = next(refusals) if call.fate != "identical" else None
        wanted = refusal if call.fate == "refused" else next(results)
        assert wanted is not None
        if wanted.is_success != (call.fate != "refused" and call.kind != "own-error"):
            yield f"{_told(call)}: directly the server says {wanted.text}"
        if answer.is_success != wanted.is_success:
            yield f"{_told(call)}: through the gateway {answer.text[:300]}"
        elif answer != wanted and call.tool not in server.clocked:
            yield f"{_told(call)}: {answer.text[:300]} instead of {wanted.text[:300]}"


def arrivals(calls: Sequence[Call], records: Records) -> Iterator[str]:
    """Whether each line arrived as it should, and all that came back as it was."""
    before, behind = records.up("before"), records.up("behind")
    if len(before) != len(behind):
        yield f"{len(before)} lines were sent and {len(behind)} arrived"
        return
    pending = iter(calls)
    for sent, received in zip(before, behind, strict=True):
        call = next(pending) if json.loads(sent).get("method") == "tools/call" else None
        if call is None or call.fate != "repaired":
            if sent != received:
                yield f"{call and _told(call)}: {sent!r} arrived as {received!r}"
        else:
            yield from _repaired(call, sent, received)
    yield from (f"never sent: {_told(call)}" for call in pending)
    if records.down("before") != records.down("behind"):
        yield "the server's bytes were changed"


def _repaired(call: Call, sent: bytes, received: bytes) -> Iterator[str]:
    arguments = json.loads(received)["params"]["arguments"]
    if _canonical(arguments) != _canonical(call.proper):
        yield f"{_told(call)}: arrived as {json.dumps(arguments)}"
    if _around(sent) != _around(received):
        yield f"{_told(call)}: {sent!r} was changed outside of its arguments: {received!r}"
    for text in _containers(call.sent):
        # White space that would end the line is all that may differ.
        if text.replace("\n", " ").replace("\r", " ").encode() not in received:
            yield f"{_told(call)}: {text!r} did not arrive in its own bytes: {received!r}"


def passed_alike(records: Records) -> list[str]:
    """Whether every byte arrived, both ways."""
    faults: list[str] = []
    if records.up("before") != records.up("behind"):
        faults.append("the client's bytes were changed")
    if records.down("before") != records.down("behind"):
        faults.append("the server's bytes were changed")
    return faults


def logged(calls: Sequence[Call], records: Records) -> Iterator[str]:
    """Whether the gateway's own log tells of each call what became of it."""
    log = records.log()
    if len(log) != len(calls):
        yield f"the log has {len(log)} calls of {len(calls)}"
        return
    for call, record in zip(calls, log, strict=True):
        operation: dict[str, Any] = record["trace"]["operations"][0]
        found = (operation["outcome"], operation.get("failureStage"), "normalization" in operation)
        if found != _wanted(call):
            yield f"{_told(call)}: the log says {found} and not {_wanted(call)}"


def reported(calls: Sequence[Call], told: dict[str, Any]) -> Iterator[str]:
    """Whether a report counts what passed."""
    fates = [call.fate for call in calls]
    refused, repaired = fates.count("refused"), fates.count("repaired")
    own = sum(call.kind == "own-error" for call in calls)
    wanted = {
        "calls": len(calls),
        "succeeded": len(calls) - refused - own,
        "failed": refused + own,
        "rejected": refused,
        "repaired": {"calls": repaired, "saved": repaired},
    }
    found = {
        "calls": told.get("calls"),
        "succeeded": told.get("outcomes", {}).get("succeeded"),
        "failed": told.get("outcomes", {}).get("failed"),
        "rejected": told.get("rejections", {}).get("recorded", {}).get("rejected"),
        "repaired": told.get("repaired"),
    }
    if found != wanted:
        yield f"the report counts {found} and not {wanted}"


def _wanted(call: Call) -> tuple[str, str | None, bool]:
    if call.fate == "refused":
        stage = "resolve" if call.kind == "unknown-tool" else "validate"
        return "failed", stage, False
    if call.kind == "own-error":
        return "failed", "invoke", False
    return "succeeded", None, call.fate == "repaired"


def _around(line: bytes) -> tuple[bytes, bytes]:
    """What stands before and behind the arguments."""
    start = line.index(_MARK) + len(_MARK)
    text = line[start:].decode().lstrip()
    _, end = json.JSONDecoder().raw_decode(text)
    return line[:start], text[end:].encode().lstrip(b" \t")


def _containers(sent: object) -> Iterator[str]:
    """The texts of arrays and objects: every repaired call means them as such."""
    match sent:
        case str() if sent.lstrip()[:1] in ("[", "{"):
            yield sent
        case dict():
            for value in sent.values():
                yield from _containers(value)
        case list():
            for value in sent:
                yield from _containers(value)
        case _:
            pass


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def _told(call: Call) -> str:
    return f"{call.kind or 'proper'} {call.tool} {json.dumps(call.sent)[:200]}"
