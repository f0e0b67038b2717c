"""The wrapped server as a process: started with our standard error, waited for, and followed.

Signals are taken by one thread that waits for them, so that no handler ever interrupts a pipe.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_WAITED_FOR = frozenset({*PASSED_ON, signal.SIGCHLD})
# What Python ignores and a server that was started without us would not.
_DEFAULTS = [signal.SIGPIPE, signal.SIGXFSZ]


class NoSuchCommand(Exception):
    """Raised by `start`: the command cannot be started. `code` is what a shell would exit with."""

    def __init__(self, command: str, reason: str, code: int) -> None:
        super().__init__(f"{command} cannot be started: {reason}")
        self.code = code


@dataclass(frozen=True)
class Child:
    """A running server: its process, where its input goes, and where its output comes from."""

    pid: int
    stdin: int
    stdout: int


def start(command: Sequence[str]) -> Child:
    """Start a server between two pipes. From here on `follow` alone hears of signals.

    Raises:
        NoSuchCommand: it cannot be started.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _WAITED_FOR)
    signal.signal(signal.SIGCHLD, _nothing)
    their_in, our_out = _pipe()
    our_in, their_out = _pipe()
    actions = [(os.POSIX_SPAWN_DUP2, their_in, 0), (os.POSIX_SPAWN_DUP2, their_out, 1)]
    try:
        pid = os.posix_spawnp(
            command[0],
            list(command),
            os.environ,
            file_actions=actions,
            setsigmask=before,
            setsigdef=[*_DEFAULTS, *(each for each in PASSED_ON if _is_ours(each))],
        )
    except (OSError, ValueError) as error:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        reason = getattr(error, "strerror", None) or str(error)
        code = 127 if isinstance(error, FileNotFoundError) else 126
        raise NoSuchCommand(command[0], reason, code) from None
    finally:
        os.close(their_in)
        os.close(their_out)
    return Child(pid, our_out, our_in)


def _nothing(_: int, __: object) -> None:
    """An ignored SIGCHLD would never be delivered."""


def _is_ours(number: signal.Signals) -> bool:
    # A handler of Python's own, which the server would not have; what is ignored stays ignored.
    return callable(signal.getsignal(number))


def _pipe() -> tuple[int, int]:
    """A pipe above the three standard descriptors, whichever of them were closed."""
    ends: list[int] = []
    unwanted: list[int] = []
    while len(ends) < 2:
        for each in os.pipe():
            (ends if each > 2 and len(ends) < 2 else unwanted).append(each)
        if len(ends) == 1:
            unwanted += ends
            ends = []
    for each in unwanted:
        os.close(each)
    return ends[0], ends[1]


def follow(child: Child) -> tuple[int, bool]:
    """Wait for the end of a server, passing signals on.

    Gives its wait status, and whether a signal was passed on: whoever sent it wants the end soon.
    """
    was_told = False
    while True:
        pid, status = os.waitpid(child.pid, os.WNOHANG)
        if pid:
            return status, was_told
        number = _next_signal()
        if number is not None and number in PASSED_ON:
            with contextlib.suppress(OSError):
                os.kill(child.pid, number)
            was_told = True


def _next_signal() -> int | None:
    """The next signal; None for one that the server was sent too."""
    # What came before is pending until it is taken here.
    if sys.platform == "darwin":
        return signal.sigwait(_WAITED_FOR)
    found = signal.sigwaitinfo(_WAITED_FOR)
    # A terminal sends to the whole group, and the server is in it.
    from_terminal = found.si_code > 0 and found.si_signo in (signal.SIGINT, signal.SIGHUP)
    return None if from_terminal else found.si_signo


def let_signals_end_us() -> None:
    """Give the signals that were passed on their usual meaning back."""
    for number in PASSED_ON:
        if _is_ours(number):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED_ON)


def leave(status: int) -> None:
    """End this process as the server ended: with its exit code, or by the signal that killed it."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        # It has left its core, if it leaves any.
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
        os.kill(os.getpid(), number)
        time.sleep(0.1)
        os._exit(128 + number)
    os._exit(os.waitstatus_to_exitcode(status))
