"""The sums of a report over all agents, made by several processes where there is much to add up."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from multiprocessing.connection import Connection
from typing import Any, TypeAlias

from fabricd.core.history.calls import AgentName, CallTable
from fabricd.core.history.summary import Wanted, agent_steps
from fabricd.core.steps import finish

Tables: TypeAlias = Mapping[AgentName, Sequence[CallTable]]
Sums: TypeAlias = dict[AgentName, dict[str, Any]]

# Fewer calls are added up sooner than a second process has started.
_WORTH_SHARING = 16_384


def local_day(at: int) -> date:
    """The day of a moment in the user's zone."""
    return datetime.fromtimestamp(at / 1000).date()


def may_fork() -> bool:
    """Whether a copy of this process may go on by itself: not with threads, nor on macOS."""
    return sys.platform == "linux" and threading.active_count() == 1


def sums_of(tables: Tables, wanted: Wanted, processes: int) -> Sums:
    """What a report says of each agent.

    Args:
        tables: those of all logs of each agent.
        processes: how many may add up. A copy of this process has the tables at once.
    """
    shares = _shares(tables, processes)
    if len(shares) < 2 or not may_fork():
        return _sums(tables, wanted)
    helpers = [_Helper(share, wanted) for share in shares[1:]]
    try:
        found = _sums(shares[0], wanted)
        for helper, share in zip(helpers, shares[1:], strict=True):
            theirs = helper.answer()
            found |= _sums(share, wanted) if theirs is None else theirs
    finally:
        for helper in helpers:
            helper.end()
    return found


class _Helper:
    """A copy of this process that adds up a share."""

    def __init__(self, share: Tables, wanted: Wanted) -> None:
        context = multiprocessing.get_context("fork")
        self._receiver, sender = context.Pipe(duplex=False)
        self._process = context.Process(target=_help, args=(sender, share, wanted), daemon=True)
        # Ctrl-C reaches the whole group: the parent alone decides what becomes of its copies.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        self._process.start()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        sender.close()

    def answer(self) -> Sums | None:
        """Its sums, or None where it was killed or failed."""
        try:
            found: Sums = self._receiver.recv()
        except (EOFError, OSError):
            return None
        return found

    def end(self) -> None:
        """End it, whatever it is doing."""
        self._receiver.close()
        self._process.kill()
        self._process.join()


def _help(sender: Connection, share: Tables, wanted: Wanted) -> None:
    # What fails here fails there too, where it is told.
    with suppress(Exception):
        sender.send(_sums(share, wanted))


def _sums(tables: Tables, wanted: Wanted) -> Sums:
    return {
        agent: finish(agent_steps(agent, each, wanted, local_day)) for agent, each in tables.items()
    }


def _shares(tables: Tables, processes: int) -> list[dict[AgentName, Sequence[CallTable]]]:
    """The agents in shares of about as many calls each, one a process."""
    calls = {agent: sum(len(table.calls) for table in each) for agent, each in tables.items()}
    if processes < 2 or sum(calls.values()) < _WORTH_SHARING:
        return [dict(tables)]
    shares: list[dict[AgentName, Sequence[CallTable]]] = [{} for _ in range(processes)]
    sizes = [0] * processes
    for agent in sorted(tables, key=lambda agent: -calls[agent]):
        least = sizes.index(min(sizes))
        shares[least][agent] = tables[agent]
        sizes[least] += calls[agent]
    return [share for share in shares if share]
