"""The worker process as the daemon has it: its wire, what it says, and its end."""

from __future__ import annotations

import os
import resource
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import anyio
import anyio.to_thread

from fabricd.core.plain import printable

END_SECONDS = 3.0
TERM_SECONDS = 1.0
_POLL = 0.02
_CHUNK = 1 << 16
_LONGEST_WORDS = 500
# Libraries would start a thread for each core, each with memory of its own. What a query has for
# arrays would go back to the system and come again, page by page, a thousand times a query.
_ENVIRONMENT = {
    "MALLOC_ARENA_MAX": "2",
    "MALLOC_MMAP_THRESHOLD_": str(4 * 1024 * 1024),
    "MALLOC_TRIM_THRESHOLD_": str(8 * 1024 * 1024),
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "RAYON_NUM_THREADS": "1",
}


def worker_command(state: Path) -> list[str]:
    """The command line of the worker of a state directory."""
    return [sys.executable, "-m", "fabricd.daemon.context.worker", os.fspath(state)]


class Child:
    """A worker that was started. Whatever is awaited may be cancelled, but for `end`."""

    def __init__(self, process: subprocess.Popen[bytes], wire: socket.socket) -> None:
        self._process = process
        self._wire = wire

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def rss_bytes(self) -> int | None:
        """Its resident memory; None where the system does not tell, or it has ended."""
        try:
            with open(f"/proc/{self.pid}/statm", "rb") as file:
                return int(file.read().split()[1]) * resource.getpagesize()
        except (OSError, ValueError, IndexError):
            return None

    async def receive(self) -> bytes:
        """The next bytes; empty at the end."""
        while True:
            try:
                return self._wire.recv(_CHUNK)
            except BlockingIOError:
                await anyio.wait_readable(self._wire)
            except OSError:
                return b""

    async def send(self, data: bytes) -> bool:
        """Send; False where it has gone."""
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[self._wire.send(rest) :]
            except BlockingIOError:
                await anyio.wait_writable(self._wire)
            except OSError:
                return False
        return True

    async def words(self, say: Callable[[str], None]) -> None:
        """Hand on what it writes to standard error, line by line, until it ends."""
        assert self._process.stderr is not None
        descriptor = self._process.stderr.fileno()
        os.set_blocking(descriptor, False)
        rest = b""
        while True:
            await anyio.wait_readable(descriptor)
            try:
                piece = os.read(descriptor, _CHUNK)
            except BlockingIOError:
                continue
            except OSError:
                piece = b""
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                _hand_on(line, say)
            # What has no end is handed on in pieces.
            if len(rest) > _LONGEST_WORDS or not piece:
                _hand_on(rest, say)
                rest = b""
            if not piece:
                return

    def kill(self) -> None:
        """SIGKILL: nothing else helps."""
        self._process.kill()

    async def end(self) -> int:
        """Have it end, in order, then by signals; gives its exit code, negative for a signal."""
        self._wire.close()
        with anyio.CancelScope(shield=True):
            if not await self._ended(END_SECONDS):
                self._process.terminate()
                if not await self._ended(TERM_SECONDS):
                    self._process.kill()
                    # Killed it may still hang in the kernel, over a dead network file system.
                    await self._ended(TERM_SECONDS)
        code = self._process.poll()
        return -9 if code is None else code

    def close(self) -> None:
        """Nobody reads its words any more."""
        if self._process.stderr is not None:
            self._process.stderr.close()

    async def _ended(self, seconds: float) -> bool:
        ends = anyio.current_time() + seconds
        while self._process.poll() is None:
            if anyio.current_time() > ends:
                return False
            await anyio.sleep(_POLL)
        return True


def _hand_on(line: bytes, say: Callable[[str], None]) -> None:
    words = printable(line[:_LONGEST_WORDS].decode("utf-8", "replace").rstrip())
    if words:
        say(words)


async def started(command: Sequence[str]) -> Child:
    """Start a worker.

    Raises:
        OSError: it cannot be.
    """
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    children: list[Child] = []
    try:
        # What was begun is finished: a process that nobody knows of could not be ended.
        with anyio.CancelScope(shield=True):
            # In a thread: to start a process takes longer than the loop may stand still.
            process = await anyio.to_thread.run_sync(spawned, command, theirs)
            children.append(Child(process, ours))
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    return children[0]


def spawned(command: Sequence[str], wire: socket.socket) -> subprocess.Popen[bytes]:
    """The process of a worker, on the other end of `wire`.

    Raises:
        OSError: it cannot be started.
    """
    return subprocess.Popen(
        command,
        stdin=wire.fileno(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, **_ENVIRONMENT},
        close_fds=True,
    )
