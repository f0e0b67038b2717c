"""Why a run behind a URL cannot go on: what was found, and what can be done."""

from __future__ import annotations

from fabricd.ipc.gateway.events import LIMIT
from fabricd.ipc.gateway.posted import Posted

TOO_LONG = (
    f"the server's answer is longer than {LIMIT >> 20} MiB, the most that is taken from a URL: "
    "ask it for less, or wrap it as a command"
)


class Failed(Exception):
    """The run cannot go on. The message is the sentence."""


def no_reply(line: Posted, found: str) -> str:
    """A request gets no reply."""
    first, *more = list(line.waiting.values()) or ["what was asked"]
    others = f" and {len(more)} more" if more else ""
    return f"no reply to {first}{others}: {found}"


def refusal(status: int, has_session: bool) -> str:
    """An HTTP status that came without a message."""
    if status in (401, 403):
        return (
            f"the server refuses us ({status}): servers that want OAuth cannot be wrapped; "
            "where a token is enough, give it with --header NAME=$VARIABLE"
        )
    if 300 <= status < 400:
        return f"the server has moved ({status}): give the address it moved to"
    if status == 404 and has_session:
        return "the server knows this session no more (404): start the client again"
    return (
        f"the server answers with HTTP {status} and no message: "
        "see whether the address is the one for streamable HTTP"
    )


def compressed(coding: str) -> str:
    """A body in a coding."""
    return (
        f"the server's answer is compressed ({coding}), which we did not ask for: "
        "turn compression off for this address"
    )


def other_message(status: int, has_session: bool) -> str:
    """A message came, and it answers something else."""
    if status == 404 and has_session:
        return refusal(status, has_session)
    return (
        f"the server's message (HTTP {status}) names no request of this line: "
        "start the client again, and ask who runs the server"
    )


def no_message(status: int, kind: str, data: bytes, broke: str | None) -> str:
    """A body came that is no message."""
    if broke is not None:
        return f"the server's answer broke off ({broke}): start the client again"
    if not data.strip():
        return (
            f"the server answers with HTTP {status} and nothing in it: "
            "see whether the address is the one for streamable HTTP"
        )
    if kind == "application/json":
        return f"the server's answer ({kind}) is no JSON-RPC message: ask who runs the server"
    return (
        f"the server's answer ({kind or 'no content type'}) is no JSON-RPC message: "
        "see whether the address is that of an MCP server"
    )


def ended_early(broke: str | None, tries: int) -> str:
    """A stream ended, or broke off, and could not be gone on with."""
    how = "ended its stream" if broke is None else f"broke off ({broke})"
    again = "start the client again"
    if tries:
        return f"the server {how}, and {tries} tries to go on with it brought nothing: {again}"
    return f"the server {how}, and gave no event id to go on from: {again}"


def not_resumed(status: int) -> str:
    """A stream ended, and the server refuses to go on with it."""
    return f"the server does not go on with its stream (HTTP {status}): start the client again"
