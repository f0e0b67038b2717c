"""Receipts as files: one written for others, and one of them checked without anybody's help."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from fabricd.core.context.receipt import handle_of, is_id
from fabricd.core.context.verdicts import export_verified
from fabricd.core.context.verifying import LARGEST_EXPORT, NotAnExport, verify_export
from fabricd.daemon.cli.context.command import answered, printed
from fabricd.daemon.cli.inputs import bytes_at
from fabricd.daemon.cli.live import require_harmless, write
from fabricd.daemon.cli.talk import FAILED, Complaint, env, say
from fabricd.store.addresses import state_dir
from fabricd.store.durable import shown

_ID = "cr_0123456789abcdef"


def names_receipt(what: str) -> bool:
    """Whether this is an id, or an item's handle; anything else is a path."""
    return is_id(what) or handle_of(what) is not None


def export(receipt: str | None, target: str, root: str, as_json: bool) -> int:
    """Write a receipt to a file, or to standard output for `-`.

    Args:
        receipt: None where the id was taken for the file of `--export`, which needs none.

    Raises:
        Complaint: it is not said which, it is not given, or the file cannot be written.
    """
    if not target:
        raise Complaint("--export '': a file has a name; leave it out for standard output")
    receipt, target = _told_apart(receipt, target)
    if target != "-":
        _require_no_state(Path(target))
    found = answered("receipt", {"receipt": receipt, "export": True, "root": root})
    if len(found["text"].encode()) > LARGEST_EXPORT:
        most = LARGEST_EXPORT // (1024 * 1024)
        raise Complaint(f"{found['id']} was given too often: `verify` reads {most} MiB", FAILED)
    if target != "-":
        write(Path(target), found["text"].encode())
        found = {**found, "text": f"exported {found['id']} to {shown(Path(target))}\n"}
        if not as_json:
            say(found["text"].rstrip("\n"))
            return 0
    printed({**found, "file": None if target == "-" else target}, as_json)
    return 0


def _told_apart(receipt: str | None, target: str) -> tuple[str, str]:
    if not names_receipt(target):
        if receipt is None:
            raise Complaint(f"say which receipt to export: its id looks like {_ID}")
        return receipt, target
    if receipt is not None:
        raise Complaint(f"{target} is an id; a file of that name is written as ./{target}")
    return target, "-"


def _require_no_state(target: Path) -> None:
    """Refuse a path where a database of the daemon's would be replaced.

    Raises:
        Complaint: see `require_harmless`; or it lies in the state directory.
    """
    require_harmless(target)
    state = os.path.realpath(state_dir(env()))
    if os.path.realpath(target).startswith(f"{state}/"):
        raise Complaint(f"{shown(target)} is among the daemon's own files: choose another path")


def verified_file(name: str) -> dict[str, Any]:
    """Check an export by itself. `-` is standard input.

    Raises:
        Complaint: it cannot be read, or is no export.
    """
    if name != "-" and not os.path.lexists(name):
        raise Complaint(f"there is no file {name!r:.200}, and an id looks like {_ID}")
    data = bytes_at(name, LARGEST_EXPORT)
    try:
        found = verify_export(data)
    except NotAnExport as error:
        # As one that was changed: a single byte can make JSON no JSON.
        shown_name = "standard input" if name == "-" else name
        raise Complaint(f"{shown_name} is no exported receipt: {error}", FAILED) from None
    return {
        "text": export_verified(found),
        "verified": found.is_sound,
        "file": name,
        **to_builtins(found),
    }
