"""What watches a run: lines are let through at once, what reads them is made beside the pipe."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from fabricd.core.mcp.lines import Gate
from fabricd.ipc.gateway.watching import Watch

if TYPE_CHECKING:
    from fabricd.core.mcp.conversation import Conversation
    from fabricd.ipc.gateway.asked import Asked
    from fabricd.ipc.gateway.journal import Journal
    from fabricd.store.gateway_logs import GatewayLog


# M_MMAP_THRESHOLD of malloc.h.
_MMAP_THRESHOLD = -3
# A record takes less time than a reply; many would hold up the next bytes.
_EVENTS_A_READ = 2


def _now() -> int:
    return time.time_ns() // 1_000_000


def _return_large_blocks() -> None:
    """Let the C library map large blocks apart, however many it has seen: freed, they are gone."""
    if sys.platform == "linux":
        with contextlib.suppress(Exception):
            import ctypes

            ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, 128 * 1024)


def _may_be_call(head: bytes) -> bool:
    from fabricd.core.mcp.requests import may_be_call

    return may_be_call(head)


class Observer:
    """Decides on lines, reads replies, keeps the log."""

    def __init__(self, asked: Asked, pid: int, say: Callable[[str], None]) -> None:
        self._asked = asked
        self._pid = pid
        self._say = say
        self._started = _now()
        self._log: GatewayLog | None = None
        self._journal: Journal | None = None
        self.watch = Watch(self._conversation, say, self._work)
        self.gate = Gate(self.watch.asked, _may_be_call)
        # Without a thread the first line that is read makes it.
        with contextlib.suppress(RuntimeError):
            threading.Thread(target=self.watch.prepare, name="prepare", daemon=True).start()

    def close(self, seconds: float) -> None:
        """The run has ended: write what is left."""
        self.watch.close()
        if self._journal is not None:
            self._journal.close(seconds)

    def _work(self) -> None:
        if self._journal is not None:
            self._journal.work(_EVENTS_A_READ)

    def _conversation(self) -> Conversation:
        # A tenth of a second of imports, while the server starts.
        _return_large_blocks()
        from fabricd.core.mcp.conversation import Conversation
        from fabricd.ipc.gateway.journal import Journal

        asked = self._asked
        self._journal = Journal(asked.name, asked.audits, self._write, self._say)
        # What was imported lives to the end: no collection has to look through it.
        gc.freeze()
        return Conversation(asked.name, asked.mode, asked.conventions, self._journal.note, _now)

    def _write(self, lines: bytes) -> None:
        # In the journal's thread, and only when there is something to say.
        if self._log is None:
            self._log = self._begun()
        elif self._log.is_gone:
            # Who deleted it wants no less to be told from here on.
            self._log.close()
            self._log = self._begun()
            if self._journal is not None:
                self._log.append(self._journal.surface)
        self._log.append(lines)

    def _begun(self) -> GatewayLog:
        from fabricd.core.mcp.records import session_record
        from fabricd.store.gateway_logs import GatewayLog

        log = GatewayLog(self._asked.state, self._asked.name, self._started)
        log.append(session_record(log.ident, self._started, self._told()))
        return log

    def _told(self) -> dict[str, object]:
        from fabricd import __version__

        asked = self._asked
        return {
            "name": asked.name,
            "mode": asked.mode,
            "conventions": asked.conventions,
            "audits": asked.audits,
            "fabricd": __version__,
            "pid": os.getpid(),
            "server": self._pid,
            # Its arguments may hold secrets.
            "command": os.path.basename(asked.command[0]),
            "cwd": _working_directory(),
        }


def _working_directory() -> str | None:
    try:
        return os.fsencode(os.getcwd()).decode("utf-8", "replace")
    except OSError:
        # It was deleted.
        return None
