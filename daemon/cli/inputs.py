"""What several commands read from the command line."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from fabricd.core.plain import printable
from fabricd.daemon.cli.talk import Complaint, say
from fabricd.store.durable import Damaged, Loaded, Missing, read_bounded, shown

if TYPE_CHECKING:
    # For annotations alone: each command imports only what it uses.
    from fabricd.core.compiling.artifact import Artifact
    from fabricd.core.model import Surface
    from fabricd.core.sessions.samples import Recording
    from fabricd.daemon.offline.measuring import Measured


_DRAWN_SECONDS = 0.1


def surface_at(path: Path) -> Surface:
    """The surface of a file that was named.

    Raises:
        Complaint: it is missing or unusable.
    """
    from fabricd.store import surfaces

    match surfaces.load(path, pipes=True):
        case Loaded(value=surface):
            return surface
        case Missing():
            raise Complaint(f"{printable(shown(path))} does not exist")
        case Damaged(reason=reason):
            raise Complaint(f"{printable(shown(path))} is no surface: {reason}")


def artifact_at(path: Path) -> Artifact:
    """The artifact of a file that was named.

    Raises:
        Complaint: it is missing or unusable.
    """
    from fabricd.store import artifacts

    match artifacts.load(path):
        case Loaded(value=artifact):
            return artifact
        case Missing():
            raise Complaint(f"{printable(shown(path))} does not exist")
        case Damaged(reason=reason):
            raise Complaint(f"{printable(shown(path))} is no artifact: {reason}")


def bytes_at(name: str, limit: int) -> bytes:
    """A document that was named, `-` for standard input.

    Raises:
        Complaint: it cannot be read, or is larger than `limit` bytes.
    """
    if name != "-":
        match read_bounded(Path(name), limit, pipes=True):
            case Missing():
                raise Complaint(f"{name} does not exist")
            case Damaged(reason=reason):
                raise Complaint(f"{name} cannot be used: {reason}")
            case bytes() as data:
                return data
    try:
        data = sys.stdin.buffer.read(limit + 1)
    except (OSError, AttributeError, ValueError):
        raise Complaint("standard input cannot be read") from None
    if len(data) > limit:
        raise Complaint(f"standard input is larger than {limit // (1024 * 1024)} MiB")
    return data


@contextmanager
def progress(total: int) -> Generator[Callable[[int], None] | None, None, None]:
    """A progress bar over bytes on stderr, where a person would wait long enough to want one."""
    if total < 200 * 1024 * 1024 or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (BarColumn(), DownloadColumn(binary_units=True), TimeRemainingColumn())
    # Drawn by whoever reads: a thread of the bar's own would stand in the way of a fork.
    with Progress(*columns, console=console, transient=True, auto_refresh=False) as bar:
        task = bar.add_task("reading", total=total)
        drawn = 0.0

        def advance(size: int) -> None:
            nonlocal drawn
            now = time.monotonic()
            bar.update(task, advance=size, refresh=now - drawn > _DRAWN_SECONDS)
            drawn = now if now - drawn > _DRAWN_SECONDS else drawn

        yield advance


@contextmanager
def without_collections() -> Generator[None, None, None]:
    """No searches for cycles: a scan makes millions of objects and no cycle among them."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def measured(
    directory: Path,
    window: int | None = None,
    include_root: bool = True,
    project: str | None = None,
    alone: bool = False,
) -> Measured:
    """Measure a directory that was named; what could not be read is said on stderr.

    Arguments as those of `offline.measure`.

    Raises:
        Complaint: the directory itself cannot be read.
    """
    from fabricd.daemon.offline import measuring as offline
    from fabricd.store.sessions import discover

    try:
        files = discover(directory, include_root).files
        size = sum(file.size for file in files)
        with progress(size) as advance, without_collections():
            found = offline.measure(directory, window, project, advance, include_root, alone)
    except OSError as error:
        raise Complaint(
            f"{printable(shown(directory))} cannot be read: {error.strerror or error}"
        ) from None
    for skip in found.skipped:
        say(f"skipped {printable(skip.path)}: {skip.reason}")
    return found


def recordings_in(directory: Path, window: int | None = None) -> Iterator[Recording]:
    """The recordings of a directory that was named, with `window` of its newest logs alone.

    What could not be read is said on stderr in the end.

    Raises:
        Complaint: the directory itself cannot be read.
    """
    from fabricd.core.window import select
    from fabricd.daemon.offline.recorded import recorded
    from fabricd.store.sessions import discover

    try:
        with os.scandir(directory):
            pass
    except OSError as error:
        raise Complaint(
            f"{printable(shown(directory))} cannot be read: {error.strerror or error}"
        ) from None
    listing = discover(directory, include_root=True)
    chosen = listing.files if window is None else select(listing.files, window)
    skipped = [(skip.path, skip.reason) for skip in listing.skipped]
    with progress(sum(file.size for file in chosen)) as advance:
        for file in sorted(chosen, key=lambda file: file.path):
            try:
                yield from recorded(file.path, advance)
            except OSError as error:
                skipped.append((shown(file.path), error.strerror or str(error)))
    for path, reason in skipped:
        say(f"skipped {printable(path)}: {reason}")
