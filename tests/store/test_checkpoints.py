from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.book import ADAPTER, SessionBook
from fabricd.core.resume import FileStat, Mark, print_of
from fabricd.store import checkpoints
from fabricd.store.checkpoints import encode_book, load, save
from fabricd.store.durable import Damaged, Loaded, Missing
from tests.core.making import assistant, log, operation, record, scanned, trace
from tests.core.strategies import logs

EMPTY = encode_book(SessionBook()) or b""


def book_of(data: bytes) -> SessionBook:
    """A book as a pass over these bytes leaves it."""
    evidence, state = scanned(data)
    seen = FileStat(2**63, 2**64 - 1, len(data), 2**62, 2**62, 0)
    mark = Mark(seen, state.tail.offset, print_of(data[:9]), print_of(b""), young=True)
    return SessionBook(mark, state.model, state.tail.skipping, evidence)


@given(name=st.binary(max_size=8), data=logs(most=3))
def test_a_book_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, name: bytes, data: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "checkpoints.msgpack"
    book = book_of(data)
    encoded = encode_book(book)
    assert (encoded is None) == (not is_all_text(book))
    if encoded is not None:
        assert save(path, [(name, encoded)]) == path.stat().st_size
        assert load(path) == Loaded({name: book.durable()}, b"")


def is_all_text(book: SessionBook) -> bool:
    """Whether every name in a book has a UTF-8 form."""
    try:
        "".join(names_of(msgspec.to_builtins(book))).encode()
    except UnicodeEncodeError:
        return False
    return True


def names_of(value: Any) -> Iterator[str]:
    """All text inside plain values."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from names_of(key)
            yield from names_of(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from names_of(item)
    elif isinstance(value, str):
        yield value


def one(tmp_path: Path, **changes: Any) -> Path:
    """A checkpoint file written by hand."""
    file = {
        "version": 1,
        "adapter": ADAPTER,
        "sessions": [{"path": b"/a", "book": msgspec.Raw(EMPTY)}],
    }
    path = tmp_path / "checkpoints.msgpack"
    path.write_bytes(msgspec.msgpack.encode(file | changes))
    return path


def test_books_of_several_sessions_are_kept_by_path(tmp_path: Path) -> None:
    path = tmp_path / "state" / "checkpoints.msgpack"
    books = {name: book_of(log(record(trace(operation())))) for name in (b"/a", b"/\xff", b"")}
    rows = [(name, encode_book(book) or b"") for name, book in books.items()]
    assert save(path, rows) == path.stat().st_size
    assert load(path) == Loaded({name: book.durable() for name, book in books.items()}, b"")
    save(path, [])
    assert load(path) == Loaded({}, b"")


def test_books_beyond_what_can_be_loaded_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "MAX_BYTES", 5 * len(EMPTY))
    path = tmp_path / "checkpoints.msgpack"
    save(path, [(b"%d" % n, EMPTY) for n in range(9)])
    monkeypatch.undo()
    assert load(path) == Loaded({b"0": SessionBook(), b"1": SessionBook()}, b"")


def test_no_file_is_no_books(tmp_path: Path) -> None:
    assert load(tmp_path / "checkpoints.msgpack") == Missing()


def test_names_without_a_utf8_form_leave_only_their_session_out(tmp_path: Path) -> None:
    odd = book_of(log(record(trace(operation(0, "\ud800")))))
    odd_argument = book_of(log(record(trace(operation(args={"\udfff": 1})))))
    odd_model = book_of(log(assistant("p", "\ud800")))
    assert [encode_book(book) for book in (odd, odd_argument, odd_model)] == [None] * 3
    plain = book_of(log(record(trace(operation(args={"x": "\ud800"})))))
    assert encode_book(plain) is not None


def test_an_open_end_is_no_part_of_a_checkpoint() -> None:
    book = book_of(log(record(trace())))
    open_end = scanned(log(record(trace())))[0]
    assert encode_book(SessionBook(book.mark, None, False, book.evidence, open_end)) == encode_book(
        SessionBook(book.mark, None, False, book.evidence)
    )


@pytest.mark.parametrize("changes", [{"version": 2}, {"version": 0}, {"adapter": "pi/0"}])
def test_a_file_of_another_version_counts_as_missing(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    assert load(one(tmp_path)) == Loaded({b"/a": SessionBook()}, b"")
    assert load(one(tmp_path, **changes)) == Missing()


@pytest.mark.parametrize(
    "changes",
    [
        {"version": "1"},
        {"sessions": None},
        {"sessions": [{"path": "text", "book": {}}]},
        {"sessions": [{"path": b"/a"}]},
        {"sessions": [{"path": b"/a", "book": 5}]},
        {"sessions": [{"path": b"/a", "book": {"model": 5}}]},
        {"sessions": [{"path": b"/a", "book": {"model": msgspec.Raw(b"\xa1\xff")}}]},
    ],
)
def test_a_malformed_file_is_damaged(tmp_path: Path, changes: dict[str, Any]) -> None:
    found = load(one(tmp_path, **changes))
    assert isinstance(found, Damaged)
    assert found.reason


@given(cut=st.integers(0, 10**6))
def test_a_cut_file_is_damaged(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    path = tmp_path_factory.getbasetemp() / "cut.msgpack"
    encoded = encode_book(book_of(log(record(trace(operation())))))
    assert encoded is not None
    save(path, [(b"/a", encoded)])
    data = path.read_bytes()
    path.write_bytes(data[: cut % len(data)])
    assert isinstance(load(path), Damaged)


@given(data=st.binary(max_size=40))
def test_any_bytes_load_as_something(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.msgpack"
    path.write_bytes(data)
    assert isinstance(load(path), Damaged)


def test_a_directory_in_its_place_is_damage(tmp_path: Path) -> None:
    assert isinstance(load(tmp_path), Damaged)
