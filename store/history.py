"""The history's checkpoint: what is kept of every log, in one file. Losing it costs a scan."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from fabricd.store.atomic import write_atomic
from fabricd.store.durable import Damaged, Load, Loaded, Missing, read_bounded
from fabricd.store.logs import Kept
from fabricd.store.versions import UNREADABLE, is_of_another

VERSION = 1
# Another one whenever an adapter, the table or the judging reads the same log otherwise.
ADAPTERS = "history/2"
MAX_BYTES = 1024 * 1024 * 1024


class _Row(Struct, frozen=True):
    path: bytes
    kept: Kept


class _File(Struct, frozen=True):
    version: int
    adapters: str
    judge: str
    logs: list[_Row]


class _Prefix(Struct, frozen=True):
    version: int
    adapters: str
    judge: str


_FILE = msgspec.msgpack.Decoder(_File)
_PREFIX = msgspec.msgpack.Decoder(_Prefix)
_ENCODER = msgspec.msgpack.Encoder()


def save(path: Path, judge: str, logs: Mapping[bytes, Kept]) -> bool:
    """Write what is kept of every log; False where it is too much or has no encoding.

    Args:
        judge: the digest of the schemas that the calls were judged by.

    Raises:
        OSError: the file could not be written; the old one stands.
    """
    rows = [_Row(name, logs[name]) for name in sorted(logs)]
    try:
        data = _ENCODER.encode(_File(VERSION, ADAPTERS, judge, rows))
    except UnicodeEncodeError:
        rows = [row for row in rows if _has_encoding(row)]
        data = _ENCODER.encode(_File(VERSION, ADAPTERS, judge, rows))
    if len(data) > MAX_BYTES:
        return False
    write_atomic(path, data)
    return True


def _has_encoding(row: _Row) -> bool:
    try:
        _ENCODER.encode(row)
    except UnicodeEncodeError:
        return False
    return True


def load(path: Path, judge: str) -> Load[Mapping[bytes, Kept]]:
    """Read what is kept. What was read by other rules or judged by other schemas is missing."""
    data = read_bounded(path, MAX_BYTES)
    if isinstance(data, (Missing, Damaged)):
        return data
    try:
        prefix = _PREFIX.decode(data)
        if (prefix.version, prefix.adapters, prefix.judge) != (VERSION, ADAPTERS, judge):
            return Missing()
        return Loaded({row.path: row.kept for row in _FILE.decode(data).logs}, b"")
    except UNREADABLE as error:
        return Missing() if is_of_another(data, VERSION) else Damaged(path, str(error)[:200])
