"""Watches: hints from the file system, supervised. What they miss, the rescan timer finds."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import anyio
from watchfiles import Change, awatch  # pyright: ignore[reportUnknownVariableType] untyped upstream

from fabricd.daemon.health import Health
from fabricd.store.homes import Homes

_STEP_MS = 250
_LOOK_MS = 10_000
_FIRST_PAUSE = 1.0
_LAST_PAUSE = 60.0
_SYSCTL = "raise fs.inotify.max_user_watches and fs.inotify.max_user_instances"

Hint = Callable[[Iterable[bytes]], None]


class Watcher:
    """Watches the session logs and the declared surface of a home."""

    def __init__(
        self,
        homes: Homes,
        health: Health,
        sessions_changed: Hint,
        surface_changed: Callable[[], None],
        force_polling: bool,
    ) -> None:
        self._homes = homes
        self._health = health
        self._sessions_changed = sessions_changed
        self._surface_changed = surface_changed
        self._polling = force_polling
        self._stopped = anyio.Event()

    async def run(self) -> None:
        """Watch both until cancelled."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._ask_to_end)
            group.start_soon(self._watch_sessions)
            group.start_soon(self._watch_surface)

    async def _ask_to_end(self) -> None:
        # The watches' threads cannot be cancelled, only asked: they look every 250 ms.
        try:
            await anyio.sleep_forever()
        finally:
            self._stopped.set()

    async def _watch_sessions(self) -> None:
        root = os.fspath(self._homes.sessions)

        def is_session(_: Change, path: str) -> bool:
            # Deeper files are exports of sub-agents, which nobody measures.
            return path.endswith(".jsonl") and os.path.dirname(os.path.dirname(path)) == root

        await self._supervise(
            "watch-sessions", self._homes.sessions, is_session, self._sessions_changed, True
        )

    async def _watch_surface(self) -> None:
        def changed(_: Iterable[bytes]) -> None:
            self._surface_changed()

        await self._supervise("watch-surface", self._homes.entropy, _is_surface, changed, False)

    async def _supervise(
        self,
        what: str,
        root: Path,
        wanted: Callable[[Change, str], bool],
        hint: Hint,
        recursive: bool,
    ) -> None:
        pause = _FIRST_PAUSE
        while not self._stopped.is_set():
            armed = _identity(root)
            if armed is None:
                # Nothing to watch yet; the rescan timer notices when it appears.
                await anyio.sleep(_FIRST_PAUSE)
                continue
            try:
                async for changes in awatch(
                    root,
                    watch_filter=wanted,
                    step=_STEP_MS,
                    recursive=recursive,
                    force_polling=self._polling or None,
                    ignore_permission_denied=True,
                    rust_timeout=_LOOK_MS,
                    yield_on_timeout=True,
                    stop_event=self._stopped,
                ):
                    self._health.recover(what)
                    pause = _FIRST_PAUSE
                    if changes:
                        hint([os.fsencode(path) for _, path in changes])
                    if _identity(root) != armed:
                        # Wiped and made again: the old watch would stay silent for ever.
                        break
            except (OSError, RuntimeError, UnicodeError) as error:
                # The library reports exhausted watches as OSError, and exhausted instances or a
                # file name that is not text as RuntimeError.
                self._health.degrade(
                    what, str(error)[:200], f"{_SYSCTL}; logs are polled meanwhile"
                )
            with anyio.move_on_after(pause):
                await self._stopped.wait()
            pause = min(pause * 2, _LAST_PAUSE)


def _identity(root: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(root)
    except OSError:
        return None
    return (found.st_dev, found.st_ino)


def _is_surface(_: Change, path: str) -> bool:
    return os.path.basename(path) == "surface.json"
