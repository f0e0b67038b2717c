"""Whether a receipt and what is kept beside it are as they were written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Literal, TypeAlias

from msgspec import MsgspecError, Struct, to_builtins
from msgspec.json import Decoder

from fabricd.core.canonical import text, utf8
from fabricd.core.context.chain import Finding, Row, structs_by_name
from fabricd.core.context.receipt import (
    Item,
    NotAReceipt,
    Receipt,
    body_digest,
    canonical,
    id_of,
    read_receipt,
    split_trailer,
)

UNSIGNED = "unsigned: whoever can write the file can write another one that verifies"
CUT_END = "rows cut off the end of a chain are not detected"

Texts: TypeAlias = Literal["kept", "gone"]


class Verified(Struct, frozen=True, rename="camel"):
    """What a verification found; nothing: all is as it was written.

    Attributes:
        texts: whether the answer is still kept, and so was checked.
        deliveries: how often this answer was given in this project.
        rows: how many rows its project's chain has.
        forgotten: how many rows were taken out of the chain on request.
        notes: what no verification of this kind can find.
    """

    receipt: str
    findings: tuple[Finding, ...]
    texts: Texts
    deliveries: int
    rows: int
    forgotten: int
    notes: tuple[str, ...] = (UNSIGNED, CUT_END)

    @property
    def is_sound(self) -> bool:
        """Whether nothing was found."""
        return not self.findings


def check_receipt(name: str, data: bytes) -> Receipt | Finding:
    """The receipt that these bytes are, if it has this id."""
    try:
        receipt = read_receipt(data)
    except NotAReceipt as error:
        return Finding("receipt", str(error))
    if id_of(data) != name:
        return Finding("receipt", f"its content has another id: {id_of(data)}")
    return receipt


def check_texts(items: Sequence[Item], texts: Mapping[str, bytes]) -> list[Finding]:
    """What is wrong with item texts, given by the digest that names them."""
    findings: list[Finding] = []
    for item in items:
        body = texts.get(item.sha256)
        if body is None:
            findings.append(Finding(f"text of #{item.n}", "it is missing"))
        elif sha256(body).hexdigest() != item.sha256:
            findings.append(Finding(f"text of #{item.n}", "it does not match its digest"))
    return findings


def check_answer(receipt: Receipt, name: str, answer: str) -> list[Finding]:
    """What is wrong with an answer that is to be the one of a receipt with this id."""
    try:
        body, trailer = split_trailer(answer)
    except NotAReceipt as error:
        return [Finding("answer", str(error))]
    if body_digest(body) != receipt.text_digest:
        return [Finding("answer", "its text does not match `textDigest`")]
    if not trailer.startswith(f"-- {name} "):
        return [Finding("answer", "its last line names another receipt")]
    return []


class _Exported(Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    receipt: Receipt
    deliveries: tuple[dict[str, Any], ...]


_EXPORTED = Decoder(_Exported)


def exported(receipt: Receipt, rows: Iterable[Row]) -> bytes:
    """A receipt as a file for others: with its id and its rows, one line of canonical JSON."""
    deliveries = [{**structs_by_name(row), "digest": row.digest} for row in rows]
    name = id_of(canonical(receipt))
    value = {"deliveries": deliveries, "id": name, "receipt": to_builtins(receipt)}
    return utf8(text(value)) + b"\n"


def check_export(data: bytes) -> list[Finding]:
    """What is wrong with an exported receipt, down to each byte of it."""
    try:
        found = _EXPORTED.decode(data)
        rows = [_row(members) for members in found.deliveries]
        written = exported(found.receipt, (row for row, _ in rows))
    except (MsgspecError, ValueError, TypeError, KeyError, RecursionError) as error:
        return [Finding("file", f"it is no exported receipt ({type(error).__name__})")]
    name = id_of(canonical(found.receipt))
    findings = [Finding("receipt", f"its content has another id: {name}")]
    findings = findings if found.id != name else []
    for row, digest in rows:
        if row.digest != digest:
            findings.append(Finding(f"row {row.seq}", "its members do not match its digest"))
        elif row.receipt != name:
            findings.append(Finding(f"row {row.seq}", "it is of another receipt"))
    if not findings and written != data:
        findings.append(Finding("file", "it is not written as it was exported"))
    return findings


def _row(members: dict[str, Any]) -> tuple[Row, object]:
    rest = dict(members)
    digest = rest.pop("digest")
    return _ROW.decode(utf8(text(rest))), digest


class _StrictRow(Row, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A row of an export, which has no members but its own."""


_ROW = Decoder(_StrictRow)
