"""`normal-forms.json`: guarded when loaded, saved over a sound file alone, equal bytes stand."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Literal

from fabricd.core.documents import BadDocument, strict_json
from fabricd.core.normalform.extended.artifact import (
    NormalForms,
    normal_forms_bytes,
    normal_forms_of,
)
from fabricd.store.atomic import write_atomic
from fabricd.store.durable import Damaged, Load, Loaded, Missing, read_bounded, shown

MAX_BYTES = 64 * 1024 * 1024


class DamagedNormalForms(RuntimeError):
    """Raised by `save`: the file on disk is damaged and is not overwritten."""

    def __init__(self, damage: Damaged) -> None:
        super().__init__(f"{shown(damage.path)} is damaged: {damage.reason}")
        self.damage = damage


def load(path: Path) -> Load[NormalForms]:
    """Read the normal forms."""
    data = read_bounded(path, MAX_BYTES)
    if not isinstance(data, bytes):
        return data
    try:
        value = strict_json(data)
    except BadDocument as error:
        return Damaged(path, str(error))
    found = normal_forms_of(value)
    return Damaged(path, "it holds no normal forms") if found is None else Loaded(found, data)


def save(path: Path, found: NormalForms) -> Literal["written", "already_written"]:
    """Save normal forms; saving bytes that are already there touches nothing.

    Raises:
        DamagedNormalForms: the file on disk cannot be read as normal forms.
        OSError: the file could not be written; the old one stands.
    """
    data = normal_forms_bytes(found)
    if len(data) > MAX_BYTES:
        # It could never be loaded again, and would then stand in its own way.
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    match load(path):
        case Damaged() as damage:
            raise DamagedNormalForms(damage)
        case Loaded(raw=raw) if raw == data:
            return "already_written"
        case Loaded() | Missing():
            write_atomic(path, data)
            return "written"
