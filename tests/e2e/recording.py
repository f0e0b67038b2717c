"""A pipe that keeps what passes: `recording.py FOLDER COMMAND…` writes FOLDER/up and FOLDER/down.

It runs as a script, before or behind what is under test, and imports none of it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import BinaryIO

_MOST = 1 << 16


def _copy(source: int, target: int, record: BinaryIO) -> None:
    try:
        while data := os.read(source, _MOST):
            record.write(data)
            record.flush()
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(target, rest) :]
    except OSError:
        pass
    finally:
        os.close(target)


def main() -> int:
    """Copy both directions until the command ends; gives its exit code."""
    folder, command = Path(sys.argv[1]), sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdin is not None and child.stdout is not None
    with (folder / "up").open("wb") as up, (folder / "down").open("wb") as down:
        written = os.dup(child.stdin.fileno())
        child.stdin.close()
        upwards = threading.Thread(target=_copy, args=(0, written, up), daemon=True)
        upwards.start()
        _copy(child.stdout.fileno(), 1, down)
        code = child.wait()
        # The client may hold its end open: that thread is not waited for.
        upwards.join(0.2)
        os._exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    raise SystemExit(main())
