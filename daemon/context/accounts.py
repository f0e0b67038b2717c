"""What is indexed, what was given, and how it is forgotten."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import msgspec

from fabricd.core.context import asking
from fabricd.core.context.asking import Refused
from fabricd.core.context.books import booked_words
from fabricd.core.context.counting import counter
from fabricd.core.context.guard.guarding import clean
from fabricd.core.plain import counted
from fabricd.core.steps import Steps
from fabricd.daemon.clock import Clock
from fabricd.daemon.context.delivering import Delivering
from fabricd.store.context.bookkeeping import booked
from fabricd.store.context.git import NoRoot
from fabricd.store.context.index import Store
from fabricd.store.context.keeping import Kept
from fabricd.store.context.perils import Perils
from fabricd.store.context.reading import told
from fabricd.store.context.receipts import ReceiptStore
from fabricd.store.context.snapshot import Snapshot

_NOTHING = "no tree is indexed yet: the first query indexes its tree"


class Accounts:
    """The index and the receipts as wholes."""

    def __init__(
        self,
        store: Store,
        receipts: ReceiptStore,
        delivering: Delivering,
        perils: Perils,
        clock: Clock,
        env: Mapping[str, str],
    ) -> None:
        self._store = store
        self._receipts = receipts
        self._delivering = delivering
        self._perils = perils
        self._clock = clock
        self._env = env

    def index(self, asked: asking.Index) -> Steps[dict[str, Any]]:
        """Bring a tree up to date."""
        started = self._clock.monotonic()
        snapshot = yield from self._delivering.refreshed(asked.root)
        found = _tree(snapshot)
        found["milliseconds"] = round((self._clock.monotonic() - started) * 1000)
        found["read"] = snapshot.read
        return {**found, "text": _tree_words(found)}

    def status(self, asked: asking.Stats) -> Steps[dict[str, Any]]:
        """What is indexed, and what is being indexed now."""
        return (yield from self._kept(asked))

    def stats(self, asked: asking.Stats) -> Steps[dict[str, Any]]:
        """What is kept, and the books: what each session was given, took again and read again."""
        found = yield from self._kept(asked)
        root = found["trees"][0]["root"] if asked.root is not None and found["trees"] else None
        if asked.root is not None and root is None:
            return found
        if self._receipts.damage is not None:
            return found
        books = yield from booked(self._receipts, self._env, counter("o200k"), root)
        return {
            **found,
            "books": msgspec.to_builtins(books),
            "text": found["text"] + booked_words(books),
        }

    def _kept(self, asked: asking.Stats) -> Steps[dict[str, Any]]:
        """All trees that are kept, what is being indexed now, and the size of it."""
        root = None
        if asked.root is not None:
            root = told((yield from self._store.place(asked.root)).root)
        trees = [kept for kept in self._store.kept() if root in (None, kept.path)]
        yield
        nothing = (
            _NOTHING if root is None else f"{root} is not indexed yet: the first query does it"
        )
        running = {
            root: {"done": done, "of": total}
            for root, (done, total) in self._delivering.progress.items()
        }
        # While a tree is indexed what is kept of it is a part.
        words = "".join(
            f"indexing {root}: {one['done']} of {one['of']} files\n"
            for root, one in running.items()
        )
        lines = [_kept_words(kept) for kept in trees] or [nothing]
        return {
            "trees": [
                {
                    "root": kept.path,
                    "files": kept.files,
                    "units": kept.units,
                    "skipped": kept.skipped,
                    "generation": kept.generation,
                }
                for kept in trees
            ],
            "indexing": running,
            "indexBytes": self._store.bytes,
            **self._health(),
            "text": words + "\n".join(lines) + "\n" + self._health_words(),
        }

    def forget(self, asked: asking.Forget) -> Steps[dict[str, Any]]:
        """Delete what is kept of a tree, of receipts before a moment, or all of it."""
        if not asked.everything and asked.root is None and asked.before is None:
            raise Refused("usage", "say what to forget: a root, a moment, or everything")
        root, missing = None, None
        if asked.root is not None:
            try:
                root = (yield from self._store.place(asked.root)).root
            except NoRoot as error:
                if "\0" in asked.root:
                    raise
                # A tree that was deleted is forgotten by the place where it lay.
                root, missing = os.path.realpath(asked.root), error
        before = None if asked.before is None else asked.before * 1000
        trees = 0
        if asked.everything:
            # First what needs no room on the disk, and makes some.
            trees = self._store.forget()
            self._perils.forget()
        removed = self._receipts.forget(told(root) if root else None, before, asked.everything)
        yield
        # Receipts before a moment have to do with no index.
        if not asked.everything and root is not None and before is None:
            trees = self._store.forget(root)
        if missing is not None and not trees and not removed.rows:
            raise missing
        words = (
            f"forgot {counted(trees, 'tree', 'trees')}, "
            f"{counted(removed.rows, 'delivery', 'deliveries')}\n"
        )
        return {"trees": trees, "deliveries": removed.rows, "text": words}

    def _health(self) -> dict[str, Any]:
        damage = self._receipts.damage
        return {
            "notices": list(self._store.notices),
            "receiptsDamaged": None if damage is None else damage.reason,
        }

    def _health_words(self) -> str:
        lines = list(self._store.notices)
        if (damage := self._receipts.damage) is not None:
            lines.append(f"receipts are not kept: {damage.reason}")
        return "".join(f"{line}\n" for line in lines)


def _kept_words(kept: Kept) -> str:
    skipped = ", ".join(f"{count} {reason}" for reason, count in sorted(kept.skipped.items()))
    return (
        f"{kept.path}: {counted(kept.files, 'file', 'files')}, "
        f"{counted(kept.units, 'unit', 'units')}" + (f"; skipped: {skipped}" if skipped else "")
    )


def _tree(snapshot: Snapshot) -> dict[str, Any]:
    corpus = snapshot.corpus()
    return {
        "root": snapshot.root,
        "files": len(corpus.files),
        "units": len(corpus.file_of),
        "refreshed": snapshot.refreshed,
        "generation": snapshot.generation,
        "skipped": dict(snapshot.skipped),
        "ignored": {clean(folder): count for folder, count in snapshot.ignored.items()},
        "warnings": list(snapshot.warnings),
    }


def _tree_words(found: dict[str, Any]) -> str:
    lines = [
        f"{found['root']}: {counted(found['files'], 'file', 'files')}, "
        f"{counted(found['units'], 'unit', 'units')}, "
        f"{counted(found['refreshed'], 'file', 'files')} changed"
    ]
    lines += [f"  {reason}: {count}" for reason, count in found["skipped"].items()]
    ignored = sum(found["ignored"].values())
    if ignored:
        lines.append(f"  ignored: {ignored}")
    lines += [f"  {warning}" for warning in found["warnings"]]
    return "\n".join(lines) + "\n"
