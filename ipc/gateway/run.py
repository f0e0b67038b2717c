"""A run of the gateway: a server is started, two threads copy, and what passes is watched."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from fabricd.ipc.gateway.child import Child, follow, leave, let_signals_end_us, start
from fabricd.ipc.gateway.pipes import Gone, close, open_standard, read_some, write_all

if TYPE_CHECKING:
    from fabricd.ipc.gateway.asked import Asked
    from fabricd.ipc.gateway.observing import Observer

# A thread that has just read may take the interpreter from one that only writes the log.
_SWITCH_SECONDS = 5e-5
_DRAIN_SECONDS = 0.5
_LOG_SECONDS = 2.0


def run(asked: Asked, say: Callable[[str], None]) -> None:
    """Wrap a server until it ends, then end this process in the same way. Never comes back.

    Raises:
        NoSuchCommand: it cannot be started.
    """
    open_standard()
    child = start(asked.command)
    sys.setswitchinterval(_SWITCH_SECONDS)
    pipe = _Pipe(child, asked, say)
    status, was_told = follow(child)
    # Nothing is left to pass signals on to: from here on they are meant for us.
    let_signals_end_us()
    pipe.end(is_patient=not was_told)
    leave(status)


class _Pipe:
    """Both directions of the pipe."""

    def __init__(self, child: Child, asked: Asked, say: Callable[[str], None]) -> None:
        self._child = child
        self._asked = asked
        self._say = say
        self._observer = self._made()
        self._moved = time.monotonic()
        self._is_writing = False
        self._down = threading.Thread(target=self._copy_down, name="server", daemon=True)
        self._up = threading.Thread(target=self._copy_up, name="client", daemon=True)
        self._down.start()
        self._up.start()

    def end(self, is_patient: bool) -> None:
        """The server has ended: forward what is left of its output, and finish the log.

        Args:
            is_patient: wait for as long as the client takes to read it.
        """
        while self._down.is_alive():
            # A process that the server left behind may hold its output open for ever.
            waits = self._is_writing and is_patient
            if not waits and time.monotonic() - self._moved > _DRAIN_SECONDS:
                break
            self._down.join(0.05)
        if self._observer is not None:
            self._observer.close(_LOG_SECONDS)

    def _made(self) -> Observer | None:
        try:
            from fabricd.ipc.gateway.observing import Observer

            return Observer(self._asked, self._child.pid, self._say)
        except Exception as error:
            self._say(f"this run is only passed through: {type(error).__name__}: {error}")
            return None

    def _copy_up(self) -> None:
        try:
            if self._observer is not None:
                self._copy_decided(self._observer)
            while data := read_some(0):
                write_all(self._child.stdin, data)
        except Gone:
            # The next who writes to us is told the same.
            _abandon(0)
        finally:
            close(self._child.stdin)

    def _copy_decided(self, observer: Observer) -> None:
        """Copy line by line, to the end or until reading them fails.

        Raises:
            Gone: the server reads no more.
        """
        gate = observer.gate
        while True:
            data = read_some(0)
            try:
                for piece in gate.take(data):
                    write_all(self._child.stdin, piece)
            except Gone:
                raise
            except Exception as error:
                self._say(f"lines are passed unread from here on: {type(error).__name__}: {error}")
                write_all(self._child.stdin, gate.rest())
                return
            if not data:
                write_all(self._child.stdin, gate.rest())
                return

    def _copy_down(self) -> None:
        source = self._child.stdout
        try:
            while data := read_some(source):
                # A client may take its time: what it has not read yet is not lost meanwhile.
                self._is_writing = True
                observer = self._observer
                if observer is None:
                    write_all(1, data)
                else:
                    observer.watch.talking()
                    write_all(1, data)
                    observer.watch.heard(data)
                self._moved, self._is_writing = time.monotonic(), False
        except Gone:
            pass
        close(source)
        # The client sees the end of the output when the server closes it, not when it exits.
        _abandon(1)


def _abandon(descriptor: int) -> None:
    """Close a standard descriptor for whoever is at its other end; the number stays taken."""
    try:
        empty = os.open(os.devnull, os.O_RDWR)
        os.dup2(empty, descriptor)
        os.close(empty)
    except OSError:
        close(descriptor)
