"""Finding the daemon for a relay, and starting it where none runs. Standard library alone."""

from __future__ import annotations

import os
import sys
import time

# Not `socket`, nor `json` before it is needed: each costs as much as all the rest.
from _socket import AF_UNIX, SOCK_STREAM, socket

from fabricd.ipc import PROTOCOL

# Known to the checkers alone: to import it costs as much as the answer takes.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from subprocess import Popen

START_SECONDS = 5.0
STRANGER = "whoever listens at the socket is no fabricd"
_AGAIN_SECONDS = 10.0
_CONNECT_SECONDS = 5.0
# For so long nobody is asked again who was silent: what was said meanwhile is refused at once.
_SILENT_SECONDS = 1.0
_POLL = 0.02
_CHUNK = 1 << 16
_LONGEST_REPLY = 1 << 16
_NO_METHOD = -32601
_WELCOME = b'"result":{"attached":true}}\n'


class NotRunning(Exception):
    """Raised by `found`: no daemon can be talked to; `reason` is a word of ours."""

    def __init__(self, message: str, reason: str = "not-running") -> None:
        super().__init__(message)
        self.reason = reason


class Finder:
    """Connects to the daemon at a path, for an agent that works in a directory."""

    def __init__(self, path: str, root: str) -> None:
        self._path = path
        self._root = root
        self._starter: Popen[bytes] | None = None
        self._tried = -_AGAIN_SECONDS
        self._silent = -_SILENT_SECONDS
        self._trouble = NotRunning("no fabricd daemon runs")

    def _told(self, trouble: NotRunning) -> NotRunning:
        self._trouble = trouble
        return trouble

    def found(self) -> socket:
        """A connection that the daemon has attached, ready to be copied to and from.

        Raises:
            NotRunning: see there.
        """
        if time.monotonic() - self._silent < _SILENT_SECONDS:
            raise self._trouble
        ends = time.monotonic() + START_SECONDS
        while True:
            trouble = None
            try:
                return self._attached()
            except (FileNotFoundError, ConnectionRefusedError, NotADirectoryError):
                trouble = self._starting()
            except OSError as error:
                # It listens, and does not answer; or it leaves just now.
                words = error.strerror or "no answer in time"
                trouble = NotRunning(f"the fabricd daemon does not answer: {words}")
                if isinstance(error, TimeoutError) or time.monotonic() > ends:
                    self._silent = time.monotonic()
                    raise self._told(trouble) from None
            if time.monotonic() > ends:
                self._tried = time.monotonic()
                raise self._told(trouble)
            time.sleep(_POLL)

    def _starting(self) -> NotRunning:
        """Have a daemon started; gives what is to be said where that takes too long.

        Raises:
            NotRunning: it cannot be, or was tried just now.
        """
        if self._starter is None or self._starter.returncode == 0:
            if time.monotonic() - self._tried < _AGAIN_SECONDS:
                raise self._trouble
            if self._starter is None:
                try:
                    self._starter = _started()
                except OSError as error:
                    self._tried = time.monotonic()
                    words = f"no fabricd daemon can be started: {error.strerror}"
                    raise self._told(NotRunning(words)) from None
        code = self._starter.poll()
        if code:
            raise self._told(self._not_started(code))
        return NotRunning(f"the fabricd daemon is not ready within {START_SECONDS:g} s")

    def _not_started(self, code: int) -> NotRunning:
        assert self._starter is not None and self._starter.stderr is not None
        words = self._starter.stderr.read(4096).decode("utf-8", "replace").splitlines()
        self._starter.stderr.close()
        self._starter = None
        self._tried = time.monotonic()
        last = words[-1].removeprefix("fabricd: ") if words else f"code {code}"
        return NotRunning(f"no fabricd daemon can be started: {last}")

    def _attached(self) -> socket:
        found = socket(AF_UNIX, SOCK_STREAM)
        try:
            # One deadline for all of it: a byte now and then is no answer.
            ends = time.monotonic() + _CONNECT_SECONDS
            found.settimeout(_CONNECT_SECONDS)
            found.connect(os.fsencode(self._path))
            params = f'{{"cwd":{as_json(self._root)},"protocol":{PROTOCOL}}}'
            body = f'{{"jsonrpc":"2.0","id":0,"method":"mcp.attach","params":{params}}}\n'
            found.settimeout(_left(ends))
            found.sendall(body.encode())
            reply = b""
            while not reply.endswith(b"\n"):
                found.settimeout(_left(ends))
                piece = found.recv(_CHUNK)
                if not piece:
                    raise ConnectionResetError
                reply += piece
                if len(reply) > _LONGEST_REPLY:
                    raise NotRunning(STRANGER, "stale")
            _require_attached(reply)
            found.setblocking(False)
        except BaseException:
            found.close()
            raise
        return found

    def is_starting(self) -> bool:
        """Whether the command that starts the daemon runs still; it ends once that is ready."""
        if self._starter is not None and self._starter.poll() is not None:
            assert self._starter.stderr is not None
            self._starter.stderr.close()
            self._starter = None
        return self._starter is not None


def as_json(text: str) -> str:
    """A text as JSON writes it."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    import json

    return json.dumps(text)


def _left(ends: float) -> float:
    """The seconds until a deadline.

    Raises:
        TimeoutError: there are none.
    """
    seconds = ends - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds


def _require_attached(reply: bytes) -> None:
    if reply.endswith(_WELCOME) and b'"protocol":%d,' % PROTOCOL in reply:
        return
    import json

    try:
        told = json.loads(reply)
        error, protocol = told.get("error"), told.get("protocol")
        if error is None and protocol == PROTOCOL:
            return
        if error is None or error["code"] == _NO_METHOD:
            raise NotRunning("the running fabricd is another version: fabricd restart", "stale")
        raise NotRunning(str(error["message"]), str(error["data"]["reason"]))
    except (ValueError, AttributeError, LookupError, TypeError, RecursionError):
        raise NotRunning(STRANGER, "stale") from None


def _started() -> Popen[bytes]:
    # It waits for its turn: of two agents that begin at once, one starts the daemon.
    import subprocess

    return subprocess.Popen(
        [sys.executable, "-m", "fabricd", "start"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
