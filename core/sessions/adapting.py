"""What an adapter of one agent's log is: records in, calls and results out.

Logs that grow are read line by line; documents that are rewritten in place are read whole, and the
last version stands. What an adapter must remember between two passes over a growing log (the model
in force, say) it keeps in the table's `context`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Generic, Protocol, TypeVar

import msgspec
from msgspec import UNSET, Raw, UnsetType

from fabricd.core.history.recorder import Recorder
from fabricd.core.sessions.records import BOM, Malformed

T = TypeVar("T")

# A pair of surrogate escapes, or one that stands alone, after any escaped backslashes.
_SURROGATE = re.compile(
    rb"(?<!\\)((?:\\\\)*)\\u[dD](?:[89abAB][0-9a-fA-F]{2}(\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    rb"|[89a-fA-F][0-9a-fA-F]{2})"
)


class Adapter(Protocol):
    """Reads the records of one log into the table of its recorder."""

    def take(self, record: bytes) -> None:
        """Read one JSON text. What it does not know it leaves alone.

        Raises:
            Malformed: the text is no JSON, or nests too deep to be read.
        """
        ...


class TypedAdapter(ABC, Generic[T]):
    """An adapter whose records are decoded into one struct, as far as it knows them."""

    def __init__(self, recorder: Recorder, decoder: msgspec.json.Decoder[T]) -> None:
        self._recorder = recorder
        self._context = recorder.table.context
        self._decoder = decoder

    def take(self, record: bytes) -> None:
        """Read one JSON text. What it does not know it leaves alone.

        Raises:
            Malformed: the text is no JSON, or nests too deep to be read.
        """
        try:
            found: T | None = self._decoder.decode(record)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
            found = struct_of(self._decoder, record)
        if found is not None:
            self.enter(found, record, 0, len(record))

    def take_lines(self, data: bytes, start: int, ends: Sequence[int]) -> Iterator[bytes] | None:
        """Read many lines at once; None, and nothing is read, where that cannot be.

        Args:
            start: where the first line starts in `data`.
            ends: where each line ends. No record goes on over the end of one.

        Returns:
            The lines of which something is malformed that was no matter to the decoder, each when
            it has been reached: reading goes on as they are asked for.
        """
        try:
            found = self._decoder.decode_lines(memoryview(data)[start : ends[-1]])
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
            return None
        return self._enter_all(found, data, start, ends) if len(found) == len(ends) else None

    def _enter_all(
        self, found: Sequence[T], data: bytes, start: int, ends: Sequence[int]
    ) -> Iterator[bytes]:
        enter = self.enter
        for record, end in zip(found, ends, strict=True):
            try:
                enter(record, data, start, end)
            except Malformed:
                yield data[start:end]
            start = end + 1

    @abstractmethod
    def enter(self, found: T, data: bytes, start: int, end: int) -> None:
        """Enter what a record says that is `data[start:end]`.

        Raises:
            Malformed: something in it is no JSON.
        """


def text_of(value: object) -> str:
    """A member where it is a text, else the empty text."""
    return value if isinstance(value, str) else ""


def struct_of(decoder: msgspec.json.Decoder[T], raw: bytes) -> T | None:
    """What a JSON text says, or None where it is JSON of a shape that the adapter does not know.

    Raises:
        Malformed: the text is no JSON, or nests too deep.
    """
    try:
        return _decoded(decoder, raw)
    except Malformed:
        # A text that was cut inside a pair of surrogates: its half costs a character, not the line.
        mended = _SURROGATE.sub(_mended, raw.removeprefix(BOM))
        if mended == raw:
            raise
        return _decoded(decoder, mended)


def _decoded(decoder: msgspec.json.Decoder[T], raw: bytes) -> T | None:
    try:
        return decoder.decode(raw)
    except msgspec.ValidationError:
        _require_json(raw)
        return None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise Malformed(str(error)) from None


def _mended(found: re.Match[bytes]) -> bytes:
    return found[0] if found[2] else found[1] + rb"\ufffd"


def _require_json(raw: bytes) -> None:
    # The decoder stops at the first member of a wrong type: what follows may still be damaged.
    try:
        msgspec.json.decode(raw, type=Raw)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise Malformed(str(error)) from None


def raw_of(raw: Raw | UnsetType, opener: bytes) -> bytes | None:
    """The bytes of a member that starts with `opener` (`{` or `[`), else None."""
    if raw is UNSET:
        return None
    found = bytes(raw)
    return found if found[:1] == opener else None
