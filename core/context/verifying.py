"""Whether a receipt and what is kept beside it are as they were written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Literal, TypeAlias

from msgspec import MsgspecError, Raw, Struct, ValidationError, field, structs, to_builtins
from msgspec.json import Decoder

from fabricd.core.canonical import text, utf8
from fabricd.core.context.chain import Finding, Row, place_of, structs_by_name
from fabricd.core.context.receipt import (
    Item,
    NotAReceipt,
    Receipt,
    body_digest,
    canonical,
    id_of,
    is_id,
    read_receipt,
    split_trailer,
)
from fabricd.core.nesting import TooDeep, require_depth

UNSIGNED = "unsigned: whoever can write the file can write another one that verifies"
CUT_END = "rows cut off the end of a chain are not detected"
LEFT_OUT = "its texts and the rest of its chain are not in an export, so they were not checked"

# What is read of an export: some 40,000 deliveries, and seconds.
LARGEST_EXPORT = 16 * 1024 * 1024
# An export has six; what has more is none, and no decoder need find out by recursion.
_LEVELS = 16

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


class VerifiedExport(Struct, frozen=True, rename="camel"):
    """What the check of an exported receipt found; nothing: all is as it was exported.

    Attributes:
        receipt: the id that the file names; None where it names none.
        deliveries: how many rows of it the file has.
        notes: what no check of a file alone can find.
    """

    receipt: str | None
    findings: tuple[Finding, ...]
    deliveries: int
    notes: tuple[str, ...] = (UNSIGNED, LEFT_OUT)

    @property
    def is_sound(self) -> bool:
        """Whether nothing was found."""
        return not self.findings


class NotAnExport(ValueError):
    """Bytes that are no exported receipt, not even a changed one. The message says why."""


class _Delivered(Row, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A row of an export, with the digest that was written beside it."""

    written: str = field(name="digest")

    @property
    def row(self) -> Row:
        """The row alone."""
        return Row(*structs.astuple(self)[:-1])


class _Exported(Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    receipt: Receipt
    deliveries: tuple[_Delivered, ...]


class _Outline(Struct, frozen=True):
    """What makes a file an export, whatever was changed in it."""

    id: str
    receipt: Raw
    deliveries: Raw


_EXPORTED = Decoder(_Exported)
_OUTLINE = Decoder(_Outline)


def exported(receipt: Receipt, rows: Iterable[Row]) -> bytes:
    """A receipt as a file for others: with its id and its rows, one line of canonical JSON."""
    return _document(receipt, ((row, row.digest) for row in rows))


def _document(receipt: Receipt, rows: Iterable[tuple[Row, str]]) -> bytes:
    deliveries = [{**structs_by_name(row), "digest": digest} for row, digest in rows]
    name = id_of(canonical(receipt))
    value = {"deliveries": deliveries, "id": name, "receipt": to_builtins(receipt)}
    return utf8(text(value)) + b"\n"


def check_export(data: bytes) -> list[Finding]:
    """What is wrong with an exported receipt, down to each byte of it."""
    try:
        return list(verify_export(data).findings)
    except NotAnExport as error:
        return [Finding("file", f"it is no exported receipt: {error}")]


def verify_export(data: bytes) -> VerifiedExport:
    """Check an exported receipt by itself: nothing else is read.

    Raises:
        NotAnExport: it is no JSON object with `id`, `receipt` and `deliveries`.
    """
    claimed = _outline(data).id
    name = claimed if is_id(claimed) else None
    try:
        found = _EXPORTED.decode(data)
        findings = _of_content(found) or _of_bytes(found, data)
    except (MsgspecError, ValueError, RecursionError) as error:
        trouble = f"it does not have the form of an exported receipt: {error}"
        return VerifiedExport(name, (Finding("file", trouble),), 0)
    return VerifiedExport(name, tuple(findings), len(found.deliveries))


def _outline(data: bytes) -> _Outline:
    if not data:
        raise NotAnExport("it is empty")
    try:
        require_depth(data, _LEVELS)
        return _OUTLINE.decode(data)
    except TooDeep as error:
        raise NotAnExport(f"it is {error}") from None
    except ValidationError:
        words = "it is no JSON object with `id`, `receipt` and `deliveries`"
        raise NotAnExport(words) from None
    except (MsgspecError, ValueError, RecursionError) as error:
        why = str(error).removeprefix("JSON is malformed: ")
        raise NotAnExport(f"it is not JSON: {why}") from None


def _of_content(found: _Exported) -> list[Finding]:
    name = id_of(canonical(found.receipt))
    findings: list[Finding] = []
    if found.id != name:
        findings.append(Finding("receipt", f"its content has another id: {name}"))
    before: Row | None = None
    for each in found.deliveries:
        row = each.row
        if row.digest != each.written:
            findings.append(Finding(place_of(row), "its members do not match its digest"))
        elif row.receipt not in (name, found.id):
            # Where one of the two was changed, that alone is told: the rows are as they were.
            findings.append(Finding(place_of(row), "it is of another receipt"))
        elif (trouble := _misplaced(row, before)) is not None:
            findings.append(Finding(place_of(row), trouble))
        before = row
    return findings


def _misplaced(row: Row, before: Row | None) -> str | None:
    """What is wrong with a row behind another of the same receipt; rows of others lie between."""
    if before is not None and row.root != before.root:
        return "it is of another project than the row before it"
    if before is not None and row.seq <= before.seq:
        return f"it stands behind row {before.seq}"
    if row.seq == 1 and row.prev:
        return "it is the first of its chain, and names a row before it"
    if before is not None and row.seq == before.seq + 1 and row.prev != before.digest:
        return "it does not follow the row before it"
    return None


def _of_bytes(found: _Exported, data: bytes) -> list[Finding]:
    """Whether a sound content is written as it was; its digests were found to be right."""
    written = _document(found.receipt, ((each.row, each.written) for each in found.deliveries))
    if written == data:
        return []
    pairs = enumerate(zip(data, written, strict=False))
    at = next((at for at, (one, other) in pairs if one != other), min(len(data), len(written)))
    return [Finding("file", f"from byte {at} on it is not written as it was exported")]
