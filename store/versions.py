"""The version that a private file names, whatever else is in it."""

from __future__ import annotations

import msgspec
from msgspec import Struct

# Of packed bytes nothing tells how deep they nest before they are decoded, as a scan does of JSON;
# their decoder counts its levels and gives up by itself.
UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class _Head(Struct, frozen=True):
    version: int


_HEAD = msgspec.msgpack.Decoder(_Head)


def is_of_another(data: bytes, version: int) -> bool:
    """Whether a file that does not fit says itself that it is of another version.

    Then an older or newer fabricd wrote it and it is no damage: it is rebuilt without a word.
    """
    try:
        return _HEAD.decode(data).version != version
    except UNREADABLE:
        return False
