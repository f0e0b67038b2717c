"""structlog, set up once. A log that cannot be written loses lines and says so; nothing else."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import MutableMapping
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, ClassVar, NamedTuple

import structlog

from fabricd.core.plain import is_list, is_object, printable
from fabricd.daemon.telemetry.repeats import Render, Repeats
from fabricd.daemon.telemetry.rotating import RotatingFile

_LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}


class Sink:
    """A stream that never raises: what cannot be written is dropped and counted."""

    # Of all sinks since the process began.
    lost: ClassVar[int] = 0

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
            # A line comes in two pieces; the second is its end.
            self._drop(text.count("\n"))
            return 0

    def flush(self) -> None:
        """Flush or drop."""
        try:
            self._stream.flush()
        except (OSError, ValueError):
            self._drop(1)

    def _drop(self, lines: int) -> None:
        self.dropped += lines
        Sink.lost += lines

    def isatty(self) -> bool:
        """Whether a person reads along."""
        return self._stream.isatty()


class Log(NamedTuple):
    """The daemon's log: the logger, and what to do when nothing follows any more."""

    events: Any
    sink: Sink | RotatingFile
    repeats: Repeats

    def close(self) -> None:
        """Tell what was held back as repeated."""
        self.sink.write(self.repeats.rest())
        self.sink.flush()


def lines_lost() -> int:
    """How many lines the log has lost since the process began."""
    return Sink.lost + RotatingFile.lost


def _escape(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Paths and names come from elsewhere: no control character of theirs reaches a terminal."""
    for name, value in event.items():
        if isinstance(value, str) and name != "exception":
            event[name] = printable(value)
    return event


def for_people(colours: bool) -> Render:
    """Renders an event in a line for a terminal."""
    plain = structlog.dev.plain_traceback
    return structlog.dev.ConsoleRenderer(colors=colours, pad_event_to=0, exception_formatter=plain)


def line_for_people(event: dict[str, Any], render: Render) -> str:
    """A line of the log file as the terminal would have shown it, whoever wrote the file."""
    safe = {printable(name): _harmless(value) for name, value in event.items()}
    safe.pop("exc_info", None)
    for name in ("timestamp", "level", "event"):
        if name in safe:
            safe[name] = str(safe[name])
    for name in ("exception", "stack"):
        if name in safe:
            safe[name] = "\n".join(map(printable, str(event[name]).splitlines()))
    return str(render(None, "", safe))


def _harmless(value: object) -> object:
    if isinstance(value, str):
        return printable(value)
    if is_list(value):
        return [_harmless(item) for item in value]
    if is_object(value):
        return {printable(name): _harmless(item) for name, item in value.items()}
    return value


def _now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


def open_log(level: str, path: Path | None) -> Log:
    """The daemon's log: to a file as JSON lines, else to standard error for people.

    Raises:
        OSError: the file cannot be opened.
    """
    sink: Sink | RotatingFile
    steps: list[Any] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    if path is None:
        # Started with standard error closed, there is nobody to tell.
        stream: IO[str] = sys.stderr or open(os.devnull, "w")
        sink = Sink(stream)
        repeats = Repeats(for_people(colours=sink.isatty()))
    else:
        sink = RotatingFile(path, _now)
        repeats = Repeats(structlog.processors.JSONRenderer())
        steps.append(structlog.processors.format_exc_info)
    structlog.configure(
        processors=[*steps, _escape, repeats],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS.get(level, logging.INFO)),
        # Asks for a TextIO, but only writes and flushes, which is all a sink can do.
        logger_factory=structlog.PrintLoggerFactory(file=sink),  # type: ignore[arg-type]
        cache_logger_on_first_use=False,
    )
    return Log(structlog.get_logger(), sink, repeats)
