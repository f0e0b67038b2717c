"""Asking the engine from outside the daemon: over the socket, else by opening the index here.

Standard library until a daemon is missing: most calls find one.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fabricd.core.plain import is_object
from fabricd.daemon.context.utf8 import require_utf8
from fabricd.ipc.client import CallFailed, NoAnswer, NoDaemon, call, patient_call
from fabricd.store.addresses import SocketPathTooLong, socket_path

if TYPE_CHECKING:
    from fabricd.core.context.asking import Refused
    from fabricd.daemon.context.contract import Engine

Say = Callable[[str], None]
Advance = Callable[[int, int], None]

# More than the daemon gives a request: it is the one to say that it took too long.
SECONDS = 930.0
_POLL = 0.25
_NOT_FOUND = -32601


class Unreachable(RuntimeError):
    """Raised where nobody answers: the index is held, or the daemon is of another version."""


class Asking:
    """One who asks, in an environment. `say` is told what is out of the ordinary."""

    def __init__(self, env: Mapping[str, str], say: Say) -> None:
        self._env = env
        self._say = say

    def ask(self, method: str, params: Mapping[str, object]) -> dict[str, Any]:
        """The engine's answer.

        Raises:
            Refused: the engine's.
            Unreachable: see there.
        """
        require_utf8(params)
        try:
            return self._by_daemon(method, params)
        except NoDaemon:
            why = "no daemon runs"
        except NoAnswer as error:
            why = f"the daemon does not answer ({error})"
        with self._engine(why) as engine:
            return _finished(engine, method, params, None)

    def index(self, params: Mapping[str, object], advance: Advance) -> dict[str, Any]:
        """As `ask("index", …)`; `advance` is told now and then how many files of how many are done.

        Raises:
            Refused, Unreachable: see `ask`.
        """
        require_utf8(params)
        try:
            return self._watched(params, advance)
        except NoDaemon:
            why = "no daemon runs"
        except NoAnswer as error:
            why = f"the daemon does not answer ({error})"
        with self._engine(why) as engine:
            return _finished(engine, "index", params, advance)

    def _by_daemon(self, method: str, params: Mapping[str, object]) -> dict[str, Any]:
        try:
            path = socket_path(self._env)
        except SocketPathTooLong as error:
            raise Unreachable(str(error)) from None
        try:
            found = patient_call(path, f"context.{method}", dict(params), SECONDS).result
        except CallFailed as error:
            raise _refused(error) from None
        if not is_object(found):
            raise NoAnswer("the answer is not what this version expects")
        return found

    def _watched(self, params: Mapping[str, object], advance: Advance) -> dict[str, Any]:
        import threading

        ended: list[dict[str, Any] | Exception] = []

        def asking() -> None:
            try:
                ended.append(self._by_daemon("index", params))
            except Exception as error:
                ended.append(error)

        thread = threading.Thread(target=asking, daemon=True)
        thread.start()
        while not ended:
            thread.join(_POLL)
            if not ended and (told := self._progress(str(params.get("root")))) is not None:
                advance(*told)
        if isinstance(ended[0], Exception):
            raise ended[0]
        return ended[0]

    def _progress(self, root: str) -> tuple[int, int] | None:
        """How far the index of a root is, by the daemon; of whatever root is the only one."""
        try:
            told = call(socket_path(self._env), "context.progress", seconds=1.0).result["progress"]
            inside = [each for each in told if _is_inside(root, each["root"])]
            each = (inside or told)[0]
            return int(each["done"]), int(each["total"])
        except (NoDaemon, NoAnswer, CallFailed, LookupError, TypeError, ValueError):
            return None

    @contextmanager
    def _engine(self, why: str) -> Generator[Engine, None, None]:
        from pathlib import Path

        from fabricd.core.context.asking import Refused
        from fabricd.daemon.clock import SystemClock
        from fabricd.daemon.context.contract import open_engine
        from fabricd.store.addresses import state_dir
        from fabricd.store.locks import AlreadyHeld

        try:
            engine = open_engine(Path(state_dir(self._env)), SystemClock())
        except AlreadyHeld as error:
            raise Unreachable(f"{why}, and {error}, the context index") from None
        except OSError as error:
            where = f": {error.strerror or error}"
            raise Unreachable(f"{why}, and the context index cannot be opened{where}") from None
        except Refused:
            raise
        except Exception as error:
            words = f"the context index cannot be opened ({_place(error)})"
            raise Refused("failed", words) from error
        self._say(f"{why}; this command has opened the context index itself")
        try:
            yield engine
        finally:
            engine.close()


def _finished(
    engine: Engine, method: str, params: Mapping[str, object], advance: Advance | None
) -> dict[str, Any]:
    from fabricd.core.context.asking import Refused

    steps = engine.ask(method, json.dumps(params).encode())
    told = time.monotonic()
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: dict[str, Any] = json.loads(end.value)
            return found
        except Refused:
            raise
        except Exception as error:
            # As the worker has it: kind and place, for its words may quote anything.
            raise Refused("failed", f"the context engine failed ({_place(error)})") from error
        if advance is not None and time.monotonic() - told > _POLL:
            told = time.monotonic()
            for done, total in engine.progress.values():
                advance(done, total)


def _place(error: BaseException) -> str:
    import traceback

    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} at {os.path.basename(last.filename)}:{last.lineno}"


def _is_inside(path: str, root: str) -> bool:
    return path == root or os.path.realpath(path).startswith(root.rstrip("/") + "/")


def _refused(error: CallFailed) -> Refused | Unreachable:
    """What the daemon's error means."""
    from fabricd.core.context.asking import REASONS, Refused

    if error.code == _NOT_FOUND:
        return Unreachable("the running daemon knows no context: fabricd restart")
    smallest = error.data.get("smallest")
    # Without a reason of ours the parameters were no parameters.
    reason = REASONS.get(error.reason or "usage", "failed")
    return Refused(reason, str(error), smallest if isinstance(smallest, int) else None)
