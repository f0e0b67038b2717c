"""`fabricd mcp`: copies an agent's MCP messages to the daemon and back. Standard library only.

It starts the daemon where none runs, and finds the next one where that has gone: what was asked and
not answered is asked once more. Only where no daemon can be had does it answer by itself.
"""

from __future__ import annotations

import os
import select

from fabricd.ipc.context.finding import STRANGER, Finder, NotRunning, as_json
from fabricd.ipc.context.owed import Owed, key_of
from fabricd.ipc.context.pieces import LONGEST, Pieces
from fabricd.store.addresses import SocketPathTooLong, socket_path

# Known to the checkers alone: to import it costs as much as the answer takes.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket
    from typing import Any

_CHUNK = 1 << 16
# So much a pipe takes without waiting, once it takes anything.
_PIPE = 4096
_HELD = 1 << 20
# As much as the daemon reads of a line; it hangs up on whoever says more.
_MAX_FRAME = 1 << 20
_TOO_LARGE = "the message is larger than 1 MiB"
_INVALID_REQUEST = -32600
_OURS = -32000
_WRITING = 1


class _AgentGone(Exception):
    """Raised where nobody takes our output any more."""


class _Stranger(Exception):
    """Raised where whoever listens at the socket does not speak as the daemon does."""


class _Outgoing:
    """Bytes that have still to be written, in the pieces that they came in."""

    def __init__(self) -> None:
        self.size = 0
        self._pieces: list[bytes] = []
        self._at = 0

    def __bool__(self) -> bool:
        return self.size > 0

    def add(self, piece: bytes) -> None:
        """Write this too."""
        self._pieces.append(piece)
        self.size += len(piece)

    def next(self, most: int) -> memoryview:
        """What comes next."""
        return memoryview(self._pieces[0])[self._at : self._at + most]

    def sent(self, count: int) -> None:
        """So many of them were written."""
        self.size -= count
        self._at += count
        if self._at == len(self._pieces[0]):
            del self._pieces[0]
            self._at = 0


