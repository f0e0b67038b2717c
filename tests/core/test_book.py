from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from fabricd.core.book import SessionBook
from fabricd.core.evidence import Evidence
from fabricd.core.resume import FileStat, Mark, Print

marks = st.builds(
    lambda offset, rest, young: Mark(
        FileStat(1, 2, offset + rest, 3, 4), offset, Print("a", 1), Print("b", 1), young
    ),
    st.integers(0, 9),
    st.integers(0, 9),
    st.booleans(),
)
books = st.builds(
    SessionBook,
    st.one_of(st.none(), marks),
    st.one_of(st.none(), st.just("p/m")),
    st.booleans(),
    st.builds(Evidence, traces=st.integers(0, 3)),
    st.builds(Evidence, traces=st.integers(0, 3)),
)


@given(books)
def test_a_durable_book_leaves_its_open_end_to_be_read_again(book: SessionBook) -> None:
    kept = book.durable()
    assert kept.open_end == Evidence()
    assert (kept.model, kept.skipping, kept.evidence) == (book.model, book.skipping, book.evidence)
    if book.mark is None:
        assert kept.mark is None
    else:
        assert kept.mark == structs.replace(
            book.mark, seen=structs.replace(book.mark.seen, size=book.mark.offset)
        )


@given(books)
def test_a_durable_book_is_durable(book: SessionBook) -> None:
    assert book.durable().durable() == book.durable()


@given(books)
def test_the_whole_of_a_book_is_its_evidence_and_its_open_end(book: SessionBook) -> None:
    before = (structs.replace(book.evidence), structs.replace(book.open_end))
    assert book.whole().traces == book.evidence.traces + book.open_end.traces
    assert (book.evidence, book.open_end) == before


def test_books_share_nothing() -> None:
    one, other = SessionBook(), SessionBook()
    one.evidence.traces += 1
    assert other == SessionBook()
