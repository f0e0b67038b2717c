"""Pi's own lock: a directory with an `owner` file. Taken so that a running Pi cannot interleave."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import time
from pathlib import Path

_STALE_SECONDS = 30.0


class PiLockBusy(RuntimeError):
    """Raised by the caller that gave up waiting: somebody holds the lock directory."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"timed out waiting for the lock {path.name}")
        self.path = path


class PiLock:
    """One attempt at a time: the caller decides how often and how long to try."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._token = secrets.token_hex(16)
        self._held = False

    def try_acquire(self, now: float | None = None) -> bool:
        """Take the lock if it is free or provably abandoned; False where it is busy.

        Raises:
            OSError: the lock directory cannot be made at all.
        """
        try:
            self.path.mkdir(mode=0o700)
        except FileExistsError:
            self._reap(time.time() if now is None else now)
            return False
        owner = f"{self._token}\n{os.getpid()}\n{int(time.time() * 1000)}\n"
        try:
            (self.path / "owner").write_text(owner)
        except OSError:
            shutil.rmtree(self.path, ignore_errors=True)
            raise
        self._held = True
        return True

    def release(self) -> None:
        """Give the lock back, if it is still ours."""
        if not self._held:
            return
        self._held = False
        with contextlib.suppress(OSError):
            lines = (self.path / "owner").read_bytes().split(b"\n")
            if lines[0] == self._token.encode():
                shutil.rmtree(self.path)

    def _is_abandoned(self, path: Path, now: float) -> bool:
        """Whether a lock is over 30 s old and its owner is gone; without an owner, age decides."""
        try:
            age = now - path.stat().st_mtime
        except OSError:
            return False
        if age <= _STALE_SECONDS:
            return False
        try:
            pid = int((path / "owner").read_bytes().split(b"\n")[1])
            if pid <= 0:
                return True
            os.kill(pid, 0)
        except (ProcessLookupError, FileNotFoundError, ValueError, IndexError, OverflowError):
            return True
        except OSError:
            # Not permitted to ask, so the process exists; or not to be known.
            return False
        return False

    def _reap(self, now: float) -> None:
        if not self._is_abandoned(self.path, now):
            return
        claimed = self.path.with_name(f"{self.path.name}.{self._token}.reaped")
        # Renaming first: of several reapers one wins, and a lock made meanwhile is not deleted.
        with contextlib.suppress(OSError):
            os.rename(self.path, claimed)
            if self._is_abandoned(claimed, now):
                shutil.rmtree(claimed, ignore_errors=True)
            else:
                os.rename(claimed, self.path)
