"""Receipts to test with: small, and like those of a selection."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from fabricd.core.context.chain import Delivery
from fabricd.core.context.model import Level
from fabricd.core.context.receipt import (
    Certificate,
    Item,
    Left,
    Omitted,
    Receipt,
    body_digest,
    receipt_id,
)
from fabricd.store.context.receipts import Given

ROOT = "/home/somebody/project"
DAY = 24 * 60 * 60 * 1000


def item(n: int, text: str, level: Level = "full", path: str = "src/client.py") -> Item:
    """The n-th item, of ten lines at ten times its number."""
    return Item(
        n,
        path,
        10 * n,
        10 * n + 9,
        "function",
        f"send_{n}",
        level,
        7 * n,
        "ab" * 32,
        sha256(text.encode()).hexdigest(),
        {"body": 1200 * n, "path": 3},
        ("override:12",) if n == 2 else (),
    )


def left(n: int, path: str = "src/old.py", reason: str = "budget") -> Left:
    """The n-th that was left out."""
    return Left(path, 10 * n, 10 * n + 9, "function", f"old_{n}", reason, {"body": 10 + n})


def given(
    texts: Sequence[str] = ("def a():\n    pass\n", "def b():\n    return 2\n", "def c(): ...\n"),
    query: str = "where are redirects followed",
    omitted: int = 3,
    offers: bytes | None = None,
) -> Given:
    """An answer; its last item is a reference whose text is not in it."""
    items = tuple(
        item(n, text, "full" if n < len(texts) else "reference") for n, text in enumerate(texts, 1)
    )
    shown = "## src/client.py\n"
    for found, text in zip(items, texts, strict=True):
        head = f"{found.start}-{found.end} function {found.name}"
        if found.level == "full":
            shown += f"@@ {head}\n{text}"
        else:
            shown += f"@@ references\n{found.path}:{head} #{found.n}\n"
    receipt = Receipt(
        1,
        query,
        8000,
        "o200k",
        "context/1",
        "guard/1",
        body_digest(shown),
        321,
        items,
        Omitted(omitted, {"budget": omitted}, tuple(left(n) for n in range(1, omitted + 1))),
        {"ignored": 4},
        Certificate("relevance", True, 1000, 1000, 0, 12),
        (),
    )
    trailer = f"-- {receipt_id(receipt)} 321/8000 o200k F 2 S 0 R 1 O {omitted}"
    return Given(receipt, shown + trailer, dict(enumerate(texts, 1)), offers)


def delivery(answer: Given, at: int = 1_700_000_000_000, root: str = ROOT) -> Delivery:
    """That an answer was given at a moment."""
    return Delivery(receipt_id(answer.receipt), 5, at, at + 40, 1, None, root)
