"""The monoid law: the pieces of any byte cut add up to one scan of the whole."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from fabricd.core.evidence import Evidence
from fabricd.core.sessions import pi, records
from fabricd.core.sessions.pi import ScanState, open_end_steps
from fabricd.core.sessions.records import Tail
from fabricd.core.steps import finish
from tests.core.making import scanned
from tests.core.strategies import lines, logs, pieces


@st.composite
def cut_logs(draw: DrawFn) -> tuple[bytes, list[bytes]]:
    """A log and a cut of it."""
    data = draw(logs())
    return data, draw(pieces(data))


@contextmanager
def small_limits(cap: int, block: int) -> Generator[None, None, None]:
    """Records and blocks as small as the generated ones, so that their limits are met."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "MAX_RECORD", cap)
        patch.setattr(pi, "BLOCK", min(block, cap))
        yield


def summed(parts: Sequence[bytes]) -> tuple[Evidence, ScanState]:
    """The evidence of pieces scanned one after the other, each into its own."""
    total, state = Evidence(), ScanState()
    for part in parts:
        evidence, state = scanned(part, state)
        total.add(evidence)
    return total, state


def open_end(state: ScanState) -> Evidence:
    return finish(open_end_steps(state))


@settings(max_examples=80)
@given(cut_logs())
def test_any_byte_cut_sums_to_one_scan(log: tuple[bytes, list[bytes]]) -> None:
    data, parts = log
    assert summed(parts) == scanned(data)


@settings(max_examples=80)
@given(cut_logs(), st.integers(40, 900), st.integers(1, 300))
def test_any_cut_sums_to_one_scan_with_overlong_records_and_small_blocks(
    log: tuple[bytes, list[bytes]], cap: int, block: int
) -> None:
    data, parts = log
    with small_limits(cap, block):
        evidence, state = summed(parts)
        assert (evidence, state) == scanned(data)
    overlong = [each for each in data.split(b"\n") if len(each) > cap]
    assert evidence.losses.overlong_lines == len(overlong)
    with small_limits(cap, cap):
        assert scanned(data) == (evidence, state)


@settings(max_examples=25)
@given(logs(most=2))
def test_every_single_cut_sums_to_one_scan(data: bytes) -> None:
    whole = scanned(data)
    open_ends = open_end(whole[1])
    for at in range(0, len(data), max(1, len(data) // 60)):
        total, state = summed([data[:at], data[at:]])
        assert (total, state) == whole
        assert open_end(state) == open_ends


@given(st.lists(lines, max_size=5), st.data())
def test_a_scan_goes_on_from_a_checkpoint_which_keeps_no_bytes(
    found: list[bytes], data: st.DataObject
) -> None:
    log = b"".join(each + b"\n" for each in found)
    at = data.draw(st.integers(0, len(log)))
    first, state = scanned(log[:at])
    kept = ScanState(Tail(state.tail.offset, b"", state.tail.skipping), state.model)
    more, after = scanned(log[kept.tail.offset :], kept)
    first.add(more)
    assert (first, after) == scanned(log)


@given(st.lists(lines, max_size=5))
def test_whole_lines_count_the_same_alone_as_together(found: list[bytes]) -> None:
    total, state = Evidence(), ScanState()
    for each in found:
        evidence, state = scanned(each + b"\n", state)
        total.add(evidence)
    assert (total, state) == scanned(b"".join(each + b"\n" for each in found))


@given(logs())
def test_the_open_end_is_the_last_line_or_nothing(data: bytes) -> None:
    evidence, state = scanned(data)
    ended, _ = scanned(
        data[state.tail.offset :] + b"\n", ScanState(Tail(state.tail.offset), state.model)
    )
    last = open_end(state)
    # What does not parse may still grow, and so may what is too deep to be parsed.
    if ended.losses.bad_lines or "too-deep" in ended.refused:
        assert last == Evidence()
    else:
        assert last == ended
    evidence.add(ended)
    assert evidence == scanned(data + b"\n")[0]


def integers_only(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(k, str | int) and integers_only(v) for k, v in value.items())
    if isinstance(value, list | tuple):
        return all(map(integers_only, value))
    if hasattr(value, "__struct_fields__"):
        return all(integers_only(getattr(value, name)) for name in value.__struct_fields__)
    return isinstance(value, int)


@given(logs())
def test_evidence_holds_integers_and_names_only(data: bytes) -> None:
    assert integers_only(scanned(data)[0])
