"""The receipt of a selection: what was given, what was left out, and why. No clock, no root."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from hashlib import sha256
from typing import NamedTuple, cast

from msgspec import MsgspecError, Struct, structs
from msgspec.json import Decoder, encode

from fabricd.core.canonical import collated
from fabricd.core.context.model import Level
from fabricd.core.plain import is_list, is_object


class Item(Struct, frozen=True, rename="camel"):
    """One selected unit.

    Attributes:
        n: its number in the answer, from 1, by file rank and line.
        tokens: of the item's text with its header, by the receipt's tokenizer.
        source: SHA-256 of the whole file's bytes, hex.
        sha256: of the item's text as delivered (guarded; without its header), UTF-8, hex; of a
            reference, of the full text that its handle recovers.
        features: score parts in millionths, by name.
        signals: `rule:line` of places that address an assistant.
    """

    n: int
    path: str
    start: int
    end: int
    kind: str
    name: str
    level: Level
    tokens: int
    source: str
    sha256: str
    features: dict[str, int]
    signals: tuple[str, ...] = ()


class Left(Struct, frozen=True, rename="camel"):
    """One unit that was left out: one of the best 200."""

    path: str
    start: int
    end: int
    kind: str
    name: str
    reason: str
    features: dict[str, int]


class Omitted(Struct, frozen=True, rename="camel"):
    """Everything that was left out.

    Attributes:
        by_reason: noMatch, rank, budget, duplicate, policy, unstable → count; zeros left out.
        top: the best of them, by rank.
    """

    count: int
    by_reason: dict[str, int]
    top: tuple[Left, ...]


class Certificate(Struct, frozen=True, rename="camel"):
    """How good the selection is for the stated objective, and for that alone.

    Attributes:
        value: of the selection, in the objective's integer unit.
        bound: no selection of the same units within the same budget has more.
        regret: bound - value; 0 where `exact`.
        units: how many units took part.
    """

    objective: str
    exact: bool
    value: int
    bound: int
    regret: int
    units: int
    cost_model: str = "sum"


class Receipt(Struct, frozen=True, rename="camel"):
    """The whole receipt. Its id is `cr_` and 16 hex digits of the SHA-256 of its canonical JSON.

    Attributes:
        text_digest: SHA-256 of the answer's text without its trailer line, hex.
        used: tokens of the whole answer, by recount.
        skipped: files that were not indexed, by reason → count.
    """

    version: int
    query: str
    budget: int
    tokenizer: str
    indexer: str
    guard: str
    text_digest: str
    used: int
    items: tuple[Item, ...]
    omitted: Omitted
    skipped: dict[str, int]
    certificate: Certificate
    warnings: tuple[str, ...]


_ID = re.compile(r"cr_[0-9a-f]{16}")
_HANDLE = re.compile(r"(cr_[0-9a-f]{16})#([1-9][0-9]{0,5})")
# What every JSON reader takes for the same number.
_LARGEST = 2**53 - 1


class NotAReceipt(ValueError):
    """Bytes that no receipt of this version has."""


class Handle(NamedTuple):
    """The n-th item of a receipt: `cr_…#n`."""

    receipt: str
    n: int

    def __str__(self) -> str:
        return f"{self.receipt}#{self.n}"


def canonical(receipt: Receipt) -> bytes:
    """The canonical JSON of a receipt. A lone surrogate is spelled out: it has no UTF-8.

    Raises:
        NotAReceipt: a number is no integer, or is larger than all readers of JSON agree on.
    """
    value = _ordered(receipt)
    try:
        return encode(value)
    except UnicodeEncodeError:
        return encode(_spelled(value))


def receipt_id(receipt: Receipt) -> str:
    """`cr_` and 16 hex digits."""
    return id_of(canonical(receipt))


def id_of(data: bytes) -> str:
    """The id of a receipt's canonical JSON."""
    return id_by(sha256(data).hexdigest())


def id_by(digest: str) -> str:
    """The id of a receipt by the SHA-256 of its canonical JSON, hex."""
    return f"cr_{digest[:16]}"


def read_receipt(data: bytes) -> Receipt:
    """A receipt from its canonical JSON.

    Raises:
        NotAReceipt: it is none, or these are not the bytes that it is written in.
    """
    try:
        receipt = _RECEIPT.decode(data)
        written = canonical(receipt)
    except (MsgspecError, UnicodeError, RecursionError, ValueError) as error:
        raise NotAReceipt("these bytes are no receipt") from error
    if written != data:
        raise NotAReceipt("these bytes are not the canonical text of their receipt")
    return receipt


def is_id(name: str) -> bool:
    """Whether this is written like a receipt's id."""
    return _ID.fullmatch(name) is not None


def handle_of(name: str) -> Handle | None:
    """The handle that is written like this, or None."""
    found = _HANDLE.fullmatch(name)
    return None if found is None else Handle(found[1], int(found[2]))


def ids_in(shown: str) -> list[str]:
    """Every receipt id that a text shows, each once, in order."""
    return list(dict.fromkeys(found[0] for found in _ID.finditer(shown)))


def split_trailer(answer: str) -> tuple[str, str]:
    """An answer's body and its last line, which names the receipt.

    Raises:
        NotAReceipt: the last line names none.
    """
    body, line_feed, trailer = answer.rpartition("\n")
    if not trailer.startswith("-- ") or not is_id(trailer[3:].partition(" ")[0]):
        raise NotAReceipt("the last line of the answer names no receipt")
    return body + line_feed, trailer


def body_digest(body: str) -> str:
    """`textDigest`: of an answer's text up to its trailer line."""
    return sha256(body.encode("utf-8", "replace")).hexdigest()


def _ordered(value: object) -> object:
    """Plain JSON whose members stand in canonical order: one pass, for receipts are large."""
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        if not -_LARGEST <= value <= _LARGEST:
            raise NotAReceipt("a number is too large for a receipt")
        return value
    if isinstance(value, Struct):
        return {
            name: found if type(found := getattr(value, own)) is str else _ordered(found)
            for own, name in _members(type(value))
        }
    if is_object(value):
        return {
            name: found
            if type(found := value[name]) is int and -_LARGEST <= found <= _LARGEST
            else _ordered(found)
            for name in _collated(tuple(value))
        }
    if isinstance(value, tuple):
        return [_ordered(item) for item in cast("tuple[object, ...]", value)]
    raise NotAReceipt("a receipt holds texts, integers, lists and objects")


@cache
def _members(kind: type[Struct]) -> tuple[tuple[str, str], ...]:
    own = {field.encode_name: field.name for field in structs.fields(kind)}
    return tuple((own[name], name) for name in collated(own))


@lru_cache(maxsize=1024)
def _collated(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(collated(names))


def _spelled(value: object) -> object:
    if isinstance(value, str):
        return _word(value)
    if is_object(value):
        members = {_word(name): _spelled(item) for name, item in value.items()}
        return {name: members[name] for name in collated(members)}
    return [_spelled(item) for item in value] if is_list(value) else value


def _word(word: str) -> str:
    return word.encode("utf-8", "backslashreplace").decode()


_RECEIPT = Decoder(Receipt)
