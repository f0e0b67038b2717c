"""The chain of a project: one row for each delivery, each naming the digest of the row before it.

It finds a row that was changed, taken out, put in or moved. It does not find that its end was cut
off, and whoever can write the file can write another chain: nothing is signed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from msgspec import Struct, structs

from fabricd.core.canonical import digest


class Delivery(Struct, frozen=True, rename="camel"):
    """One time that a receipt's answer was given.

    Attributes:
        generation: of the index that the answer was made from.
        started_at: milliseconds since 1970; between it and `verified_at` each file was read.
        refreshed: how many files were found changed and indexed again for it.
        session: the agent's own name of its session, where it told one.
        root: the project.
    """

    receipt: str
    generation: int
    started_at: int
    verified_at: int
    refreshed: int
    session: str | None
    root: str


class Row(Struct, frozen=True, rename="camel"):
    """A delivery in its chain.

    Attributes:
        seq: from 1, without a gap.
        prev: the digest of the row before; empty for the first.
    """

    seq: int
    receipt: str
    prev: str
    generation: int
    started_at: int
    verified_at: int
    refreshed: int
    session: str | None
    root: str

    @property
    def first(self) -> int:
        """Its number, as of a gap."""
        return self.seq

    @property
    def last(self) -> int:
        """Its number, as of a gap."""
        return self.seq

    @property
    def digest(self) -> str:
        """What the next row names: SHA-256 of the canonical JSON, hex."""
        return digest(structs_by_name(self))


class Gap(Struct, frozen=True, rename="camel"):
    """Rows that were forgotten on request, from `first` to `last`.

    Attributes:
        prev: what the first of them named.
        head: the digest of the last of them, which the next row names.
    """

    first: int
    last: int
    prev: str
    head: str
    root: str

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON, hex."""
        return digest(structs_by_name(self))


class Kept(Struct, frozen=True):
    """A row or a gap as it is stored: with the digest that was written beside it."""

    link: Row | Gap
    digest: str

    @property
    def named(self) -> str:
        """What the row behind it names, as it was written."""
        return self.digest if isinstance(self.link, Row) else self.link.head


class Finding(Struct, frozen=True):
    """Something that is not as it was written: where, and what."""

    place: str
    trouble: str


Chain: TypeAlias = Sequence[Kept]


def structs_by_name(value: Row | Gap) -> dict[str, int | str | None]:
    """The members as they are written in JSON."""
    names = (field.encode_name for field in structs.fields(value))
    return dict(zip(names, structs.astuple(value), strict=True))


def linked(delivery: Delivery, before: Kept | None) -> Row:
    """The row of a delivery behind the last row, or gap, of its project's chain.

    It names the digest that was written, so that it does not vouch for a row that was changed.
    """
    return Row(
        1 if before is None else before.link.last + 1,
        delivery.receipt,
        "" if before is None else before.named,
        delivery.generation,
        delivery.started_at,
        delivery.verified_at,
        delivery.refreshed,
        delivery.session,
        delivery.root,
    )


def place_of(link: Row | Gap) -> str:
    """How a row, or a gap, is named in a finding."""
    return f"row {link.seq}" if isinstance(link, Row) else f"gap {link.first}-{link.last}"


def check_chain(chain: Chain) -> list[Finding]:
    """What is wrong with a chain in the order of its numbers."""
    findings: list[Finding] = []
    expected, prev = 1, ""
    for kept in chain:
        link = kept.link
        found = link.digest
        if found != kept.digest:
            findings.append(Finding(place_of(link), "its members do not match its digest"))
        if link.first != expected:
            findings.append(Finding(place_of(link), f"row {expected} should stand here"))
        elif link.prev != prev:
            findings.append(Finding(place_of(link), "it does not follow the row before it"))
        expected, prev = link.last + 1, found if isinstance(link, Row) else link.head
    return findings


def closed(chain: Chain, forgotten: frozenset[int]) -> list[Gap]:
    """The gaps of a chain once rows with these numbers are gone, adjacent ones as one."""
    gaps: list[Gap] = []
    for kept in chain:
        link = kept.link
        if isinstance(link, Gap):
            gap = link
        elif link.seq in forgotten:
            gap = Gap(link.seq, link.seq, link.prev, kept.digest, link.root)
        else:
            continue
        if gaps and gaps[-1].last + 1 == gap.first:
            before = gaps.pop()
            gap = structs.replace(gap, first=before.first, prev=before.prev)
        gaps.append(gap)
    return gaps
