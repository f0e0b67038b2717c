"""structlog, set up once. A log that cannot be written loses lines and says so; nothing else."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import MutableMapping
from pathlib import Path
from typing import IO, Any

import structlog

from fabricd.core.plain import printable

_LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}


class Sink:
    """A log file that never raises: on a full disk lines are dropped and counted."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self.dropped = 0

    def write(self, text: str) -> int:
        """Write or drop."""
        try:
            if self.dropped:
                self._stream.write(f"({self.dropped} log lines were lost)\n")
                self.dropped = 0
            return self._stream.write(text)
        except (OSError, ValueError):
            self.dropped += 1
            return 0

    def flush(self) -> None:
        """Flush or drop."""
        try:
            self._stream.flush()
        except (OSError, ValueError):
            self.dropped += 1

    def isatty(self) -> bool:
        """Whether a person reads along."""
        return self._stream.isatty()


def _escape(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Paths and names come from elsewhere: no control character of theirs reaches a terminal."""
    for name, value in event.items():
        if isinstance(value, str) and name != "exception":
            event[name] = printable(value)
    return event


def open_log(level: str, path: Path | None) -> Any:
    """The daemon's logger: to a file as JSON lines, else to standard error for people.

    Raises:
        OSError: the file cannot be opened.
    """
    if path is None:
        # Started with standard error closed, there is nobody to tell.
        stream: IO[str] = sys.stderr or open(os.devnull, "w")
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        stream = path.open("a", encoding="utf-8", errors="backslashreplace")
        path.chmod(0o600)
    sink = Sink(stream)
    renderer: Any = (
        structlog.dev.ConsoleRenderer(colors=sink.isatty(), pad_event_to=0)
        if path is None
        else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _escape,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS.get(level, logging.INFO)),
        # Asks for a TextIO, but only writes and flushes, which is all a sink can do.
        logger_factory=structlog.PrintLoggerFactory(file=sink),  # type: ignore[arg-type]
        cache_logger_on_first_use=False,
    )
    return structlog.get_logger()
