"""Who holds the home although nobody listens where commands look. Imported only then."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from fabricd.store.durable import shown
from fabricd.store.homes import find
from fabricd.store.locks import holder


class Holding(NamedTuple):
    """The daemon of this home: its pid where that is certain, and where it said it would listen."""

    pid: int | None
    socket: str | None

    @property
    def who(self) -> str:
        """The daemon, for people."""
        return "a daemon" if self.pid is None else f"a daemon (pid {self.pid})"

    @property
    def silence(self) -> str:
        """What to say where it does not listen there either."""
        return (
            f"{self.who} holds the home and does not listen: it is starting, or its socket was "
            "removed; if it stays so: fabricd restart --force"
        )

    def differs(self, path: str) -> str | None:
        """What to say of where it listens, if that is not where commands look."""
        if self.socket is None or os.path.realpath(self.socket) == os.path.realpath(path):
            return None
        return f"the daemon of this home listens at {shown(self.socket)}, not at {shown(path)}"


def holding(env: Mapping[str, str]) -> Holding | None:
    """Who holds the home of this environment now."""
    held = holder(find(env).lock)
    if held is None:
        return None
    return Holding(held.pid, os.fsdecode(held.told) if held.told else None)
