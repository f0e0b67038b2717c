"""Entering what a pass found is all or nothing, at whatever step it is given up."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings

from fabricd.core.book import SessionBook
from fabricd.core.evidence import Evidence
from fabricd.core.resume import Resume
from fabricd.core.steps import finish
from fabricd.store.reading import Pass, commit_steps
from tests.core.making import log, operation, record, scanned, trace
from tests.core.strategies import logs

OLD = scanned(log(record(trace(operation(0, "old"), operation(1, "new.7")))))[0]
LARGE = scanned(log(*(record(trace(operation(0, f"new.{n}"))) for n in range(900))))[0]


def copied(evidence: Evidence) -> Evidence:
    return msgspec.msgpack.decode(msgspec.msgpack.encode(evidence), type=Evidence)


def found(before: Evidence, fresh: Evidence) -> Pass:
    """A pass that read on and found something."""
    return Pass(Resume(0), SessionBook(evidence=before), fresh, 1)


def plus(*pieces: Evidence) -> Evidence:
    total = Evidence()
    for piece in pieces:
        total.add(piece)
    return total


@settings(max_examples=30)
@given(logs(most=3), logs(most=3))
def test_a_committed_book_holds_both(before: bytes, after: bytes) -> None:
    old, fresh = scanned(before)[0], scanned(after)[0]
    expected = plus(old, fresh)
    assert finish(commit_steps(found(old, fresh))).evidence == expected


def test_much_that_is_fresh_is_committed_in_steps() -> None:
    old = copied(OLD)
    steps = commit_steps(found(old, LARGE))
    assert sum(1 for _ in steps) > 2
    assert finish(commit_steps(found(copied(OLD), LARGE))).evidence == plus(OLD, LARGE)


@pytest.mark.parametrize("survived", range(12))
def test_a_commit_given_up_at_any_step_changed_nothing(survived: int) -> None:
    old, fresh = copied(OLD), copied(LARGE)
    steps = commit_steps(found(old, fresh))
    for _ in range(survived):
        if next(steps, "done") == "done":
            break
    steps.close()
    assert (old, fresh) == (OLD, LARGE)


def test_what_a_pass_found_is_left_as_it_was() -> None:
    fresh = copied(LARGE)
    book = finish(commit_steps(found(copied(OLD), fresh)))
    finish(commit_steps(found(book.evidence, copied(OLD))))
    assert fresh == LARGE
