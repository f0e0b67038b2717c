"""`fabricd-hook`: tells the daemon that a turn ended, in 250 ms or not at all.

Standard library only, no output, always exit 0: a hook must never cost or block its agent. What
a lost message would have told, the daemon's rescan finds. `fabricd-hook repair` is another hook of
the same program: it alone may print, and only what is proven.
"""

from __future__ import annotations

import os
import sys
import time

_DEADLINE = 0.25
_MAX_INPUT = 1 << 20
_OPTIONS = {
    "--agent": "agent",
    "--session": "session",
    "--transcript": "transcript_path",
    "--cwd": "cwd",
}
_MEMBERS = {"session_id": "session", "transcript_path": "transcript_path", "cwd": "cwd"}
# Codex's older way of telling: a program is given one JSON text as its last argument.
_NOTICE = {"thread-id": "session", "cwd": "cwd"}


def _from_arguments(arguments: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    rest = iter(arguments)
    for word in rest:
        name, given, value = word.partition("=")
        if name in _OPTIONS:
            found[_OPTIONS[name]] = value if given else next(rest, "")
    return found


def _from_input(ends: float) -> dict[str, str]:
    """What the agent wrote to standard input, if it did so in time."""
    import json

    data = _input(ends)
    return {} if data is None else _texts(json.loads(data), _MEMBERS)


def _input(ends: float) -> bytes | None:
    """Standard input as far as it may be long; None where it has not ended in time."""
    import select

    descriptor = 0
    if os.isatty(descriptor):
        return None
    data = b""
    while len(data) < _MAX_INPUT:
        left = ends - time.monotonic()
        if left <= 0 or not select.select([descriptor], [], [], left)[0]:
            return None
        part = os.read(descriptor, 1 << 16)
        if not part:
            break
        data += part
    return data


def _repair(arguments: list[str], ends: float) -> None:
    """Print the repair of a call, or nothing."""
    from fabricd.ipc.repair_hook import answer

    agent = _from_arguments(arguments).get("agent", "")
    data = _input(ends - 0.05)
    told = None if data is None or len(data) >= _MAX_INPUT else answer(agent, data, ends)
    if told is not None:
        # In one piece: an agent that reads half of it would have something in doubt.
        os.write(1, told.encode() + b"\n")


def _from_notice(text: str) -> dict[str, str]:
    import json

    notice = json.loads(text)
    if notice["type"] != "agent-turn-complete":
        raise ValueError("no turn has ended")
    return {"agent": "codex", **_texts(notice, _NOTICE)}


def _texts(message: dict[str, object], names: dict[str, str]) -> dict[str, str]:
    """The members that are texts, by our names."""
    found = {ours: message.get(theirs) for theirs, ours in names.items()}
    return {name: value for name, value in found.items() if isinstance(value, str)}


def _post(params: dict[str, str], ends: float) -> None:
    import json
    import socket

    from fabricd.store.addresses import socket_path

    body = {"jsonrpc": "2.0", "method": "turn_end", "params": params}
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(max(0.001, ends - time.monotonic()))
        connection.connect(os.fsencode(socket_path(os.environ)))
        connection.settimeout(max(0.001, ends - time.monotonic()))
        connection.sendall(json.dumps(body).encode() + b"\n")


def main() -> int:
    """Post `turn_end` with what the arguments and the agent's input tell."""
    ends = time.monotonic() + _DEADLINE
    # Everything is caught on purpose: whatever goes wrong here is not the agent's business.
    try:
        arguments = sys.argv[1:]
        if arguments[:1] == ["codex-notify"]:
            params = _from_notice(arguments[-1])
        elif arguments[:1] == ["turn-end"]:
            params = _from_arguments(arguments[1:])
            try:
                params = {**_from_input(ends - 0.1), **params}
            except Exception:
                pass
        else:
            if arguments[:1] == ["repair"]:
                _repair(arguments[1:], ends)
            return 0
        try:
            params.setdefault("cwd", os.getcwd())
        except OSError:
            # The working directory is gone; the message is worth sending without it.
            pass
        _post(params, ends)
    except BaseException:
        return 0
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
