"""A daemon of its own: detached from the terminal, the session and the folder it was started in."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from fabricd.core.documents import BadDocument, strict_json
from fabricd.core.plain import is_object
from fabricd.daemon.service.installing import places
from fabricd.store.atomic import private_directory

# What a service manager said to whoever started us does not hold for the daemon.
_NOT_HANDED_ON = (
    "INVOCATION_ID",
    "JOURNAL_STREAM",
    "LISTEN_FDNAMES",
    "LISTEN_FDS",
    "LISTEN_PID",
    "NOTIFY_SOCKET",
    "SYSTEMD_EXEC_PID",
    "WATCHDOG_PID",
    "WATCHDOG_USEC",
    "XPC_SERVICE_NAME",
)
_LAST_BYTES = 64 * 1024


class Child:
    """A daemon that was just spawned, and where its log begins."""

    def __init__(self, env: Mapping[str, str], log: Path) -> None:
        """Spawn it.

        Raises:
            OSError: its log cannot be opened, or the interpreter not be started.
        """
        private_directory(log.parent)
        # O_NONBLOCK: a pipe that nobody reads is an error, and not waited for.
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK
        descriptor = os.open(log, flags, 0o600)
        try:
            self._log = log
            self._begins = os.fstat(descriptor).st_size
            self._process = subprocess.Popen(
                [sys.executable, "-m", "fabricd", "run", "--log-file", str(log)],
                env=handed_on(env),
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=descriptor,
                stderr=descriptor,
                close_fds=True,
                start_new_session=True,
            )
        finally:
            os.close(descriptor)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def ended(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        return self._process.poll()

    def leave(self) -> None:
        """It runs on, and nobody here waits for it any more."""
        # Popen complains about a process that is still running when it is forgotten.
        self._process.returncode = 0

    def last_words(self) -> str:
        """The last thing it said, in one line; empty where it said nothing."""
        data = b""
        with contextlib.suppress(OSError), self._log.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(self._begins if size >= self._begins else 0, size - _LAST_BYTES))
            data = file.read(_LAST_BYTES)
        lines = data.decode("utf-8", "backslashreplace").splitlines()
        # Talk before the log: a sentence was meant for people.
        for line in reversed(lines):
            if line.startswith("fabricd: "):
                return line.removeprefix("fabricd: ")
        return _event(lines[-1]) if lines else ""


def _event(line: str) -> str:
    try:
        event = strict_json(line.encode("utf-8", "replace"))
    except BadDocument:
        return line
    if not is_object(event):
        return line
    words = (event.get("event"), event.get("error"), event.get("reason"))
    return ": ".join(str(word) for word in words if word is not None)


def handed_on(env: Mapping[str, str]) -> dict[str, str]:
    """The environment for a daemon whose working directory is `/`: no path in it is relative."""
    passed = {name: value for name, value in env.items() if name not in _NOT_HANDED_ON}
    passed.update(places(env))
    if search := passed.get("PYTHONPATH"):
        parts = [os.path.abspath(part) for part in search.split(os.pathsep) if part]
        passed["PYTHONPATH"] = os.pathsep.join(parts)
    # Many small threads would otherwise each keep an arena of their own.
    passed.setdefault("MALLOC_ARENA_MAX", "2")
    return passed
