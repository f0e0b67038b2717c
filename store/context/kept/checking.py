"""Verifying what is stored: a receipt, what is kept of it, and the chain of its project."""

from __future__ import annotations

from sqlite3 import Connection

from fabricd.core.context.chain import Finding, Gap, Row, check_chain, place_of
from fabricd.core.context.receipt import Receipt
from fabricd.core.context.verifying import (
    Texts,
    Verified,
    check_answer,
    check_receipt,
    check_texts,
)
from fabricd.store.context.kept.reading import (
    chain_of,
    receipt_bytes,
    require_given,
    stored_answer,
    stored_texts,
)
from fabricd.store.context.kept.rows import ROW, Broken, joined, row_of, unpacked


def verify(connection: Connection, receipt: str, root: str) -> Verified:
    """Check a receipt, what is kept of it, and the chain of a project in which it was given.

    Raises:
        Refused: it is `unknown` or `forbidden`.
    """
    chain = chain_of(connection, root)
    rows = [kept.link for kept in chain if isinstance(kept.link, Row)]
    gaps = [kept.link for kept in chain if isinstance(kept.link, Gap)]
    findings = check_chain(chain)
    given = sum(row.receipt == receipt for row in rows)
    findings += _strayed(connection, receipt, root)
    if not given and not findings:
        require_given(connection, receipt, root)
    content, texts = check_content(connection, receipt)
    forgotten = sum(gap.last - gap.first + 1 for gap in gaps)
    return Verified(receipt, (*content, *findings), texts, given, len(rows), forgotten)


def verify_all(connection: Connection) -> list[Verified]:
    """Check every receipt in every project; gives what is not sound."""
    pairs = connection.execute(
        "SELECT receipt, root FROM chain UNION SELECT '', root FROM forgotten"
        " UNION SELECT id, '' FROM receipts WHERE id NOT IN (SELECT receipt FROM chain)"
        " UNION SELECT receipt, '' FROM answers WHERE receipt NOT IN (SELECT receipt FROM chain)"
        " ORDER BY 2, 1"
    ).fetchall()
    chains: dict[str, list[Finding]] = {}
    found: list[Verified] = []
    for receipt, root in pairs:
        if root not in chains:
            chains[root] = check_chain(chain_of(connection, root))
            if chains[root]:
                found.append(Verified("", tuple(chains[root]), "gone", 0, 0, 0))
        content, texts = check_content(connection, receipt) if receipt else ([], "gone")
        content += [] if root or not receipt else [Finding("receipt", "no row names it")]
        if content:
            found.append(Verified(receipt, tuple(content), texts, 0, 0, 0))
    return found


def _strayed(connection: Connection, receipt: str, root: str) -> list[Finding]:
    """What shows that a row of a receipt was changed so that it stands in no chain, or another."""
    named = connection.execute(f"{ROW} WHERE receipt = ?", (receipt,)).fetchall()
    changed = [
        Finding(place_of(kept.link), "it stands in another chain than it was written in")
        for kept in map(row_of, named)
        if kept.link.root != root and kept.link.digest != kept.digest
    ]
    if changed:
        return changed
    known = connection.execute("SELECT 1 FROM receipts WHERE id = ?", (receipt,)).fetchone()
    return [] if named or known is None else [Finding("receipt", "no row names it")]


def check_content(connection: Connection, receipt: str) -> tuple[list[Finding], Texts]:
    """What is wrong with a receipt and what is kept of it, and whether that was kept at all."""
    data = receipt_bytes(connection, receipt)
    stored = stored_answer(connection, receipt)
    texts: Texts = "gone" if stored is None else "kept"
    if data is None:
        left = [Finding("answer", "it is kept, and its receipt is not")] if stored else []
        return left, "gone"
    found = data if isinstance(data, Finding) else check_receipt(receipt, data)
    if isinstance(found, Finding):
        return [found], texts
    if isinstance(stored, Finding):
        return [stored], texts
    findings = _check_holds(connection, receipt, found, texts)
    if stored is None:
        return findings, texts
    bodies = stored_texts(connection, found.items)
    findings += check_texts(found.items, bodies)
    if findings:
        return findings, texts
    try:
        by_number = {item.n: bodies[item.sha256].decode() for item in found.items}
        findings += check_answer(found, receipt, joined(unpacked(stored.body), by_number))
    except (Broken, UnicodeDecodeError) as error:
        findings.append(Finding("answer", str(error)))
    return findings, texts


def _check_holds(
    connection: Connection, receipt: str, found: Receipt, texts: Texts
) -> list[Finding]:
    rows = connection.execute("SELECT sha256 FROM holds WHERE receipt = ?", (receipt,))
    held = {digest for (digest,) in rows}
    wanted = {item.sha256 for item in found.items} if texts == "kept" else set[str]()
    if held == wanted:
        return []
    return [Finding("texts", "other texts are held for it than it names")]
