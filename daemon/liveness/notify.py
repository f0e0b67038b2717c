"""What the service manager is told: ready, still alive, stopping. One datagram each."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from typing import Literal, TypeAlias

import anyio

from fabricd.systemd import LABEL

Manager: TypeAlias = Literal["systemd", "launchd"]


def manager(env: Mapping[str, str]) -> Manager | None:
    """Who started this very process as a service.

    A shell inside a service inherits most of what that was told; its own pid it does not.
    """
    if env.get("SYSTEMD_EXEC_PID") == str(os.getpid()) or env.get("NOTIFY_SOCKET"):
        return "systemd"
    return "launchd" if env.get("XPC_SERVICE_NAME") == LABEL else None


def notify(message: str) -> None:
    """Send a message to `$NOTIFY_SOCKET`; without one, or if nobody takes it, do nothing."""
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    if address.startswith("@"):
        address = "\0" + address[1:]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.settimeout(1.0)
        try:
            sender.sendto(message.encode(), address)
        except OSError:
            return


def watchdog_seconds() -> float | None:
    """A third of the manager's watchdog interval, if it set one for this process."""
    micros = os.environ.get("WATCHDOG_USEC", "")
    pid = os.environ.get("WATCHDOG_PID", "")
    if not micros.isdigit() or (pid and pid != str(os.getpid())):
        return None
    return int(micros) / 3_000_000


async def feed_watchdog() -> None:
    """Say that the loop itself is alive, until cancelled."""
    seconds = watchdog_seconds()
    if seconds is None:
        return
    while True:
        notify("WATCHDOG=1")
        await anyio.sleep(seconds)
