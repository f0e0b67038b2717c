"""Every decision about where to go on reading: reached, and right."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from fabricd.core.resume import (
    ANCHOR,
    HEAD,
    MIDDLE,
    YOUNG_NS,
    FileStat,
    Look,
    Mark,
    Print,
    Restart,
    Resume,
    Unchanged,
    first_look,
    is_young,
    middle_of,
    print_of,
    second_look,
)

SEEN = FileStat(device=1, inode=2, size=100, mtime_ns=10**18, ctime_ns=10**18 + 5, birth_ns=7)
HEAD_BYTES, ANCHOR_BYTES, MIDDLE_BYTES = b"head", b"anchor", b"middle"
# Whole records up to byte 90, and ten bytes of one that was not finished.
MARK = Mark(SEEN, 90, print_of(HEAD_BYTES), print_of(ANCHOR_BYTES), False, print_of(MIDDLE_BYTES))
YOUNG = structs.replace(MARK, young=True)


def stat(**changes: int) -> FileStat:
    return structs.replace(SEEN, **changes)


FIRST: list[tuple[Mark | None, FileStat, Any]] = [
    (None, SEEN, Restart("new-file")),
    (MARK, stat(device=9), Restart("replaced")),
    (MARK, stat(inode=9), Restart("replaced")),
    (MARK, stat(birth_ns=9), Restart("replaced")),
    (MARK, stat(inode=9, size=5), Restart("replaced")),
    (MARK, stat(size=89), Restart("truncated")),
    (MARK, stat(size=90), Restart("truncated")),
    (MARK, stat(size=99), Restart("truncated")),
    (MARK, stat(size=0), Restart("truncated")),
    (MARK, stat(mtime_ns=10**18 + 1), Restart("rewritten")),
    (MARK, stat(mtime_ns=10**18 - 1), Restart("rewritten")),
    (YOUNG, stat(mtime_ns=0), Restart("rewritten")),
    (MARK, SEEN, Unchanged()),
    (YOUNG, SEEN, Look()),
    (MARK, stat(ctime_ns=0), Look()),
    (MARK, stat(size=101), Look()),
    (MARK, stat(size=101, mtime_ns=0), Look()),
    (YOUNG, stat(size=101, mtime_ns=0, ctime_ns=0), Look()),
]


@pytest.mark.parametrize(("mark", "found", "decision"), FIRST)
def test_the_stat_decides_as_far_as_it_goes(
    mark: Mark | None, found: FileStat, decision: Any
) -> None:
    assert first_look(mark, found) == decision


SECOND: list[tuple[FileStat, bytes, bytes, bytes, Any]] = [
    (stat(size=90), HEAD_BYTES, ANCHOR_BYTES, MIDDLE_BYTES, Unchanged()),
    (SEEN, HEAD_BYTES, ANCHOR_BYTES, MIDDLE_BYTES, Resume(90)),
    (stat(size=101), HEAD_BYTES, ANCHOR_BYTES, MIDDLE_BYTES, Resume(90)),
    (SEEN, b"Head", ANCHOR_BYTES, MIDDLE_BYTES, Restart("head-changed")),
    (stat(size=101), b"hea", ANCHOR_BYTES, MIDDLE_BYTES, Restart("head-changed")),
    (SEEN, HEAD_BYTES, b"ankhor", MIDDLE_BYTES, Restart("anchor-changed")),
    (stat(size=101), HEAD_BYTES, b"", MIDDLE_BYTES, Restart("anchor-changed")),
    (SEEN, HEAD_BYTES, ANCHOR_BYTES, b"muddle", Restart("middle-changed")),
    (stat(size=101), HEAD_BYTES, ANCHOR_BYTES, b"", Restart("middle-changed")),
    (SEEN, b"", b"", b"", Restart("head-changed")),
]


@pytest.mark.parametrize(("found", "head", "anchor", "middle", "decision"), SECOND)
def test_the_bytes_decide_the_rest(
    found: FileStat, head: bytes, anchor: bytes, middle: bytes, decision: Any
) -> None:
    # With a whole last record, and with an open end behind the cursor.
    seen = structs.replace(SEEN, size=min(found.size, SEEN.size))
    mark = structs.replace(MARK, seen=seen)
    assert second_look(mark, found, head, anchor, middle) == decision


def test_every_reason_to_begin_anew_is_reached() -> None:
    decisions = [row[2] for row in FIRST] + [row[4] for row in SECOND]
    reasons = {decision.reason for decision in decisions if isinstance(decision, Restart)}
    assert reasons == {
        "new-file",
        "replaced",
        "truncated",
        "rewritten",
        "head-changed",
        "anchor-changed",
        "middle-changed",
    }


stats = st.builds(
    FileStat,
    device=st.integers(1, 2),
    inode=st.integers(1, 2),
    size=st.integers(0, 4),
    mtime_ns=st.integers(0, 2),
    ctime_ns=st.integers(0, 2),
    birth_ns=st.integers(0, 1),
)


@given(stats, stats, st.integers(0, 4), st.booleans())
def test_nothing_is_taken_for_unchanged_that_the_stat_cannot_vouch_for(
    seen: FileStat, found: FileStat, offset: int, young: bool
) -> None:
    mark = Mark(seen, min(offset, seen.size), Print(), Print(), young)
    decision = first_look(mark, found)
    assert (decision == Unchanged()) == (seen == found and not young)
    if isinstance(decision, Look):
        assert found.size >= mark.seen.size >= mark.offset
        assert (found.device, found.inode) == (seen.device, seen.inode)


@given(st.binary(max_size=20), st.binary(max_size=20))
def test_prints_are_equal_where_the_bytes_are(left: bytes, right: bytes) -> None:
    assert (print_of(left) == print_of(right)) == (left == right)
    assert print_of(left).length == len(left)


@pytest.mark.parametrize(
    ("age", "young"), [(0, True), (-5, True), (YOUNG_NS - 1, True), (YOUNG_NS, False)]
)
def test_a_file_is_young_for_two_seconds(age: int, young: bool) -> None:
    assert is_young(SEEN, SEEN.mtime_ns + age) is young


@given(st.integers(0, 200_000))
def test_head_middle_and_anchor_do_not_overlap_and_leave_nothing_of_a_short_file(
    offset: int,
) -> None:
    where, size = middle_of(offset)
    assert size == max(0, min(MIDDLE, offset - ANCHOR - HEAD))
    if size:
        assert HEAD <= where <= where + size <= offset - ANCHOR
    if offset <= HEAD + MIDDLE + ANCHOR:
        assert min(offset, HEAD) + size + min(offset, ANCHOR) >= offset


def test_the_middle_wanders_over_the_whole_file() -> None:
    offset = 1 << 20
    found = [middle_of(offset + 700 * step)[0] / offset for step in range(200)]
    assert min(found) < 0.05 and max(found) > 0.93
    assert {int(place * 10) for place in found} >= {*range(10)}
