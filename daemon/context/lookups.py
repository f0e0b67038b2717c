"""What is known of an answer that was given: its texts, its receipt, and why it is as it is."""

from __future__ import annotations

from typing import Any

import msgspec

from fabricd.core.context import asking
from fabricd.core.context.asking import Refused
from fabricd.core.context.chain import structs_by_name
from fabricd.core.context.counting import counter
from fabricd.core.context.explaining import Explanation, Subject, explain_steps, only, subjects
from fabricd.core.context.markdown import markdown
from fabricd.core.context.model import Unit
from fabricd.core.context.offered import NotOffers, Offered, read_offers
from fabricd.core.context.pointing import plain
from fabricd.core.context.ranking.ranked import Candidate, rank
from fabricd.core.context.receipt import Left, Receipt, handle_of, is_id
from fabricd.core.context.verdicts import verified
from fabricd.core.context.words import explained, recovered
from fabricd.core.steps import Steps
from fabricd.daemon.context.answering import shown_path
from fabricd.daemon.context.delivering import Delivering
from fabricd.daemon.context.receipting import features_of
from fabricd.store.context.corpus import StoredCorpus
from fabricd.store.context.index import Store
from fabricd.store.context.receipts import ReceiptStore


class Lookups:
    """Answers that change nothing."""

    def __init__(self, store: Store, receipts: ReceiptStore, delivering: Delivering) -> None:
        self._store = store
        self._receipts = receipts
        self._delivering = delivering

    def recover(self, asked: asking.Recover) -> Steps[dict[str, Any]]:
        """An item as it was delivered; of a reference, what it stood for."""
        root = yield from self._root(asked.root)
        found = self._receipts.recover(asked.handle, root)
        text = recovered(found.item, found.text)
        tokens = counter("o200k")(text)
        if tokens > asked.budget:
            words = f"{asked.handle} has {tokens} tokens; the budget is {asked.budget}"
            raise Refused("budget-too-small", words, tokens)
        self._delivering.book("recover", root, asked.session, asked.handle, tokens)
        return {
            "text": text,
            "handle": asked.handle,
            "used": tokens,
            "item": msgspec.to_builtins(found.item),
        }

    def receipt(self, asked: asking.Receipt) -> Steps[dict[str, Any]]:
        """A receipt with its deliveries; perhaps verified, or as a file for others."""
        if asked.verify and asked.export:
            raise Refused("usage", "a receipt is verified or exported, not both at once")
        root = yield from self._root(asked.root)
        name = _receipt_of(asked.receipt)
        if asked.export:
            return {"text": self._receipts.export(name, root).decode(), "id": name}
        if asked.verify:
            found = self._receipts.verify(name, root)
            return {
                "text": verified(found),
                "verified": found.is_sound,
                **msgspec.to_builtins(found),
            }
        receipt = self._receipts.load(name, root)
        rows = self._receipts.rows(name, root)
        return {
            "text": markdown(receipt),
            "id": name,
            "receipt": msgspec.to_builtins(receipt),
            "deliveries": [{**structs_by_name(row), "digest": row.digest} for row in rows],
        }

    def replay(self, asked: asking.Replay) -> Steps[dict[str, Any]]:
        """The answer once more."""
        root = yield from self._root(asked.root)
        name = _receipt_of(asked.receipt)
        return {"text": self._receipts.replay(name, root), "receipt": name}

    def explain(self, asked: asking.Explain) -> Steps[dict[str, Any]]:
        """Why a unit was given, or was not."""
        root = yield from self._root(asked.root)
        name = _receipt_of(asked.receipt)
        what = _meant(asked.what, name)
        receipt = self._receipts.load(name, root)
        found = subjects(receipt, name, what)
        if not found:
            found = yield from self._ranked_now(receipt, asked.root, what)
        offered = self._offered(name, root)
        told: list[Explanation] = []
        for subject in found:
            told.append((yield from explain_steps(receipt, subject, offered)))
        return {
            "text": explained(told),
            "receipt": name,
            "selected": all(one.n is not None for one in told),
            "units": msgspec.to_builtins(told),
        }

    def _root(self, path: str) -> Steps[str]:
        place = yield from self._store.place(path)
        return place.root

    def _offered(self, receipt: str, root: str) -> Offered | None:
        data = self._receipts.offers(receipt, root)
        try:
            return None if data is None else read_offers(data)
        except NotOffers:
            return None

    def _ranked_now(self, receipt: Receipt, root: str, what: str) -> Steps[list[Subject]]:
        """Units that the receipt does not tell of, by a ranking of the tree as it is now."""
        snapshot = yield from self._delivering.refreshed(root)
        corpus = snapshot.corpus()
        ranked = rank(corpus, receipt.query)
        units = {one.unit: (at, one) for at, one in enumerate(ranked.candidates, 1)}
        meant: list[Subject] = []
        for file, facts in enumerate(corpus.files):
            if _may_hold(corpus, file, what):
                for number, one in enumerate(corpus.indexed(file).units):
                    if _is_meant(shown_path(facts.path), one.unit, what):
                        found = units.get(facts.first_unit + number)
                        meant.append(_subject(shown_path(facts.path), one.unit, found))
        if not meant:
            raise Refused("unknown", f"no indexed path or symbol of this tree is {what!r:.200}")
        by_name = not any(_is_at(one.unit.path, what) for one in meant)
        return only(meant, what) if by_name else meant[:20]


def _receipt_of(name: str) -> str:
    """The id of a receipt; of an item's handle, that of its receipt.

    Raises:
        Refused: `unknown`: it is neither.
    """
    if (handle := handle_of(name)) is not None:
        return handle.receipt
    if not is_id(name):
        raise Refused("unknown", f"{name!r:.200} is no receipt; one looks like cr_0123456789abcdef")
    return name


def _meant(what: str, receipt: str) -> str:
    """What is to be explained; `#9` is an item of the receipt at hand."""
    if not what.strip():
        raise Refused("usage", "say what to explain: a handle, a path, path:a-b, or a symbol")
    return f"{receipt}{what}" if handle_of(f"{receipt}{what}") is not None else plain(what)


def _subject(path: str, unit: Unit, found: tuple[int, Candidate] | None) -> Subject:
    if found is None:
        left = Left(path, *unit.lines, unit.kind, unit.qualified, "rank", {})
        return Subject(left, None, True)
    at, one = found
    features = features_of(one.features, one.relevance)
    left = Left(path, *unit.lines, unit.kind, unit.qualified, "rank", features)
    return Subject(left, at, True)


def _is_at(path: str, what: str) -> bool:
    return what == path or what.startswith(f"{path}:")


def _may_hold(corpus: StoredCorpus, file: int, what: str) -> bool:
    facts = corpus.files[file]
    if _is_at(shown_path(facts.path), what):
        return True
    simple = what.rpartition(".")[2]
    units = corpus.defining((simple,)).get(simple)
    if units is None:
        return False
    first, last = facts.first_unit, facts.first_unit + facts.units
    return bool(((units >= first) & (units < last)).any())


def _is_meant(path: str, unit: Unit, what: str) -> bool:
    if what == path:
        return True
    if what.startswith(f"{path}:"):
        first, _, last = what[len(path) + 1 :].partition("-")
        if not first.isdigit() or not (last or first).isdigit():
            return False
        return unit.lines[0] <= int(last or first) and int(first) <= unit.lines[1]
    return unit.qualified == what or unit.qualified.endswith(f".{what}")
