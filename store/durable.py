"""What reading a durable file can give, and the bounded read behind it."""

from __future__ import annotations

import os
import select
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeAlias, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Loaded(Generic[T]):
    """The file is there and sound; `raw` are its bytes."""

    value: T
    raw: bytes


@dataclass(frozen=True)
class Missing:
    """There is no such file."""


@dataclass(frozen=True)
class Damaged:
    """The file is there but cannot be used. It blocks writes to itself until it is cured."""

    path: Path
    reason: str

    @property
    def cure(self) -> str:
        """What the user can do about it."""
        return f"move {shown(self.path)} aside; it is rebuilt"


Load: TypeAlias = Loaded[T] | Missing | Damaged


def shown(path: Path | str | bytes) -> str:
    """A path as text that any terminal and any JSON can carry."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


_PIPE_SECONDS = 3.0


def _read_pipe(path: Path, descriptor: int, limit: int) -> bytes | Damaged:
    """A pipe to its end, as long as its writer goes on saying something."""
    parts: list[bytes] = []
    while sum(map(len, parts)) <= limit:
        if not select.select([descriptor], [], [], _PIPE_SECONDS)[0]:
            return Damaged(path, f"nothing was written to this pipe for {_PIPE_SECONDS:g} s")
        part = os.read(descriptor, 1 << 16)
        if not part:
            return b"".join(parts)
        parts.append(part)
    return Damaged(path, f"it is larger than {limit // (1024 * 1024)} MiB")


def read_bounded(path: Path, limit: int, pipes: bool = False) -> bytes | Missing | Damaged:
    """The bytes of a file of at most `limit` bytes.

    Args:
        pipes: also read a pipe to its end, for a path that a person named. A durable file must be
            a regular one: whoever put a pipe in its place could hold the daemon up.
    """
    try:
        # O_NONBLOCK: a fifo at this path must not hold the daemon up.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return Missing()
    except OSError as error:
        return Damaged(path, f"it is unreadable: {error.strerror}")
    try:
        mode = os.fstat(descriptor).st_mode
        if pipes and stat.S_ISFIFO(mode):
            return _read_pipe(path, descriptor, limit)
        elif not stat.S_ISREG(mode):
            what = "a directory" if stat.S_ISDIR(mode) else "not a regular file"
            return Damaged(path, f"it is {what}")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(limit + 1)
    except OSError as error:
        return Damaged(path, f"it is unreadable: {error.strerror}")
    finally:
        os.close(descriptor)
    if len(data) > limit:
        return Damaged(path, f"it is larger than {limit // (1024 * 1024)} MiB")
    return data
