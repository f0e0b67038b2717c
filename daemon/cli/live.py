"""What commands about artifacts share: the live surface, and a file written where it was asked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fabricd.daemon.cli.inputs import surface_at
from fabricd.daemon.cli.talk import FAILED, Complaint, env
from fabricd.store.durable import Damaged, Loaded, Missing, shown

if TYPE_CHECKING:
    from fabricd.core.model import Surface


def live_surface(named: Path | None) -> Surface:
    """The surface of a file that was named, else the one that the home holds.

    Raises:
        Complaint: there is none, or it is unusable.
    """
    if named is not None:
        return surface_at(named)
    from fabricd.store import surfaces
    from fabricd.store.homes import find

    path = find(env()).surface
    match surfaces.load(path):
        case Loaded(value=surface):
            return surface
        case Missing():
            raise Complaint(
                f"there is no surface: {shown(path)} does not exist; let the agent export it, or "
                "name a file with --surface",
                FAILED,
            )
        case Damaged(reason=reason):
            raise Complaint(
                f"the surface {shown(path)} is damaged: {reason}; let the agent export it again, "
                "or name a file with --surface"
            )


def write(path: Path, data: bytes) -> None:
    """Write a file that was asked for, whole or not at all.

    Raises:
        Complaint: it cannot be written.
    """
    from fabricd.store.atomic import write_atomic

    try:
        write_atomic(path, data)
    except OSError as error:
        reason = error.strerror or str(error)
        raise Complaint(f"{shown(path)} cannot be written: {reason}", FAILED) from None
