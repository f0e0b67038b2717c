"""The context engine: one index, one tokenizer, one receipt for whoever asks."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import msgspec
import orjson

from fabricd.core.context import asking
from fabricd.core.context.analysing import forget_words
from fabricd.core.context.asking import Refused
from fabricd.core.context.counting import NoTokenizer
from fabricd.core.context.guard.guarding import clean
from fabricd.core.steps import Steps
from fabricd.daemon.clock import Clock
from fabricd.daemon.context.accounts import Accounts
from fabricd.daemon.context.analysing import analyser
from fabricd.daemon.context.delivering import Delivering
from fabricd.daemon.context.lookups import Lookups
from fabricd.store.context.failures import IndexDamaged, IndexFailed
from fabricd.store.context.git import NoRoot
from fabricd.store.context.index import Store, hold_index, lock_path
from fabricd.store.context.listing import TooMany
from fabricd.store.context.perils import Perils
from fabricd.store.context.receipts import NotKept, ReceiptStore

# No file system knows longer ones.
_LONGEST_PATH = 4096
# The year 10000, in seconds.
_END_OF_TIME = 253_402_300_800


def receipts_path(state: Path) -> Path:
    """Where receipts lie in a state directory."""
    return state / "context" / "receipts.db"


class Engine:
    """The engine of one state directory; it holds the lock there until it is closed."""

    def __init__(
        self,
        store: Store,
        receipts: ReceiptStore,
        perils: Perils,
        clock: Clock,
        env: Mapping[str, str],
        held: ExitStack,
    ) -> None:
        """`open` makes one; `held` lets go of all that it holds."""
        self._held = held
        self._delivering = Delivering(store, receipts, clock)
        self._lookups = Lookups(store, receipts, self._delivering)
        self._accounts = Accounts(store, receipts, self._delivering, perils, clock, env)
        self._methods: Mapping[str, tuple[type[Any], Callable[[Any], Steps[dict[str, Any]]]]] = {
            "select": (asking.Select, self._delivering.select),
            "show": (asking.Show, self._delivering.show),
            "recover": (asking.Recover, self._lookups.recover),
            "receipt": (asking.Receipt, self._lookups.receipt),
            "explain": (asking.Explain, self._lookups.explain),
            "replay": (asking.Replay, self._lookups.replay),
            "index": (asking.Index, self._accounts.index),
            "status": (asking.Stats, self._accounts.status),
            "stats": (asking.Stats, self._accounts.stats),
            "forget": (asking.Forget, self._accounts.forget),
        }

    @classmethod
    def open(cls, state: Path, clock: Clock, env: Mapping[str, str] | None = None) -> Self:
        """Open the engine of a state directory.

        Args:
            env: where the agents' logs are looked for, for the books; this process's by default.

        Raises:
            AlreadyHeld: another process has it open.
            Refused: the index cannot be opened, or no tokenizer is installed.
            OSError: the lock cannot be made.
        """
        with ExitStack() as stack:
            lock = hold_index(state)
            stack.callback(lock.close)
            perils = Perils(lock_path(state).parent)
            stack.callback(perils.close)
            try:
                store = Store.open(state, analyser(perils), lock)
            except (IndexFailed, IndexDamaged, NoTokenizer) as error:
                raise Refused("failed", str(error)) from None
            stack.callback(store.close)
            receipts = ReceiptStore(receipts_path(state))
            stack.callback(receipts.close)
            environment = os.environ if env is None else env
            return cls(store, receipts, perils, clock, environment, stack.pop_all())
        raise AssertionError("unreachable")

    def ask(self, method: str, params: bytes) -> Steps[bytes]:
        """Answer a method: JSON in, a JSON object out; yields wherever it may be left.

        Raises:
            Refused: with the sentence for whoever asked.
        """
        shape, answer = self._methods[method]
        try:
            asked = msgspec.json.decode(params, type=shape)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise Refused("usage", f"the parameters do not fit: {error}") from None
        _require_sensible(asked)
        try:
            found = yield from answer(asked)
        except Refused as refused:
            # A sentence may quote what was asked.
            raise Refused(refused.reason, clean(refused.message), refused.smallest) from None
        except (NoRoot, TooMany) as error:
            raise Refused("usage", clean(str(error))) from None
        except (IndexFailed, IndexDamaged, NotKept, NoTokenizer) as error:
            raise Refused("failed", str(error)) from None
        return orjson.dumps(found)

    @property
    def progress(self) -> Mapping[str, tuple[int, int]]:
        """By root that is being indexed: files done, of how many."""
        return self._delivering.progress

    def rest(self) -> None:
        """Let go of what was remembered on the way and is soon made again."""
        forget_words()

    def close(self) -> None:
        """Let everything go; more than once is allowed."""
        self._held.close()


def _require_sensible(asked: Any) -> None:
    """What no file system and no clock knows.

    Raises:
        Refused: `usage`.
    """
    root = getattr(asked, "root", None)
    if root is not None and ("\0" in root or len(root) > _LONGEST_PATH):
        raise Refused("usage", "the root is no path")
    before = getattr(asked, "before", None)
    if before is not None and not 0 <= before < _END_OF_TIME:
        raise Refused("usage", "the moment lies outside of all calendars")
