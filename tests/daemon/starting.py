"""Daemons in the background, which no test may leave behind."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from fabricd.store.locks import holder
from tests.harness import ROOT, Daemon

OTHER_VERSION = "9.9.9"


def pretend_another_version(folder: Path) -> str:
    """A module path on which fabricd says that it is another version."""
    (folder / "other" / f"fabricd-{OTHER_VERSION}.dist-info").mkdir(parents=True)
    return os.pathsep.join([str(folder / "other"), str(ROOT / "src")])


@contextmanager
def background(folder: Path, **environment: str) -> Generator[Daemon, None, None]:
    """A home whose daemon, however it was started, is gone afterwards."""
    subject = Daemon(folder, **environment)
    try:
        yield subject
    finally:
        held = holder(subject.home / "fabricd.lock")
        if held is not None and held.pid is not None and held.pid != os.getpid():
            os.kill(held.pid, 9)
        subject.kill()


def at_once(subject: Daemon, count: int, *arguments: str) -> list[subprocess.Popen[str]]:
    """The same command so many times, side by side."""
    return [
        subprocess.Popen(
            [sys.executable, "-m", "fabricd", *arguments],
            env=subject.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(count)
    ]
