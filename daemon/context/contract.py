"""What the engine is to whoever runs it: opened once, asked by name, driven step by step."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from fabricd.core.context.asking import Refused
from fabricd.core.steps import Steps
from fabricd.daemon.clock import Clock
from fabricd.ipc.context.wire import Progress

METHODS = (
    "select",
    "show",
    "recover",
    "receipt",
    "explain",
    "replay",
    "stats",
    "forget",
    "index",
    "status",
)
# These look things up and never wait for the index of a root.
LOOKUPS = frozenset({"recover", "receipt", "replay", "stats", "status"})
INSTALL = "pip install 'fabricd[context]'"
_GRAMMARS = "bash c c_sharp cpp go java javascript php python ruby rust typescript"
_NEEDED = (
    *("numpy", "tree_sitter"),
    *(f"tree_sitter_{name}" for name in _GRAMMARS.split()),
)
_COUNTERS = ("rs_bpe", "bpe_openai")


class Engine(Protocol):
    """The context engine of one state directory.

    It holds `context/index.lock` there from `open` to `close`. Several `ask`s are driven in turns,
    so that none may count on being alone between two of its yields; those of one root are not.
    """

    def ask(self, method: str, params: bytes) -> Steps[bytes]:
        """Answer one of `METHODS`: JSON in, a JSON object out; yields wherever it may be left.

        Each answer has a member `text`, which is what people and agents are shown.

        Raises:
            Refused: with the sentence for whoever asked.
        """
        ...

    def rest(self) -> None:
        """Let go of what was remembered on the way and is soon made again."""
        ...

    def close(self) -> None:
        """Let everything go."""
        ...

    @property
    def progress(self) -> Mapping[str, Any]:
        """By root that is being indexed: `(done, total)` in files."""
        ...


class Open(Protocol):
    """Opens an engine.

    Raises:
        AlreadyHeld: another process has it open.
        Refused, OSError: it cannot be opened.
    """

    def __call__(self, state: Path, clock: Clock) -> Engine: ...


def progress_of(engine: Engine) -> tuple[Progress, ...]:
    """What is being indexed now."""
    return tuple(
        Progress(root, int(done), int(total)) for root, (done, total) in engine.progress.items()
    )


def require_installed() -> None:
    """Refuse where the packages of the extra are missing.

    Raises:
        Refused: with the line that installs them.
    """
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if not missing and all(importlib.util.find_spec(name) is None for name in _COUNTERS):
        missing = ["a tokenizer"]
    if missing:
        raise Refused(
            "not-installed",
            f"the context engine is not installed ({missing[0]} is missing): {INSTALL}",
        )


def open_engine(state: Path, clock: Clock) -> Engine:
    """The engine of this package, imported only where it is run.

    Raises:
        AlreadyHeld, Refused, OSError: see `Open`.
    """
    require_installed()
    from fabricd.daemon.context.engine import Engine as Own

    return Own.open(state, clock)
