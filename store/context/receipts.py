"""receipts.db: receipts, the texts their handles give back, and each project's chain.

Durable: once it is damaged nothing is written to it until somebody moves it away; what lies there
then, or nothing, is taken for the next one. Texts are kept
for 30 days or 256 MiB; the ids stay, so that what is gone is told from what never was.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from msgspec import Struct, structs

from fabricd.core.context.asking import Refused
from fabricd.core.context.books import Fetch
from fabricd.core.context.chain import Delivery, Kept, Row, linked, place_of
from fabricd.core.context.receipt import (
    Handle,
    Item,
    Receipt,
    canonical,
    handle_of,
    id_of,
)
from fabricd.core.context.verifying import Verified, check_answer, exported
from fabricd.store.context.kept import checking, forgetting, reading, writing
from fabricd.store.context.kept.forgetting import DAYS, LIMIT, Removed
from fabricd.store.context.kept.opening import ADVICE, Opened, reason_of
from fabricd.store.context.kept.rows import Broken, bound, decompressed, joined, unpacked
from fabricd.store.context.kept.schema import SPOILED, UNREADABLE
from fabricd.store.durable import Damaged, shown


class NotKept(RuntimeError):
    """A receipt, or a change of what is kept, was not written. The message says why."""


class Given(Struct, frozen=True):
    """An answer to keep.

    Attributes:
        text: all of it, as delivered, trailer included.
        texts: of each item by its number the text that its `sha256` is of.
        offers: what selection chose from, for `explain`; None where it is not kept.
        data: the receipt's canonical JSON, where it is at hand.
    """

    receipt: Receipt
    text: str
    texts: Mapping[int, str]
    offers: bytes | None = None
    data: bytes | None = None


class Recovered(Struct, frozen=True):
    """What a handle gives back."""

    handle: Handle
    item: Item
    text: str


class ReceiptStore:
    """The receipts of one user. Its owner holds the lock of the index, and opens it alone."""

    def __init__(self, path: Path) -> None:
        """Open, or make, the file. Where that fails `damage` says why, and nothing is kept."""
        self.path = path
        self._file = Opened(path)

    @property
    def damage(self) -> Damaged | None:
        """Why nothing is kept, now that it was looked at once more; None where all is well."""
        self._file.connection()
        return self._file.damage

    def close(self) -> None:
        """Give the file up."""
        self._file.close()

    def save(self, given: Given, delivery: Delivery) -> Row:
        """Keep an answer, and the fact that it was given.

        Raises:
            NotKept: nothing was written.
            ValueError: a text is not the one that its item names, or the delivery is of another.
        """
        data = canonical(given.receipt) if given.data is None else given.data
        texts = _matched(given, delivery, data)
        session = None if delivery.session is None else bound(delivery.session)
        delivery = structs.replace(delivery, root=bound(delivery.root), session=session)
        with self._writing() as connection:
            name = writing.put_receipt(connection, data)
            writing.put_answer(
                connection, given.receipt, name, _whole(given.text), texts, given.offers
            )
            row = linked(delivery, writing.last_link(connection, delivery.root))
            writing.put_row(connection, row)
        return row

    def load(self, receipt: str, root: str) -> Receipt:
        """A receipt that was given in this project.

        Raises:
            Refused: it is `unknown`, `forbidden`, `gone` or `tampered`, or the file `failed`.
        """
        with self._reading() as connection:
            return reading.load(connection, receipt, bound(root))

    def chain(self, root: str) -> list[Kept]:
        """A project's chain in the order of its numbers."""
        with self._reading() as connection:
            return reading.chain_of(connection, bound(root))

    def rows(self, receipt: str, root: str) -> list[Row]:
        """The rows of a receipt in a project's chain, oldest first."""
        links = (kept.link for kept in self.chain(root))
        return [link for link in links if isinstance(link, Row) and link.receipt == receipt]

    def export(self, receipt: str, root: str) -> bytes:
        """A receipt as a file for others, with its rows.

        Raises:
            Refused: as `load`; `tampered` also where a row of it is.
        """
        found = self.load(receipt, root)
        rows: list[Row] = []
        for kept in self.chain(root):
            if not isinstance(kept.link, Row) or kept.link.receipt != receipt:
                continue
            if kept.link.digest != kept.digest:
                # Exported with a digest of its own it would pass for sound.
                words = f"{place_of(kept.link)} does not match its digest"
                raise Refused("tampered", f"{receipt}: {words}")
            rows.append(kept.link)
        return exported(found, rows)

    def recover(self, handle: str, root: str) -> Recovered:
        """The text of an item as it was delivered; of a reference, the text it stands for.

        Raises:
            Refused: as `load`.
        """
        named = handle_of(handle)
        if named is None:
            raise Refused("unknown", f"{handle} is no handle; one looks like cr_0123456789abcdef#1")
        with self._reading() as connection:
            receipt = reading.load(connection, named.receipt, bound(root))
            item = next((item for item in receipt.items if item.n == named.n), None)
            if item is None:
                raise Refused("unknown", f"{named.receipt} has no item #{named.n}")
            texts = reading.texts_of(connection, named.receipt, (item,))
        return Recovered(named, item, texts[item.n])

    def replay(self, receipt: str, root: str) -> str:
        """The answer of a receipt once more, byte for byte, from what is kept alone.

        Raises:
            Refused: as `load`.
        """
        with self._reading() as connection:
            found = reading.load(connection, receipt, bound(root))
            texts = reading.texts_of(connection, receipt, found.items)
            stored = reading.answer_of(connection, receipt)
        try:
            answer = joined(unpacked(stored.body), texts)
        except Broken as error:
            raise Refused("tampered", f"{receipt}: {error}") from error
        if check_answer(found, receipt, answer):
            raise Refused("tampered", f"{receipt}: the answer does not match its digest")
        return answer

    def offers(self, receipt: str, root: str) -> bytes | None:
        """What selection chose from; None where it was not kept, or is gone.

        Raises:
            Refused: it is `unknown`, `forbidden` or `tampered`.
        """
        with self._reading() as connection:
            reading.require_given(connection, receipt, bound(root))
            try:
                stored = reading.answer_of(connection, receipt)
                return None if stored.offers is None else decompressed(stored.offers)
            except Broken as error:
                raise Refused("tampered", f"{receipt}: {error}") from error
            except Refused as refused:
                if refused.reason == "gone":
                    return None
                raise

    def verify(self, receipt: str, root: str) -> Verified:
        """Check a receipt, what is kept of it, and its project's chain.

        Raises:
            Refused: it is `unknown` or `forbidden`, or the file `failed`.
        """
        with self._reading() as connection:
            return checking.verify(connection, receipt, bound(root))

    def verify_all(self) -> list[Verified]:
        """Check all that is kept, in each project; gives what is not sound.

        Raises:
            Refused: the file `failed`.
        """
        with self._reading() as connection:
            return checking.verify_all(connection)

    def purge(self, now: int, days: int = DAYS, limit: int = LIMIT) -> Removed:
        """Delete texts that are older than so many days, and the oldest above so many bytes.

        Ids, rows and, while there is room, receipts stay. `now` is in milliseconds since 1970.

        Raises:
            NotKept: it could not be done.
        """
        with self._writing() as connection:
            removed = forgetting.purge(connection, now, days, limit)
        self._shrink()
        return removed

    def forget(
        self, root: str | None = None, before: int | None = None, everything: bool = False
    ) -> Removed:
        """Delete rows of a project, or before a moment (milliseconds since 1970), or all of both.

        With them goes every receipt that no row names any more; then the file is written anew, so
        that nothing of them is left in it.

        Raises:
            NotKept: it could not be done.
            ValueError: it is not said what.
        """
        if root is None and before is None and not everything:
            raise ValueError("somebody has to say what to forget")
        with self._writing() as connection:
            where = None if root is None else bound(root)
            removed = forgetting.forget(connection, where, before, everything)
        try:
            with self._changing() as connection:
                connection.execute("VACUUM")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except NotKept as error:
            words = f"the rows are deleted, but the file was not written anew: {error}"
            raise NotKept(words) from None
        return removed

    def fetched(self, fetch: Fetch) -> None:
        """Enter into the books that something was shown or recovered.

        Raises:
            NotKept: it is not written.
        """
        with self._writing() as connection:
            writing.put_fetch(connection, fetch, bound)

    def fetches(self, root: str | None = None) -> list[Fetch]:
        """What was shown or recovered, oldest first; of all projects where none is named.

        Raises:
            Refused: the file `failed`.
        """
        with self._reading() as connection:
            return reading.fetches(connection, None if root is None else bound(root))

    def deliveries(self, root: str | None = None) -> dict[str, list[Row]]:
        """The rows of all chains by receipt; of all projects where none is named.

        Raises:
            Refused: the file `failed`.
        """
        with self._reading() as connection:
            return reading.deliveries(connection, None if root is None else bound(root))

    def used_bytes(self) -> int:
        """How many bytes of the file are in use.

        Raises:
            Refused: the file `failed`.
        """
        with self._reading() as connection:
            return forgetting.used_bytes(connection)

    def _shrink(self) -> None:
        with self._changing() as connection:
            connection.execute("PRAGMA incremental_vacuum").fetchall()

    @contextmanager
    def _reading(self) -> Generator[sqlite3.Connection]:
        connection = self._file.connection()
        if connection is None:
            raise Refused("failed", self._file.trouble())
        try:
            yield connection
        except sqlite3.Error as error:
            self._file.note(error)
            raise Refused("failed", f"{shown(self.path)}: {reason_of(error)}") from error
        except UNREADABLE as error:
            raise Refused("failed", self._spoiled()) from error

    @contextmanager
    def _changing(self) -> Generator[sqlite3.Connection]:
        connection = self._file.connection()
        if connection is None or self._file.damage is not None:
            raise NotKept(self._file.trouble())
        try:
            yield connection
        except sqlite3.Error as error:
            self._file.note(error)
            raise NotKept(f"{shown(self.path)}: {reason_of(error)}") from error
        except UNREADABLE as error:
            raise NotKept(self._spoiled()) from error

    @contextmanager
    def _writing(self) -> Generator[sqlite3.Connection]:
        with self._changing() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise

    def _spoiled(self) -> str:
        # Of one row alone, as far as is known: others are still written and read.
        return f"{shown(self.path)}: {SPOILED}{ADVICE}"


def _matched(given: Given, delivery: Delivery, data: bytes) -> dict[int, str]:
    """The texts of an answer, once all of it is what its receipt says."""
    name = id_of(data)
    if delivery.receipt != name:
        raise ValueError(f"a delivery of {delivery.receipt} is none of {name}")
    for finding in check_answer(given.receipt, name, given.text):
        raise ValueError(f"{name}: {finding.trouble}")
    texts = {n: _whole(text) for n, text in given.texts.items()}
    for item in given.receipt.items:
        if sha256(texts[item.n].encode()).hexdigest() != item.sha256:
            raise ValueError(f"the text of {name}#{item.n} is not the one of its sha256")
    return texts


def _whole(text: str) -> str:
    """The text that was digested: a lone surrogate has no UTF-8."""
    return text.encode("utf-8", "replace").decode()