class Relay:
    """Between standard input and output and the control socket."""

    def __init__(self, finder: Finder) -> None:
        self._finder = finder
        self._socket: socket | None = None
        self._from_agent = Pieces()
        self._from_daemon = bytearray()
        self._to_agent = _Outgoing()
        self._to_daemon = _Outgoing()
        self._owed = Owed()
        self._is_open = True
        self._has_said_all = False

    def run(self) -> None:
        """Copy until the agent has nothing more to ask and has got its answers."""
        self._connect()
        while self._is_open or self._to_agent or self._to_daemon or self._owed.lines():
            self._say_all()
            self._step()

    def _say_all(self) -> None:
        """Tell the daemon that nothing more comes: once all is answered, it hangs up."""
        if self._is_open or self._socket is None or self._to_daemon or self._has_said_all:
            return
        self._has_said_all = True
        try:
            self._socket.shutdown(_WRITING)
        except OSError:
            # It has gone: to read from it says so.
            pass

    def _step(self) -> None:
        reading: list[Any] = []
        writing: list[Any] = []
        if self._is_open and self._to_daemon.size < _HELD:
            reading.append(0)
        if self._socket is not None and self._to_agent.size < _HELD:
            reading.append(self._socket)
        if self._to_agent:
            writing.append(1)
        if self._socket is not None and self._to_daemon:
            writing.append(self._socket)
        # What it has started is waited for beside, as long as that lives.
        seconds = 1.0 if self._finder.is_starting() else None
        readable, writable, _ = select.select(reading, writing, [], seconds)
        if 1 in writable:
            self._write_agent()
        if self._socket in writable:
            self._write_daemon()
        if self._socket is not None and self._socket in readable:
            self._read_daemon()
        if 0 in readable:
            self._read_agent()

    def _write_agent(self) -> None:
        try:
            self._to_agent.sent(os.write(1, self._to_agent.next(_PIPE)))
        except OSError:
            raise _AgentGone from None

    def _write_daemon(self) -> None:
        assert self._socket is not None
        try:
            self._to_daemon.sent(self._socket.send(self._to_daemon.next(_CHUNK)))
        except BlockingIOError:
            return
        except OSError:
            self._lost()

    def _read_agent(self) -> None:
        try:
            piece = os.read(0, _CHUNK)
        except OSError:
            piece = b""
        if not piece:
            self._is_open = False
        for line in self._from_agent.take(piece) if piece else self._from_agent.last():
            if line is None or len(line) >= _MAX_FRAME:
                # The daemon would hang up, and whatever else it was asked would be lost.
                key = None if line is None else key_of(line)
                self._refuse(key or "null", _TOO_LARGE, "usage", _INVALID_REQUEST)
            else:
                self._ask(line + b"\n")

    def _ask(self, line: bytes) -> None:
        self._owed.asked(line)
        if self._socket is not None:
            self._to_daemon.add(line)
        else:
            self._connect()

    def _read_daemon(self) -> None:
        assert self._socket is not None
        try:
            piece = self._socket.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        if not piece:
            self._lost()
            return
        end = piece.rfind(b"\n") + 1
        if end:
            # Whole lines alone: where the daemon dies, another one answers from the beginning.
            whole = bytes(self._from_daemon) + piece[:end]
            self._to_agent.add(whole)
            self._owed.answered(whole)
            self._from_daemon.clear()
        self._from_daemon += piece[end:]
        if len(self._from_daemon) > LONGEST:
            self._estrange()

    def _estrange(self) -> None:
        """End in good order: what is owed is refused, and nothing more is asked."""
        assert self._socket is not None
        self._socket.close()
        self._socket = None
        for key in self._owed.all_given_up():
            self._refuse(key, STRANGER, "stale")
        while self._to_agent:
            self._write_agent()
        raise _Stranger

    def _lost(self) -> None:
        """The daemon has gone: find the next one, if anything is to be asked of it."""
        if self._socket is not None:
            self._socket.close()
        self._socket = None
        # Half an answer is none, and half a question is asked anew.
        self._from_daemon.clear()
        self._to_daemon = _Outgoing()
        for key in self._owed.given_up():
            self._refuse(key, "the daemon ended over this twice", "failed")
        if self._owed.lines():
            self._connect()

    def _connect(self) -> None:
        try:
            self._socket = self._finder.found()
            self._has_said_all = False
        except NotRunning as trouble:
            for key in self._owed.all_given_up():
                self._refuse(key, str(trouble), trouble.reason)
            return
        if self._owed:
            self._to_daemon = _Outgoing()
            for line in self._owed.lines():
                self._to_daemon.add(line)

    def _refuse(self, key: str, message: str, reason: str, code: int = _OURS) -> None:
        data = f'{{"reason":{as_json(reason)}}}'
        error = f'{{"code":{code},"message":{as_json(message)},"data":{data}}}'
        self._to_agent.add(f'{{"jsonrpc":"2.0","id":{key},"error":{error}}}\n'.encode())


def main(root: str | None = None) -> int:
    """Relay for the agent that has started us; `root` in place of the current directory."""
    try:
        # Else the socket would be taken for one of them.
        os.fstat(0)
        os.fstat(1)
    except OSError:
        return _complained("standard input or output is closed", 1)
    try:
        finder = Finder(socket_path(os.environ), os.path.abspath(root or os.getcwd()))
    except SocketPathTooLong as error:
        return _complained(str(error), 78)
    except OSError:
        return _complained("the current directory is gone", 2)
    try:
        Relay(finder).run()
    except _Stranger:
        return _complained(STRANGER, 1)
    except (_AgentGone, KeyboardInterrupt):
        pass
    return 0


def _complained(sentence: str, code: int) -> int:
    try:
        os.write(2, f"fabricd: {sentence}\n".encode("utf-8", "backslashreplace"))
    except OSError:
        pass
    return code
