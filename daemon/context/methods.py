"""The context methods of the control socket: handed to the worker as they come."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import msgspec
from msgspec import Raw

from fabricd.core.context.asking import Refused
from fabricd.daemon.context.attendant import Attendant
from fabricd.daemon.context.contract import METHODS
from fabricd.ipc.connection import Connection
from fabricd.ipc.context.session import Attach, Session
from fabricd.ipc.protocol import OURS, NoParams, RpcError
from fabricd.ipc.server import Answer, Attached, Method

_PREFIX = "context."
# Most who ask wait in the attendant's queue; these bounds leave places for everybody else.
_AT_ONCE = 16


def context_methods(attendant: Attendant) -> Mapping[str, Method]:
    """`context.select` and its siblings, and `context.progress`, which never waits."""
    found = {
        f"{_PREFIX}{name}": Method(Raw, _answer(attendant, name), _AT_ONCE, watches=True)
        for name in METHODS
    }
    return {**found, f"{_PREFIX}progress": Method(NoParams, partial(_progress, attendant))}


def _answer(attendant: Attendant, name: str) -> Answer:
    async def answer(params: Raw) -> bytes:
        try:
            return await attendant.ask(name, bytes(params) or b"{}")
        except Refused as refused:
            raise rpc_error(refused) from None

    return answer


async def _progress(attendant: Attendant, _: NoParams) -> bytes:
    return msgspec.json.encode({"progress": attendant.progress})


def rpc_error(refused: Refused) -> RpcError:
    """A refusal as the control socket sends it."""
    more = {} if refused.smallest is None else {"smallest": refused.smallest}
    return RpcError(OURS, refused.message, refused.reason, more)


def attached_methods(attendant: Attendant, version: str) -> Mapping[str, Attached]:
    """`mcp.attach`: from then on the connection speaks MCP."""

    async def converse(attach: Attach, connection: Connection) -> None:
        await Session(connection, attendant.ask, attach.cwd, version).run()

    return {"mcp.attach": Attached(Attach, converse)}
