"""The book of one session: how far it was read and what it said so far."""

from __future__ import annotations

from msgspec import Struct, field, structs

from fabricd.core.evidence import Evidence
from fabricd.core.resume import Mark

ADAPTER = "pi/2"


class SessionBook(Struct, frozen=True):
    """`evidence` covers everything before the mark's offset and is what a checkpoint keeps.

    `open_end` is what an unterminated but complete last line says; it is read again each time,
    because the line may still grow.
    """

    mark: Mark | None = None
    model: str | None = None
    skipping: bool = False
    evidence: Evidence = field(default_factory=Evidence)
    open_end: Evidence = field(default_factory=Evidence)

    def whole(self) -> Evidence:
        """Everything the session says now, its open end included."""
        if self.open_end.is_empty:
            return self.evidence
        whole = Evidence()
        whole.add(self.evidence)
        whole.add(self.open_end)
        return whole

    def durable(self) -> SessionBook:
        """The book as a checkpoint keeps it: an open end is left to be read again."""
        mark = self.mark
        if mark is not None and mark.seen.size > mark.offset:
            # Seen only up to the offset: the next look finds the file longer and resumes there.
            seen = structs.replace(mark.seen, size=mark.offset)
            mark = structs.replace(mark, seen=seen)
        return SessionBook(mark, self.model, self.skipping, self.evidence)
