"""Reading what is kept of a receipt, and refusing what may not, or cannot, be given."""

from __future__ import annotations

from collections.abc import Iterable
from sqlite3 import Connection

from fabricd.core.context.asking import Refused
from fabricd.core.context.books import Fetch
from fabricd.core.context.chain import Finding, Kept, Row
from fabricd.core.context.receipt import Item, Receipt, is_id
from fabricd.core.context.verifying import check_receipt, check_texts
from fabricd.store.context.kept.rows import (
    GAP,
    ROW,
    Broken,
    Stored,
    decompressed,
    digest_of,
    gap_of,
    row_of,
)

_GONE = "its texts were purged; the id stays"


def chain_of(connection: Connection, root: str) -> list[Kept]:
    """A project's chain, rows and gaps in the order of their numbers."""
    rows = [row_of(row) for row in connection.execute(f"{ROW} WHERE root = ?", (root,))]
    gaps = [gap_of(row) for row in connection.execute(f"{GAP} WHERE root = ?", (root,))]
    return sorted(rows + gaps, key=lambda kept: kept.link.first)


def require_given(connection: Connection, receipt: str, root: str) -> None:
    """See that a receipt was given in a project.

    Raises:
        Refused: it is `unknown` or `forbidden`.
    """
    found = connection.execute("SELECT DISTINCT root FROM chain WHERE receipt = ?", (receipt,))
    roots = {name for (name,) in found}
    if root in roots:
        return
    if roots:
        raise Refused("forbidden", f"{receipt} belongs to another project")
    raise Refused("unknown", f"{receipt} was never given here, or it was forgotten")


def receipt_bytes(connection: Connection, receipt: str) -> bytes | Finding | None:
    """The canonical JSON that is stored under an id; None: it was purged."""
    found = connection.execute("SELECT body, digest FROM receipts WHERE id = ?", (receipt,))
    row = found.fetchone()
    if row is None:
        return Finding("receipt", "it is missing")
    body, digest = row
    if body is None and digest == "":
        return None
    if not isinstance(body, bytes) or digest_of(receipt, body) != digest:
        return Finding("receipt", "its row does not match its digest")
    try:
        return decompressed(body)
    except Broken as error:
        return Finding("receipt", str(error))


def load(connection: Connection, receipt: str, root: str) -> Receipt:
    """A receipt that was given in a project.

    Raises:
        Refused: it is `unknown`, `forbidden`, `gone` or `tampered`.
    """
    if not is_id(receipt):
        raise Refused("unknown", f"{receipt} is no receipt; one looks like cr_0123456789abcdef")
    require_given(connection, receipt, root)
    data = receipt_bytes(connection, receipt)
    if data is None:
        raise Refused("gone", f"{receipt} was purged; the id stays")
    found = data if isinstance(data, Finding) else check_receipt(receipt, data)
    if isinstance(found, Finding):
        raise _tampered(receipt, found)
    return found


def stored_answer(connection: Connection, receipt: str) -> Stored | Finding | None:
    """What an answer is put together from; None: it was purged."""
    row = connection.execute(
        "SELECT body, offers, digest FROM answers WHERE receipt = ?", (receipt,)
    ).fetchone()
    if row is None:
        return None
    body, offers, digest = row
    if not isinstance(body, bytes) or not isinstance(offers, (bytes, type(None))):
        return Finding("answer", "its row does not match its digest")
    if digest_of(receipt, body, offers) != digest:
        return Finding("answer", "its row does not match its digest")
    return Stored(body, offers)


def answer_of(connection: Connection, receipt: str) -> Stored:
    """As `stored_answer`.

    Raises:
        Refused: it is `gone` or `tampered`.
    """
    found = stored_answer(connection, receipt)
    if found is None:
        raise Refused("gone", f"{receipt}: {_GONE}")
    if isinstance(found, Finding):
        raise _tampered(receipt, found)
    return found


def stored_texts(connection: Connection, items: Iterable[Item]) -> dict[str, bytes]:
    """The texts of items by their digests, as far as they are there."""
    texts: dict[str, bytes] = {}
    for digest in {item.sha256 for item in items}:
        row = connection.execute("SELECT body FROM texts WHERE sha256 = ?", (digest,)).fetchone()
        if row is not None:
            # What is no longer bytes does not match its digest either.
            texts[digest] = row[0] if isinstance(row[0], bytes) else b"" + str(row[0]).encode()
    return texts


def texts_of(connection: Connection, receipt: str, items: Iterable[Item]) -> dict[int, str]:
    """The texts of items by their numbers.

    Raises:
        Refused: they are `gone` or `tampered`.
    """
    chosen = tuple(items)
    answer_of(connection, receipt)
    texts = stored_texts(connection, chosen)
    findings = check_texts(chosen, texts)
    if findings:
        raise _tampered(receipt, findings[0])
    return {item.n: texts[item.sha256].decode() for item in chosen}


def _tampered(receipt: str, finding: Finding) -> Refused:
    return Refused("tampered", f"{receipt}, {finding.place}: {finding.trouble}")


def deliveries(connection: Connection, root: str | None) -> dict[str, list[Row]]:
    """The rows of all chains, or of one, by receipt, oldest first."""
    found: dict[str, list[Row]] = {}
    rows = connection.execute(f"{ROW} WHERE ?1 IS NULL OR root = ?1 ORDER BY root, seq", (root,))
    for columns in rows:
        row = row_of(columns).link
        if isinstance(row, Row):
            found.setdefault(row.receipt, []).append(row)
    return found


def fetches(connection: Connection, root: str | None) -> list[Fetch]:
    """What was shown or recovered, oldest first."""
    found = connection.execute(
        "SELECT at, root, session, kind, name, tokens FROM fetched"
        " WHERE ?1 IS NULL OR root = ?1 ORDER BY at, rowid",
        (root,),
    )
    return [Fetch(*columns) for columns in found]
