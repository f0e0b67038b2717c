"""The context worker: one process beside the daemon that alone opens the index.

It reads requests from its standard input, a socket pair, and ends when that ends, which is also
how it learns that the daemon has died. Whatever else is written in this process goes to standard
error, which the daemon logs; no query, path or text of a file is ever said there.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Raw, Struct

from fabricd.core.context.asking import Refused
from fabricd.daemon.clock import Clock, SystemClock
from fabricd.daemon.context.contract import (
    LOOKUPS,
    METHODS,
    Engine,
    Open,
    open_engine,
    progress_of,
)
from fabricd.daemon.context.lightening import Lightening
from fabricd.daemon.context.scheduling import ALONE, Ended, Scheduler
from fabricd.ipc.context.wire import (
    BEAT_SECONDS,
    MAX_RESULT,
    Asked,
    BadFrame,
    Beat,
    Hello,
    Lines,
    Refusal,
    Told,
    asked_of,
    frame,
    refusal_of,
)
from fabricd.ipc.protocol import MAX_FRAME
from fabricd.store.locks import AlreadyHeld

# As long as a process without a daemon may take for its one answer.
LOCK_SECONDS = 5.0
_LOCK_POLL = 0.05
_HELD = "another process holds the context index; try again when it has ended"
_CHUNK = 1 << 16
_COLLECT_AFTER = 50_000


class _Rooted(Struct):
    root: str | None = None


class _Left(Exception):
    """Raised where the daemon has gone or a signal came: nothing is left to do."""


class Worker:
    """One engine and the wire to the daemon."""

    def __init__(
        self,
        wire: socket.socket,
        wakeup: socket.socket,
        clock: Clock,
        lock_seconds: float = LOCK_SECONDS,
    ) -> None:
        self._lock_seconds = lock_seconds
        self._wire = wire
        self._wakeup = wakeup
        self._clock = clock
        self._lines = Lines(MAX_FRAME + 4096)
        self._scheduler = Scheduler(clock.monotonic)
        self._early: list[Asked] = []

    def run(self, state: Path, opened: Open, version: str) -> None:
        """Serve until the daemon leaves."""
        with contextlib.suppress(_Left):
            engine = self._open(state, opened)
            if engine is None:
                return
            try:
                self._tell(Told(hello=Hello(os.getpid(), version)))
                self._serve(engine)
            finally:
                self._scheduler.close()
                engine.close()

    def _open(self, state: Path, opened: Open) -> Engine | None:
        ends = self._clock.monotonic() + self._lock_seconds
        while True:
            try:
                return opened(state, self._clock)
            except AlreadyHeld:
                refusal = Refusal("busy", _HELD)
                if self._clock.monotonic() > ends:
                    break
            except Refused as refused:
                refusal = refusal_of(refused)
                break
            except Exception as error:
                _say_where(error)
                words = f"the context index cannot be opened ({_kind(error)})"
                refusal = Refusal("failed", words)
                break
            self._early += self._asked(_LOCK_POLL)
        self._tell(Told(refused=refusal))
        return None

    def _serve(self, engine: Engine) -> None:
        for asked in self._early:
            self._take(engine, asked)
        gc.collect()
        gc.freeze()
        lightening = Lightening(engine.rest)
        beaten = self._clock.monotonic()
        while True:
            if not self._scheduler:
                lightening.look()
            for asked in self._asked(0 if self._scheduler else None):
                self._take(engine, asked)
            ended = self._scheduler.turn()
            if ended is not None:
                self._tell(_told(ended))
            if self._clock.monotonic() - beaten >= BEAT_SECONDS and (self._scheduler or ended):
                self._tell(Told(beat=Beat(len(self._scheduler), progress_of(engine))))
                beaten = self._clock.monotonic()

    def _take(self, engine: Engine, asked: Asked) -> None:
        method, params = asked.method, bytes(asked.params)
        if asked.cancel:
            self._scheduler.cancel(asked.id)
        elif method not in METHODS:
            refusal = Refusal("usage", "the context worker has no such method")
            self._tell(Told(id=asked.id, refused=refusal))
        else:
            self._scheduler.add(
                asked.id, lane_of(method, params), lambda: engine.ask(method, params)
            )

    def _asked(self, seconds: float | None) -> list[Asked]:
        """What was asked meanwhile; waits for it that long, None for ever."""
        ready = select.select([self._wire, self._wakeup], [], [], seconds)[0]
        if self._wakeup in ready:
            raise _Left
        if self._wire not in ready:
            return []
        try:
            piece = self._wire.recv(_CHUNK)
        except OSError:
            raise _Left from None
        if not piece:
            raise _Left
        try:
            return [asked_of(line) for line in self._lines.take(piece)]
        except BadFrame:
            raise _Left from None

    def _tell(self, told: Told) -> None:
        try:
            self._wire.sendall(frame(told))
        except OSError:
            raise _Left from None


def lane_of(method: str, params: bytes) -> str | None:
    """What a request shares with those it has to wait for: the tree that it is about."""
    if method == "forget":
        return ALONE
    if method in LOOKUPS:
        return None
    try:
        root = msgspec.json.decode(params, type=_Rooted).root
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    if root is None:
        return None
    try:
        real = os.path.realpath(root)
        folder = real
        while not os.path.lexists(os.path.join(folder, ".git")):
            if folder == (above := os.path.dirname(folder)):
                return real
            folder = above
    except (OSError, ValueError):
        return None
    return folder


def _told(ended: Ended) -> Told:
    match ended.outcome:
        case bytes() as result:
            if len(result) > MAX_RESULT:
                words = f"the answer is larger than {MAX_RESULT >> 20} MiB; ask for less at once"
                return Told(id=ended.id, refused=Refusal("failed", words))
            return Told(id=ended.id, result=Raw(result.replace(b"\n", b" ")))
        case Refused() as refused:
            return Told(id=ended.id, refused=refusal_of(refused))
        case error:
            _say_where(error)
            return Told(id=ended.id, failed=type(error).__name__)


def _say_where(error: BaseException) -> None:
    """An error's kind and place. Its words may quote what somebody keeps to himself."""
    for place in traceback.extract_tb(error.__traceback__)[-4:]:
        print(f"  {place.filename}:{place.lineno} {place.name}", file=sys.stderr)
    print(_kind(error), file=sys.stderr, flush=True)


