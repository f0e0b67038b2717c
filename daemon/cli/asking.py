"""What `fabricd status` asks and prints: standard library only, since prompts call it often."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fabricd.core.plain import counted, is_object, printable
from fabricd.daemon.cli.talk import Complaint, env, out, say
from fabricd.ipc.client import NeedsRestart, NotRunning, Probe, Ready, Unreachable, probe
from fabricd.store.addresses import SocketPathTooLong, socket_path

if TYPE_CHECKING:
    from fabricd.daemon.cli.elsewhere import Holding

NOT_RUNNING = 3
STALE = 4


def status(as_json: bool) -> int:
    """Print how the daemon is; gives the exit code: 0 ready, 3 not running, 4 stale or silent."""
    from fabricd import __version__

    try:
        path = socket_path(env())
    except SocketPathTooLong as error:
        raise Complaint(str(error), 78) from None
    found: Probe | Holding = probe(path, __version__)
    if isinstance(found, NotRunning):
        found, path = _elsewhere(path, __version__)
    return _told(found, path, as_json)


def _elsewhere(path: str, version: str) -> tuple[Probe | Holding, str]:
    """What answers where the holder of the home listens, and where that is; or the holder."""
    # Not imported before it is needed: most often a daemon answers.
    from fabricd.daemon.cli.elsewhere import holding

    held = holding(env())
    if held is None:
        return NotRunning(), path
    if held.socket is None:
        return held, path
    found = probe(held.socket, version)
    if isinstance(found, NotRunning):
        return held, path
    if (words := held.differs(path)) is not None:
        say(words)
    return found, held.socket


def _told(found: Probe | Holding, path: str, as_json: bool) -> int:
    match found:
        case Ready(reply=reply):
            out(_line(reply.result) if as_json else _words(reply.result))
            return 0
        case NeedsRestart(reason=reason, reply=reply):
            if as_json:
                known = reply.result if is_object(reply.result) else {}
                out(_line({**known, "needsRestart": reason}))
            say(f"the running daemon needs a restart: {reason}; replace it with: fabricd restart")
            return STALE
        case Unreachable(reason=reason):
            if as_json:
                out(_line({"state": "unreachable", "socket": path, "reason": reason}))
            say(
                f"the daemon at {printable(path)} does not answer: {reason}; replace it with: "
                "fabricd restart --force"
            )
            return STALE
        case NotRunning():
            if as_json:
                out(_line({"state": "not_running", "socket": path}))
            say(f"no daemon runs (socket {printable(path)}); start one with: fabricd start")
            return NOT_RUNNING
        case _:
            if as_json:
                out(_line({"state": "not_listening", "socket": path, "pid": found.pid}))
            say(found.silence)
            return STALE


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value) + "\n"


def _words(status: dict[str, Any]) -> str:
    files, report, artifact = status["files"], status["report"], status["artifact"]
    rate = 100 * report["score"]
    lines = [
        f"{status['state']}: fabricd {status['version']} (protocol {status['protocol']}), "
        f"pid {status['pid']}, up {_age(status['uptimeSeconds'])}, "
        f"{status['rssBytes'] / 1048576:.0f} MiB",
        f"home      {printable(status['home'])}",
        f"socket    {printable(status['socket'])}",
        f"files     {files['known']} known, {files['window']} in the window "
        f"({_size(files['bytes'])}), {_size(files['behind'])} behind",
        f"rejected  {report['invocationRejections']:,} of "
        f"{counted(report['actionOperations'], 'call', 'calls')} ({rate:.2f} %)",
        f"artifact  {_artifact(artifact)}",
        f"compile   {_compile(status['lastCompile'])}",
    ]
    if (worker := status.get("context")) is not None:
        lines.append(f"context   {_worker(worker)}")
    for ailment in status["degraded"]:
        lines.append(f"degraded  {printable(ailment['what'])}: {printable(ailment['why'])}")
        lines.append(f"          cure: {printable(ailment['cure'])}")
    return "\n".join(lines) + "\n"


def _artifact(artifact: dict[str, Any]) -> str:
    text = f"{artifact['state']}, {counted(artifact['plans'], 'plan', 'plans')}"
    if beyond := artifact.get("beyondLimit"):
        verb = "gets" if beyond == 1 else "get"
        text += f"; {counted(beyond, 'action', 'actions')} beyond the first 1,000 {verb} none"
    return text + (f": {printable(artifact['reason'])}" if "reason" in artifact else "")


def _compile(finished: dict[str, Any] | None) -> str:
    if finished is None:
        return "none yet"
    words = str(finished["outcome"].replace("_", " "))
    if "reason" in finished:
        words += f": {printable(finished['reason'])}"
    return words + (f"; observation pool {finished['pool']}" if "pool" in finished else "")


def _worker(worker: dict[str, Any]) -> str:
    size = f", {worker['rssBytes'] / 1048576:.0f} MiB" if "rssBytes" in worker else ""
    asked = counted(worker["requests"], "request", "requests")
    return f"worker pid {worker['pid']}{size}, {asked}"


def _age(seconds: float) -> str:
    whole = int(seconds)
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if whole >= size:
            return f"{whole // size} {unit}"
    return f"{whole} s"


def _size(count: int) -> str:
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return counted(count, "byte", "bytes")
