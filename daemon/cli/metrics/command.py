"""`fabricd metrics`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from fabricd.core.plain import is_object, printable
from fabricd.daemon.cli.asking import NOT_RUNNING, STALE
from fabricd.daemon.cli.metrics.exposition import rendered
from fabricd.daemon.cli.metrics.families import FAMILIES
from fabricd.daemon.cli.talk import Complaint, env, out, say

if TYPE_CHECKING:
    from fabricd.ipc.client import Reply


@click.command("metrics")
def command() -> int:
    """Print the running daemon's numbers as Prometheus text (version 0.0.4).

    Exits 3 when no daemon runs, 4 when it is of another version, or does not answer or listen.
    """
    out(rendered(FAMILIES, _numbers()))
    return 0


def _numbers() -> dict[str, Any]:
    from fabricd import __version__
    from fabricd.ipc import PROTOCOL
    from fabricd.store.addresses import SocketPathTooLong, socket_path

    try:
        path = socket_path(env())
    except SocketPathTooLong as error:
        raise Complaint(str(error), 78) from None
    reply = _asked(path) or _asked_elsewhere(path)
    if (reply.version, reply.protocol) != (__version__, PROTOCOL):
        raise Complaint(
            f"the running daemon needs a restart: it is version {reply.version} (protocol "
            f"{reply.protocol}), this command {__version__} (protocol {PROTOCOL}); "
            "replace it with: fabricd restart",
            STALE,
        )
    if not is_object(reply.result):
        raise Complaint("the running daemon answered with no numbers", STALE)
    return reply.result


def _asked(path: str) -> Reply | None:
    """What the daemon at a socket answers; None where nobody listens."""
    from fabricd.ipc.client import CallFailed, NoAnswer, NoDaemon, call

    try:
        return call(path, "metrics")
    except NoDaemon:
        return None
    except (NoAnswer, CallFailed) as error:
        raise Complaint(
            f"the daemon at {printable(path)} does not answer: {error}; replace it with: "
            "fabricd restart --force",
            STALE,
        ) from None


def _asked_elsewhere(path: str) -> Reply:
    """What the holder of the home answers where it listens, which is not at `path`."""
    from fabricd.daemon.cli.elsewhere import holding

    held = holding(env())
    if held is None:
        raise Complaint(
            f"no daemon runs (socket {printable(path)}); start one with: fabricd start", NOT_RUNNING
        )
    reply = None if held.socket is None else _asked(held.socket)
    if reply is None:
        raise Complaint(held.silence, STALE)
    if (words := held.differs(path)) is not None:
        say(words)
    return reply
