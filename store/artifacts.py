"""`compiled.json`: guarded when loaded, saved only over a sound file, equal bytes left alone."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from fabricd.core.compiling.artifact import Artifact, artifact_bytes, artifact_of
from fabricd.core.compiling.refusal import refusal_of
from fabricd.core.documents import BadDocument, strict_json
from fabricd.core.plain import printable
from fabricd.store.atomic import write_atomic
from fabricd.store.durable import Damaged, Load, Loaded, Missing, read_bounded, shown

MAX_BYTES = 64 * 1024 * 1024


class DamagedArtifact(RuntimeError):
    """Raised by `save`: the file on disk is damaged and is not overwritten."""

    def __init__(self, damage: Damaged) -> None:
        super().__init__(f"{shown(damage.path)} is damaged: {damage.reason}")
        self.damage = damage


def load(path: Path) -> Load[Artifact]:
    """Read the artifact."""
    data = read_bounded(path, MAX_BYTES)
    if not isinstance(data, bytes):
        return data
    try:
        value = strict_json(data)
    except BadDocument as error:
        return Damaged(path, str(error))
    artifact = artifact_of(value)
    if artifact is None:
        # It quotes the document, and goes into answers and logs.
        return Damaged(path, printable(refusal_of(value) or "it is no compiled artifact"))
    return Loaded(artifact, data)


def save(path: Path, artifact: Artifact) -> Literal["written", "already_written"]:
    """Save an artifact; saving bytes that are already there touches nothing.

    Raises:
        DamagedArtifact: the file on disk cannot be read as an artifact.
        OSError: the file could not be written; the old one stands.
    """
    data = artifact_bytes(artifact)
    match load(path):
        case Damaged() as damage:
            raise DamagedArtifact(damage)
        case Loaded(raw=raw) if raw == data:
            return "already_written"
        case Loaded() | Missing():
            write_atomic(path, data)
            return "written"
