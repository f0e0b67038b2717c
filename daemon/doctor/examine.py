"""All checks, side by side and in bounded time: one that hangs or breaks takes no other along."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from fabricd.daemon.doctor import (
    clocks,
    durable,
    filesystems,
    hooks,
    inotify,
    limits,
    places,
    running,
    service,
    settings,
    versions,
)
from fabricd.daemon.doctor.checks import Check, unknown
from fabricd.daemon.doctor.subject import Subject, subject

Look = Callable[[Subject], Iterable[Check]]

_PROBE_SECONDS = 1.0
_LOOK_SECONDS = 3.0
LOOKS: tuple[tuple[str, Look], ...] = (
    ("daemon", running.look),
    ("version", versions.look),
    ("configuration", settings.look),
    ("home", places.look),
    ("files", durable.look),
    ("space", places.look_room),
    ("filesystem", filesystems.look),
    ("inotify", inotify.look),
    ("open-files", limits.look),
    ("clock", clocks.look),
    ("hooks", hooks.look),
    ("service", service.look),
    ("degraded", running.look_degraded),
)


def examine(env: Mapping[str, str], version: str) -> list[Check]:
    """Look at everything, for about five seconds at most."""
    found = subject(env, version, _PROBE_SECONDS)
    return looked(LOOKS, found, _LOOK_SECONDS)


def looked(looks: Sequence[tuple[str, Look]], about: Subject, seconds: float) -> list[Check]:
    """The checks of all looks, in their order. What is late or breaks is `unknown`."""
    ends = time.monotonic() + seconds
    tasks = [_Task(name, look, about) for name, look in looks]
    for task in tasks:
        task.start()
    checks: list[Check] = []
    for task in tasks:
        task.join(max(0.0, ends - time.monotonic()))
        late = [unknown(task.name, f"it took longer than {seconds:g} s")]
        checks += late if task.found is None else task.found
    return checks


class _Task(threading.Thread):
    """One look. A daemon thread: what hangs in a dead mount must not keep the process alive."""

    def __init__(self, name: str, look: Look, about: Subject) -> None:
        super().__init__(name=name, daemon=True)
        self._look = look
        self._about = about
        self.found: list[Check] | None = None

    def run(self) -> None:
        made: list[Check] = []
        try:
            made.extend(self._look(self._about))
        except Exception as error:
            # A border: whatever a check stumbles over is worth a line, not the end of the others.
            made.append(unknown(self.name, f"{type(error).__name__}: {error}"))
        self.found = made
