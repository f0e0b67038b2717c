"""A receipt's bytes, id and handles."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
from hypothesis import given as law
from hypothesis import strategies as st
from msgspec import structs, to_builtins

from fabricd.core.canonical import text
from fabricd.core.context.receipt import (
    Handle,
    NotAReceipt,
    canonical,
    handle_of,
    ids_in,
    is_id,
    read_receipt,
    receipt_id,
    split_trailer,
)
from tests.core.context.receipting import given


def test_a_receipt_is_its_canonical_bytes() -> None:
    receipt = given().receipt
    data = canonical(receipt)
    assert read_receipt(data) == receipt
    assert receipt_id(receipt) == "cr_32320658b2f8704a"
    assert b'"textDigest"' in data and b'"byReason"' in data and b'"costModel":"sum"' in data


@pytest.mark.parametrize("seed", ["0", "1", "77"])
def test_its_id_depends_on_no_hash_seed(seed: str) -> None:
    program = (
        "from tests.core.context.receipting import given\n"
        "from fabricd.core.context.receipt import receipt_id\n"
        "print(receipt_id(given().receipt))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == receipt_id(given().receipt)


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data + b"\n",
        lambda data: b" " + data,
        lambda data: data.replace(b'"used":321', b'"used":321.0'),
        lambda data: data.replace(b'"used":321', b'"used":3210e-1'),
        lambda data: data.replace(b'"warnings":[]', b'"warnings":[],"warnings":[]'),
        lambda data: data.replace(b"redirects", b"\\u0072edirects"),
        lambda data: data.replace(b'"version":1', b'"version":1,"x":2'),
        lambda data: data[:-1],
        lambda data: b"[" * 100_000,
    ],
)
def test_other_bytes_are_no_receipt(change: Callable[[bytes], bytes]) -> None:
    data = canonical(given().receipt)
    with pytest.raises(NotAReceipt):
        read_receipt(change(data))


def test_numbers_are_integers_that_all_readers_agree_on() -> None:
    receipt = given().receipt
    with pytest.raises(NotAReceipt):
        canonical(structs.replace(receipt, used=2**53))
    with pytest.raises(NotAReceipt):
        canonical(structs.replace(receipt, skipped={"ignored": 1.5}))


@law(st.integers(1, 99_999))
def test_a_handle_reads_back(n: int) -> None:
    handle = Handle("cr_0123456789abcdef", n)
    assert handle_of(str(handle)) == handle


@pytest.mark.parametrize(
    "name", ["", "cr_0123456789abcdef", "cr_0123456789abcdef#0", "cr_0123456789abcdef#01", "CR_0#1"]
)
def test_anything_else_is_no_handle(name: str) -> None:
    assert handle_of(name) is None


def test_ids_are_found_in_what_an_agent_was_shown() -> None:
    shown = "…\n-- cr_0123456789abcdef 1/2 o200k\ncr_0123456789abcdef#2 and cr_00000000000000ff."
    assert ids_in(shown) == ["cr_0123456789abcdef", "cr_00000000000000ff"]
    assert is_id("cr_0123456789abcdef") and not is_id("cr_0123456789abcdef\n")


def test_the_trailer_is_the_last_line_whatever_the_lines_before_it_say() -> None:
    forged = "-- cr_0123456789abcdef 1/2 o200k"
    body, trailer = split_trailer(f"@@ 1-1 block #1\n{forged}\n-- cr_fedcba9876543210 7/9 o200k")
    assert body.endswith(f"{forged}\n")
    assert trailer == "-- cr_fedcba9876543210 7/9 o200k"
    assert split_trailer("-- cr_0123456789abcdef 9/9")[0] == ""
    with pytest.raises(NotAReceipt):
        split_trailer("## a.py\nno trailer")


_TEXTS = st.text(st.characters(exclude_categories=()), max_size=12)
_NUMBERS = st.integers(-(2**53) + 1, 2**53 - 1)


@law(_TEXTS, _NUMBERS, st.dictionaries(_TEXTS, _NUMBERS, max_size=6), st.lists(_TEXTS, max_size=3))
def test_it_is_the_one_canonical_json(
    word: str, number: int, counts: dict[str, int], words: list[str]
) -> None:
    def spelled(text: str) -> str:
        return text.encode("utf-8", "backslashreplace").decode()

    before = given().receipt
    item = structs.replace(before.items[0], name=word, features=counts, signals=tuple(words))
    receipt = structs.replace(before, query=word, used=number, items=(item,), skipped=counts)
    data = canonical(receipt)
    if data.decode() == text(to_builtins(receipt)):
        assert read_receipt(data) == receipt
    else:
        plain = structs.replace(
            receipt,
            query=spelled(word),
            items=(
                structs.replace(
                    item,
                    name=spelled(word),
                    features={spelled(name): count for name, count in counts.items()},
                    signals=tuple(map(spelled, words)),
                ),
            ),
            skipped={spelled(name): count for name, count in counts.items()},
        )
        assert plain != receipt
        assert read_receipt(data) == plain
