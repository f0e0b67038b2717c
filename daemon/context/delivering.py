"""Answers to queries and names: never over budget, never of bytes that were not just read."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from fabricd.core.context.asking import (
    LARGEST_BUDGET,
    LONGEST_QUERY,
    SMALLEST_BUDGET,
    Refused,
    Select,
    Show,
)
from fabricd.core.context.books import Fetch, Kind
from fabricd.core.context.chain import Delivery
from fabricd.core.context.guard.guarding import clean
from fabricd.core.context.ranking.ranked import Ranked, rank
from fabricd.core.steps import Steps
from fabricd.daemon.clock import Clock
from fabricd.daemon.context.answering import (
    Answer,
    Choice,
    Question,
    answer_value,
    answered,
    kept,
    refuse_nothing,
)
from fabricd.daemon.context.naming import named
from fabricd.daemon.context.texts import Stale, Texts
from fabricd.store.context.failures import IndexDamaged, Outdated
from fabricd.store.context.index import Store
from fabricd.store.context.receipts import NotKept, ReceiptStore
from fabricd.store.context.refreshing import Progress
from fabricd.store.context.snapshot import Snapshot

# A file that differs from what was just read of it, so many times in a row, is left out.
_ATTEMPTS = 3
_PURGE_SECONDS = 3600.0

Choosing: TypeAlias = Callable[[Snapshot], Choice]


class Delivering:
    """Gives answers and keeps their receipts.

    Attributes:
        progress: by root that is being indexed: files done, of how many.
    """

    def __init__(self, store: Store, receipts: ReceiptStore, clock: Clock) -> None:
        self._store = store
        self._receipts = receipts
        self._clock = clock
        self._progress: dict[str, Progress] = {}
        self._purged: float | None = None

    @property
    def progress(self) -> Mapping[str, tuple[int, int]]:
        """By root that is being indexed: files done, of how many."""
        return {root: (one.files, one.of_files) for root, one in self._progress.items()}

    def refreshed(self, root: str) -> Steps[Snapshot]:
        """The tree that a path lies in, as it is on the disk now."""
        progress = self._progress[root] = Progress()
        try:
            return (yield from self._store.refresh(root, progress))
        finally:
            self._progress.pop(root, None)

    def select(self, asked: Select) -> Steps[dict[str, Any]]:
        """Give what a query is about."""
        if not asked.query.strip():
            raise Refused("usage", "the query is empty: say what the answer is to be about")
        if len(asked.query) > LONGEST_QUERY:
            raise Refused("usage", f"the query is longer than {LONGEST_QUERY} characters")
        query = clean(asked.query)
        place = yield from self._store.place(asked.root)
        prefixes = prefixes_of(place.root, asked.paths)
        warnings = tuple(f"looked only below {clean(path)}" for path in prefixes)
        question = Question(query, asked.budget, asked.tokenizer, asked.session, warnings)

        def choosing(snapshot: Snapshot) -> Choice:
            _require_files(snapshot, prefixes)
            return _choice(rank(snapshot.corpus(), query, prefixes))

        return (yield from self._delivered(question, asked.root, choosing))

    def show(self, asked: Show) -> Steps[dict[str, Any]]:
        """Show what is on disk now of a handle, a path, lines of it, or a symbol."""
        what = clean(asked.what)
        question = Question(f"show {what}", asked.budget, asked.tokenizer, asked.session)

        def choosing(snapshot: Snapshot) -> Choice:
            return named(asked.what, snapshot, self._receipts)

        found = yield from self._delivered(question, asked.root, choosing, is_shown=True)
        self.book("show", found["root"], asked.session, found["receipt"], found["used"])
        return found

    def book(self, kind: Kind, root: str, session: str | None, name: str, tokens: int) -> None:
        """Enter into the books what was shown or recovered; an answer does not depend on it."""
        with contextlib.suppress(NotKept):
            self._receipts.fetched(Fetch(self._now(), root, session, kind, name, tokens))

    def _delivered(
        self, question: Question, root: str, choosing: Choosing, is_shown: bool = False
    ) -> Steps[dict[str, Any]]:
        _require_budget(question.budget)
        started = self._now()
        refreshed = 0
        for attempt in range(1, _ATTEMPTS + 1):
            snapshot = yield from self.refreshed(root)
            refreshed += snapshot.refreshed
            choice: Choice | None = None
            try:
                choice = choosing(snapshot)
                if not choice.candidates:
                    raise refuse_nothing(question.query)
                yield
                answer = answered(question, choice, Texts(snapshot))
            except (IndexDamaged, Outdated):
                # The next refresh makes anew what is missing.
                if attempt == _ATTEMPTS:
                    raise
            except Stale as stale:
                if attempt == _ATTEMPTS and choice is not None:
                    answer = yield from _of_what_stays(question, choice, snapshot, stale.paths)
                    return self._kept(answer, question, started, refreshed)
            else:
                if is_shown:
                    _require_text(answer, question.budget)
                return self._kept(answer, question, started, refreshed)
        raise AssertionError("unreachable")

    def _kept(
        self, answer: Answer, question: Question, started: int, refreshed: int
    ) -> dict[str, Any]:
        delivery = Delivery(
            answer.composed.receipt,
            answer.snapshot.generation,
            started,
            self._now(),
            refreshed,
            question.session,
            answer.snapshot.root,
        )
        warnings = kept(self._receipts, answer, delivery)
        self._purge()
        return answer_value(answer, delivery, warnings)

    def _purge(self) -> None:
        now = self._clock.monotonic()
        if self._purged is None or now - self._purged > _PURGE_SECONDS:
            self._purged = now
            # What is not purged now is purged in an hour: the answer does not wait for it.
            with contextlib.suppress(NotKept):
                self._receipts.purge(self._now())

    def _now(self) -> int:
        return self._clock.wall_ns() // 1_000_000


def _choice(ranked: Ranked) -> Choice:
    outside = ranked.scored - len(ranked.candidates)
    files = dict.fromkeys((*ranked.files, *(one.file for one in ranked.candidates)))
    return Choice(ranked.candidates, tuple(files), ranked.no_match, outside, 0)


def _of_what_stays(
    question: Question, choice: Choice, snapshot: Snapshot, unstable: frozenset[str]
) -> Steps[Answer]:
    """An answer without files that would not stand still. What was read once is not read again."""
    texts = Texts(snapshot)
    while True:
        left = _without(choice, snapshot, unstable)
        if not left.candidates:
            raise Refused("failed", "the files of the answer change faster than they can be read")
        yield
        try:
            return answered(question, left, texts)
        except Stale as stale:
            unstable |= stale.paths


def _without(choice: Choice, snapshot: Snapshot, unstable: frozenset[str]) -> Choice:
    files = snapshot.corpus().files
    left = [one for one in choice.candidates if files[one.file].path not in unstable]
    shown = [file for file in choice.files if files[file].path not in unstable]
    return choice._replace(
        candidates=left, files=shown, unstable=len(choice.candidates) - len(left)
    )


def prefixes_of(root: str, paths: Sequence[str]) -> tuple[str, ...]:
    """Prefixes as ranking takes them, below the root of a tree.

    Raises:
        Refused: `forbidden`: one leads out of the tree.
    """
    found: list[str] = []
    for path in paths:
        plain = os.path.normpath(os.path.join(root, path))
        if plain != root and not plain.startswith(f"{root}/"):
            raise Refused("forbidden", f"{path!r:.200} lies outside {root}")
        found.append(os.path.relpath(plain, root))
    return tuple(found)


def _require_files(snapshot: Snapshot, prefixes: Sequence[str]) -> None:
    paths = [file.path for file in snapshot.corpus().files]
    for prefix in prefixes:
        if prefix != "." and not any(
            path == prefix or path.startswith(f"{prefix}/") for path in paths
        ):
            raise Refused("usage", f"no file that is indexed lies below {prefix!r:.200}")


def _require_text(answer: Answer, budget: int) -> None:
    """Whoever asks to be shown something wants more than a line that names it."""
    composed = answer.composed
    if any(item.level != "reference" for item in answer.receipt.items):
        return
    costs = [
        cost + composed.headers[offer.file]
        for offer in composed.offers
        for cost in (offer.skeleton, offer.full)
        if cost
    ]
    if costs:
        # References to the best files are served first, with eight parts of a hundred.
        least = max(budget + 1, (min(costs) + composed.fixed) * 100 // 92 + 2)
        words = f"nothing of it fits into {budget} tokens; the smallest part needs {least}"
        raise Refused("budget-too-small", words, least)


def _require_budget(budget: int) -> None:
    if budget > LARGEST_BUDGET:
        raise Refused("usage", f"the budget is {budget}; the largest is {LARGEST_BUDGET}")
    if budget < SMALLEST_BUDGET:
        words = f"the budget is {budget}; nothing is given below {SMALLEST_BUDGET}"
        raise Refused("budget-too-small", words, SMALLEST_BUDGET)
