"""What reading a durable file can give, and the bounded read behind it."""

from __future__ import annotations

import errno
import os
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


def read_bounded(path: Path, limit: int) -> bytes | Missing | Damaged:
    """The bytes of a regular file of at most `limit` bytes."""
    try:
        # O_NONBLOCK: a fifo at this path must not hold the daemon up.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return Missing()
    except OSError as error:
        if error.errno == errno.ENOTDIR:
            return Missing()
        return Damaged(path, f"it is unreadable: {error.strerror}")
    try:
        with os.fdopen(descriptor, "rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        return Damaged(path, f"it is unreadable: {error.strerror}")
    if len(data) > limit:
        return Damaged(path, f"it is larger than {limit // (1024 * 1024)} MiB")
    return data
