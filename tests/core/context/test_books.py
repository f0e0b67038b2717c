"""The books: whose a fetch is, and how they are told."""

from __future__ import annotations

from typing import Any

from fabricd.core.context.books import (
    Book,
    Books,
    Delivered,
    Fact,
    Fetch,
    Ledger,
    Session,
    booked_words,
    delivered_of,
    path_digest,
)
from fabricd.core.context.receipt import receipt_id
from tests.core.context.receipting import ROOT, given

RECEIPT = receipt_id(given().receipt)
ONE, TWO = Session("pi", "one"), Session("claude-code", "two")


def ledger(*fetches: Fetch) -> Ledger:
    return Ledger(len, {RECEIPT: Delivered(321, {})}.get, fetches)


def fetch(session: str | None = None, name: str = f"{RECEIPT}#1") -> Fetch:
    return Fetch(1, ROOT, session, "recover", name, 50)


def linked(**more: Any) -> Fact:
    return Fact((RECEIPT,), selections=1, gross=321, **more)


def test_a_fetch_belongs_to_the_one_session_that_saw_its_receipt() -> None:
    books = ledger(fetch())
    books.enter(ONE, b"a", linked(), False)
    assert books.books([(RECEIPT, 321)]) == Books((Book("pi", "one", 1, 321, 50, 0, 371),), 0, 0)


def test_of_two_sessions_it_is_nobodys_unless_it_says_whose() -> None:
    books = ledger(fetch(), fetch("two"))
    books.enter(ONE, b"a", linked(), False)
    books.enter(TWO, b"b", linked(), False)
    assert [book.recovered for book in books.books([]).sessions] == [50, 0]


def test_a_later_version_of_a_result_takes_the_place_of_the_first() -> None:
    books = ledger()
    books.enter(ONE, b"a", linked(), True)
    books.enter(ONE, b"a", linked(reread=4), True)
    books.enter(ONE, b"b", linked(), False)
    books.enter(ONE, b"b", linked(reread=9), False)
    assert books.books([]).sessions[0].net == 2 * 321 + 4
    books.enter(ONE, b"a", Fact(), True)
    assert books.books([]).sessions[0].net == 321


def test_what_was_read_is_no_book_without_a_receipt() -> None:
    books = ledger()
    books.enter(ONE, b"a", Fact(recovered=5, reread=3), False)
    assert books.books([(RECEIPT, 321)]) == Books(
        (), 1, 321, "no session's log shows their receipts"
    )


def test_paths_are_digests_of_every_root() -> None:
    found = delivered_of(given().receipt, ["/one", "/two/./here"])
    assert found.used == 321
    assert found.whole == {
        path_digest("/one/src/client.py"): ((10, 19), (20, 29)),
        path_digest("/two/here/src/client.py"): ((10, 19), (20, 29)),
    }


def test_the_books_in_words() -> None:
    books = Books(
        (
            Book("pi", "one", 1, 1321, 50, 9, 1380),
            Book("codex", "t\nwo", 1, 10, 5, None, None, "codex has no typed read tool"),
        ),
        2,
        4000,
        "no session's log shows their receipts",
    )
    assert booked_words(books) == (
        "pi one: gross 1,321 + recovered 50 + reread 9 = net 1,380 tokens\n"
        "codex t\\nwo: gross 10 + recovered 5, reread unavailable, net unavailable"
        " (codex has no typed read tool)\n"
        "unavailable: 2 answers of 4,000 tokens; no session's log shows their receipts\n"
    )
    assert "saved" not in booked_words(books)
    assert booked_words(Books((), 0, 0)) == ""
