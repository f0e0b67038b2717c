"""An exported receipt: every byte of it counts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given as law
from hypothesis import settings
from hypothesis import strategies as st
from msgspec import structs

from fabricd.core.context.chain import Kept, Row, linked
from fabricd.core.context.receipt import Item, receipt_id
from fabricd.core.context.verifying import (
    NotAnExport,
    check_answer,
    check_export,
    check_receipt,
    check_texts,
    exported,
    verify_export,
)
from tests.core.context.receipting import delivery, given

ANSWER = given()
NAME = receipt_id(ANSWER.receipt)


def rows(count: int = 2) -> list[Row]:
    found: list[Row] = []
    for at in range(count):
        before = Kept(found[-1], found[-1].digest) if found else None
        found.append(linked(delivery(ANSWER, at), before))
    return found


EXPORT = exported(ANSWER.receipt, rows())


def test_an_export_is_sound() -> None:
    assert check_export(EXPORT) == []
    assert check_export(exported(ANSWER.receipt, [])) == []


@settings(max_examples=300)
@law(st.integers(0, len(EXPORT) - 1), st.integers(1, 255))
def test_each_byte_counts(at: int, change: int) -> None:
    data = bytearray(EXPORT)
    data[at] ^= change
    assert check_export(bytes(data))


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda value: value["receipt"].update(used=9), "receipt"),
        (lambda value: value.update(id="cr_" + "0" * 16), "receipt"),
        (lambda value: value["deliveries"][0].update(refreshed=9), "row 1"),
        (lambda value: value["deliveries"][1].update(digest="0" * 64), "row 2"),
        (lambda value: value["deliveries"][1].update(more=1), "file"),
        (lambda value: value.update(more=1), "file"),
        (lambda value: value["deliveries"].append(7), "file"),
        (lambda value: value["deliveries"][0].pop("digest"), "file"),
        (lambda value: value.pop("receipt"), "file"),
    ],
)
def test_a_finding_names_its_place(change: Any, place: str) -> None:
    value = json.loads(EXPORT)
    change(value)
    assert check_export(json.dumps(value).encode())[0].place == place


def test_a_row_of_another_receipt_is_none_of_this() -> None:
    other = given(query="another")
    row = linked(delivery(other), None)
    assert check_export(exported(ANSWER.receipt, [row]))[0].trouble == "it is of another receipt"


def rewritten(found: list[Row]) -> list[tuple[str, str]]:
    """What is found where rows were written anew, each with a digest that fits it."""
    findings = verify_export(exported(ANSWER.receipt, found)).findings
    return [(one.place, one.trouble) for one in findings]


def test_rows_stand_in_the_order_of_one_chain() -> None:
    first, second, third = rows(3)
    assert rewritten([first, third]) == []
    assert rewritten([second, third]) == []
    assert rewritten([first, third, second]) == [("row 2", "it stands behind row 3")]
    assert rewritten([first, first]) == [("row 1", "it stands behind row 1")]
    other = structs.replace(first, refreshed=9)
    assert rewritten([other, second]) == [("row 2", "it does not follow the row before it")]
    moved = structs.replace(third, root="/elsewhere")
    assert rewritten([first, moved])[0][1].startswith("it is of another project")
    assert rewritten([structs.replace(first, prev="0" * 64)])[0][1].startswith("it is the first")


def test_a_change_is_one_finding_though_rows_name_the_receipt() -> None:
    for change in ((b'"budget":8000', b'"budget":8001'), (NAME.encode(), b"cr_" + b"0" * 16)):
        # The id stands once outside of rows: there only what is before them is changed.
        data = EXPORT.replace(b'"id":"' + change[0], b'"id":"' + change[1])
        data = data if data != EXPORT else EXPORT.replace(*change)
        found = verify_export(data)
        assert [one.place for one in found.findings] == ["receipt"] and found.deliveries == 2


def test_an_export_that_is_written_otherwise_is_told_from_where() -> None:
    found = verify_export(EXPORT.replace(b'{"deliveries":', b'{ "deliveries":'))
    assert found.findings[0].trouble.startswith("from byte 1 on")
    assert verify_export(EXPORT + b"\n").findings[0].trouble.startswith(f"from byte {len(EXPORT)}")


@pytest.mark.parametrize(
    "data",
    [b"", b"{}", b"[]", b"null", b'"x"', b"[" * 100_000, b'{"a":' * 50_000, EXPORT[:-9], b"\xff"],
)
def test_what_is_no_export_is_told_from_a_changed_one(data: bytes) -> None:
    with pytest.raises(NotAnExport):
        verify_export(data)
    assert check_export(data)[0].trouble.startswith("it is no exported receipt: ")


def test_an_export_that_names_no_id_is_one() -> None:
    found = verify_export(EXPORT.replace(b'"id":"cr_', b'"id":"xx_'))
    assert found.receipt is None and not found.is_sound
    assert verify_export(b'{"id":"x","receipt":1,"deliveries":2}').findings[0].place == "file"


@law(st.binary(max_size=60))
def test_any_other_bytes_are_no_export(data: bytes) -> None:
    assert check_export(data)


def test_texts_and_answers() -> None:
    items: tuple[Item, ...] = ANSWER.receipt.items
    texts = {item.sha256: ANSWER.texts[item.n].encode() for item in items}
    assert check_texts(items, texts) == []
    assert [found.place for found in check_texts(items, {})] == [f"text of #{n}" for n in (1, 2, 3)]
    assert check_texts(items, {**texts, items[0].sha256: b"x"})[0].place == "text of #1"
    assert check_answer(ANSWER.receipt, NAME, ANSWER.text) == []
    for text in ("", "no trailer", ANSWER.text.replace("pass", "fail"), given(query="x").text):
        assert check_answer(ANSWER.receipt, NAME, text)


def test_a_receipt_under_another_name() -> None:
    from fabricd.core.context.receipt import canonical

    data = canonical(ANSWER.receipt)
    assert check_receipt(NAME, data) == ANSWER.receipt
    for name, found in (
        (NAME, canonical(structs.replace(ANSWER.receipt, used=1))),
        ("cr_0123456789abcdef", data),
        (NAME, data + b" "),
    ):
        assert not isinstance(check_receipt(name, found), type(ANSWER.receipt))
