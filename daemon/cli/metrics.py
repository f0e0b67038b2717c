"""`fabricd metrics`."""

from __future__ import annotations

from typing import Any

import click

from fabricd.core.plain import is_object, printable
from fabricd.daemon.cli.asking import NOT_RUNNING, STALE
from fabricd.daemon.cli.exposition import rendered
from fabricd.daemon.cli.metric_families import FAMILIES
from fabricd.daemon.cli.talk import Complaint, env, out


@click.command("metrics")
def command() -> int:
    """Print the running daemon's numbers as Prometheus text (version 0.0.4).

    Exits 3 when no daemon runs, 4 when it is of another version or does not answer.
    """
    out(rendered(FAMILIES, _numbers()))
    return 0


def _numbers() -> dict[str, Any]:
    from fabricd import __version__
    from fabricd.ipc import PROTOCOL
    from fabricd.ipc.client import CallFailed, NoAnswer, NoDaemon, call
    from fabricd.store.addresses import SocketPathTooLong, socket_path

    try:
        path = socket_path(env())
    except SocketPathTooLong as error:
        raise Complaint(str(error), 78) from None
    try:
        reply = call(path, "metrics")
    except NoDaemon:
        raise Complaint(
            f"no daemon runs (socket {printable(path)}); start one with: fabricd start", NOT_RUNNING
        ) from None
    except (NoAnswer, CallFailed) as error:
        raise Complaint(
            f"the daemon at {printable(path)} does not answer: {error}", STALE
        ) from None
    if (reply.version, reply.protocol) != (__version__, PROTOCOL):
        raise Complaint(
            f"the running daemon needs a restart: it is version {reply.version} (protocol "
            f"{reply.protocol}), this command {__version__} (protocol {PROTOCOL})",
            STALE,
        )
    if not is_object(reply.result):
        raise Complaint(f"the daemon at {printable(path)} answered with no numbers", STALE)
    return reply.result
