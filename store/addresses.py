"""Where state and socket are, by the environment alone. Standard library, for the hook."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

SOCKET_BYTES = 103


class SocketPathTooLong(ValueError):
    """Raised by `socket_path`: the kernel would refuse or cut the path."""

    def __init__(self, path: str) -> None:
        size = len(os.fsencode(path))
        text = os.fsencode(path).decode("utf-8", "backslashreplace")
        super().__init__(
            f"the socket path {text} has {size} bytes, at most {SOCKET_BYTES} work on every "
            "system: set FABRICD_SOCKET to a shorter path"
        )


def _home(env: Mapping[str, str]) -> str:
    return env.get("HOME") or os.path.expanduser("~")


def absolute(path: str, env: Mapping[str, str]) -> str:
    """A path with `~` expanded, made absolute."""
    if path == "~" or path.startswith("~/"):
        path = _home(env) + path[1:]
    return os.path.abspath(path)


def state_dir(env: Mapping[str, str]) -> str:
    """Cursors and caches: under the home where one is set, else the user's state directory."""
    if home := env.get("FABRICD_HOME"):
        return os.path.join(absolute(home, env), "state")
    if given := env.get("FABRICD_STATE_DIR"):
        return absolute(given, env)
    if sys.platform == "darwin":
        return os.path.join(_home(env), "Library", "Application Support", "fabricd")
    base = env.get("XDG_STATE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(_home(env), ".local", "state")
    return os.path.join(base, "fabricd")


def socket_path(env: Mapping[str, str]) -> str:
    """The control socket, the same for daemon, hook and every client.

    Raises:
        SocketPathTooLong: more than 103 bytes.
    """
    path = _socket_candidate(env)
    if len(os.fsencode(path)) > SOCKET_BYTES:
        raise SocketPathTooLong(path)
    return path


def _socket_candidate(env: Mapping[str, str]) -> str:
    if given := env.get("FABRICD_SOCKET"):
        return absolute(given, env)
    if home := env.get("FABRICD_HOME"):
        return os.path.join(absolute(home, env), "run", "control.sock")
    runtime = env.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(runtime) and os.path.isdir(runtime):
        return os.path.join(runtime, "fabricd", "control.sock")
    return os.path.join(state_dir(env), "run", "control.sock")
