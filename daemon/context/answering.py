"""One answer: ranked or named, chosen, read once more, written, and kept with its receipt."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from functools import cache, lru_cache
from typing import Any, NamedTuple

import msgspec
from msgspec import structs

from fabricd.core.context.analysing import unit_tokens
from fabricd.core.context.asking import Refused, Tokenizer
from fabricd.core.context.chain import Delivery
from fabricd.core.context.corpus import UnitFacts
from fabricd.core.context.counting import counter
from fabricd.core.context.guard.guarding import clean
from fabricd.core.context.offered import Offered, packed_offers
from fabricd.core.context.ranking.ranked import Candidate
from fabricd.core.context.receipt import Receipt
from fabricd.core.context.rendering.composing import Asked, Composed, compose
from fabricd.core.context.rendering.drafting import Draft
from fabricd.core.context.rendering.sources import Known, Source, Wanted
from fabricd.core.context.selecting.offering import Offer
from fabricd.daemon.context.receipting import (
    Census,
    Numbered,
    Place,
    Writing,
    features_of,
    settled,
)
from fabricd.daemon.context.texts import Texts
from fabricd.store.context.receipts import Given, NotKept, ReceiptStore
from fabricd.store.context.snapshot import Snapshot

NOT_KEPT = "receipt not kept"


class Question(NamedTuple):
    """What an answer is given to. `query` is as it stands in the receipt, with `warnings`."""

    query: str
    budget: int
    tokenizer: Tokenizer
    session: str | None
    warnings: tuple[str, ...] = ()


class Choice(NamedTuple):
    """What an answer is made from.

    Attributes:
        candidates: the best first.
        files: indices of files in the order in which they are shown; each candidate's is there.
        no_match, rank, unstable: how many units are no candidates, by why.
    """

    candidates: Sequence[Candidate]
    files: Sequence[int]
    no_match: int
    rank: int
    unstable: int


class Answer(NamedTuple):
    """A finished answer with its receipt (`data` is its text), and what is kept beside it."""

    composed: Composed
    receipt: Receipt
    data: bytes
    texts: Mapping[int, str]
    snapshot: Snapshot
    offered: bytes


def answered(question: Question, choice: Choice, texts: Texts) -> Answer:
    """Make an answer from a choice.

    Args:
        texts: of the snapshot that the choice is made from.

    Raises:
        Refused: the budget is too small.
        Stale: a file of the answer is not what the snapshot tells of.
    """
    return _Answering(question, choice, texts).answer()


class _Answering:
    def __init__(self, question: Question, choice: Choice, texts: Texts) -> None:
        self._question = question
        self._snapshot = snapshot = texts.snapshot
        self._corpus = snapshot.corpus()
        self._files = choice.files
        self._texts = texts
        at = {file: number for number, file in enumerate(choice.files)}
        self._recount = _counter("cl100k").plain if question.tokenizer == "cl100k" else None
        self._sources = self._all_sources(choice)
        self._wanted = [self._want(one, at[one.file]) for one in choice.candidates]
        places = tuple(self._place(one, self._sources[at[one.file]]) for one in choice.candidates)
        skipped = {**snapshot.skipped, "ignored": sum(snapshot.ignored.values())}
        self._units = len(self._corpus.file_of)
        reasons = {"noMatch": choice.no_match, "rank": choice.rank, "unstable": choice.unstable}
        self._writing = Writing(
            question.query,
            question.budget,
            question.tokenizer,
            places,
            Census(self._units, reasons, {why: n for why, n in skipped.items() if n}),
            (*question.warnings, *snapshot.warnings),
            self._texts.lines,
            self._texts.source,
        )
        self._made: tuple[Draft, Receipt, dict[int, str], Numbered] | None = None

    def answer(self) -> Answer:
        question = self._question
        composed = compose(
            Asked(question.budget, question.tokenizer, _counter(question.tokenizer), self._units),
            self._sources,
            self._wanted,
            lambda source: self._texts.lines(self._files[source]),
            self._receipt_of,
        )
        assert self._made is not None and self._made[0] is composed.draft
        _, receipt, texts, numbered = self._made
        receipt = settled(receipt, composed.used)
        offered = packed_offers(self._offered(composed))
        data = numbered.data(composed.used)
        return Answer(composed, receipt, data, texts, self._snapshot, offered)

    def _receipt_of(self, draft: Draft) -> Callable[[int], str]:
        # All files at once: whatever has changed is then known in one go.
        self._texts.require([self._writing.places[one.wanted].file for one in draft.items])
        receipt, texts = self._writing.receipt(draft)
        numbered = Numbered(receipt)
        self._made = draft, receipt, texts, numbered
        return numbered.name

    def _all_sources(self, choice: Choice) -> list[Source]:
        named: dict[int, set[int]] = {}
        for one in choice.candidates:
            named.setdefault(one.file, set()).add(one.unit)
        if self._recount is not None:
            self._texts.require(list(named))
        return [self._source(file, named.get(file, set())) for file in choice.files]

    def _source(self, file: int, units: Set[int]) -> Source:
        found = self._corpus.indexed(file)
        facts = self._corpus.files[file]
        known: Known = found.units
        if self._recount is not None:
            inside = {unit - facts.first_unit for unit in units}
            known = self._recounted(found.units, self._texts.lines(file), inside)
        return Source(shown_path(facts.path), known, found.signals)

    def _recounted(
        self, units: Known, lines: Sequence[str], wanted: Set[int]
    ) -> dict[int, UnitFacts]:
        """The index counts by one vocabulary; by another, what may be shown is counted now."""
        assert self._recount is not None
        shown = set(wanted)
        for number in wanted:
            while (number := units[number].unit.parent) >= 0:
                shown.add(number)
        recount = self._recount
        return {
            number: structs.replace(one, tokens=unit_tokens(lines, one.unit, recount))
            for number, one in ((number, units[number]) for number in sorted(shown))
        }

    def _want(self, candidate: Candidate, source: int) -> Wanted:
        first = self._corpus.files[candidate.file].first_unit
        same = None
        if candidate.same_as >= 0:
            file = int(self._corpus.file_of[candidate.same_as])
            facts = self._corpus.files[file]
            one = self._corpus.indexed(file).units[candidate.same_as - facts.first_unit]
            same = (shown_path(facts.path), one.unit.lines)
        return Wanted(source, candidate.unit - first, candidate.relevance, same)

    def _place(self, candidate: Candidate, source: Source) -> Place:
        first = self._corpus.files[candidate.file].first_unit
        return Place(
            source.path,
            source.units[candidate.unit - first].unit,
            candidate.file,
            features_of(candidate.features, candidate.relevance),
            "duplicate" if candidate.same_as >= 0 else "budget",
            source.signals,
        )

    def _offered(self, composed: Composed) -> Offered:
        def place(offer: Offer) -> tuple[str, int, int]:
            source = self._sources[offer.file]
            return (source.path, *source.units[offer.unit].unit.lines)

        places = tuple(map(place, composed.offers))
        return Offered(composed.offers, composed.headers, places, composed.fixed)


def kept(store: ReceiptStore, answer: Answer, delivery: Delivery) -> tuple[str, ...]:
    """Keep an answer; gives what there is to warn of where that cannot be done."""
    given = Given(answer.receipt, answer.composed.text, answer.texts, answer.offered, answer.data)
    try:
        store.save(given, delivery)
    except NotKept as error:
        return (f"{NOT_KEPT}: {error}",)
    return ()


def answer_value(answer: Answer, delivery: Delivery, warnings: Sequence[str]) -> dict[str, Any]:
    """An answer as JSON: the text, and beside it what the receipt and the delivery say."""
    receipt = answer.receipt
    return {
        "text": answer.composed.text,
        "receipt": answer.composed.receipt,
        "root": delivery.root,
        "budget": receipt.budget,
        "used": receipt.used,
        "tokenizer": receipt.tokenizer,
        "items": msgspec.to_builtins(receipt.items),
        "omitted": {
            "count": receipt.omitted.count,
            "byReason": dict(receipt.omitted.by_reason),
        },
        "certificate": msgspec.to_builtins(receipt.certificate),
        "generation": delivery.generation,
        "startedAt": delivery.started_at,
        "verifiedAt": delivery.verified_at,
        "refreshed": delivery.refreshed,
        "warnings": [*receipt.warnings, *warnings],
    }


# What words cost is remembered by the counter.
_counter = cache(counter)


@lru_cache(maxsize=1 << 14)
def shown_path(path: str) -> str:
    """A path as it may be shown."""
    return clean(path)


def refuse_nothing(query: str) -> Refused:
    """The refusal of a query that nothing in the tree has to do with."""
    return Refused("nothing-relevant", f"nothing in this tree has to do with {query!r:.200}")