def _kind(error: BaseException) -> str:
    # The name of a module that is missing is nobody's secret.
    missing = f": {error.name}" if isinstance(error, ImportError) else ""
    return f"{type(error).__name__}{missing}"


def _wire() -> socket.socket:
    """Standard input as the wire; what is printed by mistake does not get there."""
    wire = socket.socket(fileno=os.dup(0))
    wire.setblocking(True)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return wire


def _waking() -> socket.socket:
    """Readable once SIGTERM has come."""
    # A terminal that is closed or interrupted tells the daemon, which then ends us in order.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    reading, writing = socket.socketpair()
    writing.setblocking(False)
    signal.signal(signal.SIGTERM, lambda _number, _frame: _wake(writing))
    return reading


def _wake(writing: socket.socket) -> None:
    with contextlib.suppress(OSError):
        writing.send(b"!")


def serve(state: Path, opened: Open, version: str, lock_seconds: float = LOCK_SECONDS) -> int:
    """Serve the wire that standard input is."""
    gc.set_threshold(_COLLECT_AFTER)
    wire = _wire()
    Worker(wire, _waking(), SystemClock(), lock_seconds).run(state, opened, version)
    wire.close()
    return 0


def main(arguments: Sequence[str]) -> int:
    """`STATE`: the state directory."""
    from fabricd import __version__

    return serve(Path(arguments[0]), open_engine, __version__)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
