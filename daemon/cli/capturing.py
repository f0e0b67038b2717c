"""Starting an MCP server from the command line to see what it lists."""

from __future__ import annotations

import contextlib
import math
import signal
from collections.abc import Generator, Sequence
from types import FrameType
from typing import Any

from fabricd.daemon.cli.talk import FAILED, Complaint, say


def tools_of(
    words: Sequence[str], timeout: float, prefix: str = "", failed: int = FAILED
) -> dict[str, Any]:
    """The tools that a server lists: the schema by name, with a prefix before it.

    Args:
        failed: the exit code where the server was started, and did not list them.

    Raises:
        Complaint: it cannot be started, or did not list them.
    """
    from fabricd import __version__
    from fabricd.core.documents import BadDocument
    from fabricd.core.history.declared import listed
    from fabricd.ipc.capture import CaptureFailed, NoSuchCommand, capture

    if math.isnan(timeout):
        raise Complaint("--timeout is no number of seconds")
    try:
        with _ended_by_signals():
            found = capture(words, __version__, timeout)
        return listed(found.tools, prefix)
    except NoSuchCommand as error:
        raise Complaint(str(error)) from None
    except CaptureFailed as error:
        for line in error.stderr:
            say(f"the server said: {line}")
        raise Complaint(str(error), failed) from None
    except BadDocument as error:
        raise Complaint(f"the server's listing cannot be used: {error}", failed) from None


@contextlib.contextmanager
def _ended_by_signals() -> Generator[None]:
    """Let what ends fabricd end its server first: that has a session of its own."""
    numbers = [
        number
        for number in (signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is signal.SIG_DFL
    ]

    def end(received: int, _: FrameType | None) -> None:
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)
        raise SystemExit(128 + received)

    for number in numbers:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)
