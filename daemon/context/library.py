"""Context for Python programs: what `fabricd context` does, as objects.

The daemon is asked where one runs; else the index is opened in this process, for each call.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabricd.core.context.asking import BUDGET, Refused, Tokenizer
from fabricd.daemon.context.asking import Asking, Unreachable

__all__ = ["Answer", "Context", "Refused", "Unreachable"]


def _silent(_: str) -> None:
    """Whoever imports us decides what is printed."""


@dataclass(frozen=True)
class Answer:
    """An answer of the engine.

    Attributes:
        text: what an agent reads; `used` counts it.
        receipt: the id of a receipt: of `select` and `show` their own, of `explain`, `replay` and a
            verified `receipt` the one that was asked about; None of `recover`, `index` and a
            `receipt` that is not verified, whose `value` has the `id` and the whole receipt.
        used: tokens of the whole text by `tokenizer`; 0 where none were counted.
        items: what was given, as `--json` has it.
        value: everything that was answered.
    """

    text: str
    receipt: str | None
    used: int
    budget: int
    tokenizer: str
    items: tuple[dict[str, Any], ...]
    value: dict[str, Any]

    def __str__(self) -> str:
        return self.text


class Context:
    """The context of one tree. Each call reads what is on disk then."""

    def __init__(
        self,
        root: str | os.PathLike[str] = ".",
        *,
        env: Mapping[str, str] | None = None,
        say: Callable[[str], None] = _silent,
    ) -> None:
        """Nothing is opened yet.

        Args:
            root: a directory in the tree.
            say: is told that no daemon was found, and other things out of the ordinary.
        """
        self.root = Path(os.path.abspath(root))
        self._asking = Asking(os.environ if env is None else env, say)

    def select(
        self,
        query: str,
        *,
        budget: int = BUDGET,
        tokenizer: Tokenizer = "o200k",
        paths: Sequence[str] = (),
    ) -> Answer:
        """What a query is about, in at most `budget` tokens.

        Raises:
            Refused: `budget-too-small`, `nothing-relevant`, and others; its message says what.
            Unreachable: another process holds the index and does not answer.
        """
        params = {"query": query, "budget": budget, "tokenizer": tokenizer, "paths": list(paths)}
        return self._answer("select", params)

    def show(self, what: str, *, budget: int = BUDGET, tokenizer: Tokenizer = "o200k") -> Answer:
        """What is on disk now of a handle, `path`, `path:a-b` or symbol.

        Raises:
            Refused, Unreachable: see `select`.
        """
        return self._answer("show", {"what": what, "budget": budget, "tokenizer": tokenizer})

    def recover(self, handle: str, *, budget: int = BUDGET) -> Answer:
        """An item in full as it was delivered.

        Raises:
            Refused, Unreachable: see `select`; `gone`, `unknown` and `forbidden` are its reasons.
        """
        return self._answer("recover", {"handle": handle, "budget": budget})

    def explain(self, what: str, *, receipt: str) -> Answer:
        """Why something was selected or left out of an answer.

        Raises:
            Refused, Unreachable: see `select`.
        """
        return self._answer("explain", {"what": what, "receipt": receipt})

    def receipt(self, receipt: str, *, verify: bool = False) -> Answer:
        """The receipt of an answer, perhaps verified.

        Raises:
            Refused, Unreachable: see `select`.
        """
        return self._answer("receipt", {"receipt": receipt, "verify": verify})

    def replay(self, receipt: str) -> Answer:
        """An answer once more, byte for byte.

        Raises:
            Refused, Unreachable: see `select`.
        """
        return self._answer("replay", {"receipt": receipt})

    def index(self) -> Answer:
        """Bring the index up to date ahead of the first query.

        Raises:
            Refused, Unreachable: see `select`.
        """
        return self._answer("index", {})

    def _answer(self, method: str, params: Mapping[str, object]) -> Answer:
        value = self._asking.ask(method, {**params, "root": os.fspath(self.root)})
        receipt = value.get("receipt")
        return Answer(
            text=str(value.get("text", "")),
            receipt=receipt if isinstance(receipt, str) else None,
            used=int(value.get("used", 0)),
            budget=int(value.get("budget", params.get("budget", 0))),
            tokenizer=str(value.get("tokenizer", "")),
            items=tuple(value.get("items", ())),
            value=value,
        )
