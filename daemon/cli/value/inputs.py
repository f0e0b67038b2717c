"""Documents about value that were named on the command line, or that the home holds."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from fabricd.core.doubles import read_doubles
from fabricd.core.plain import counted, is_object, printable
from fabricd.core.value import record as run_records
from fabricd.core.value import summary as summaries
from fabricd.core.value.receipt import SCHEMA
from fabricd.daemon.cli.talk import FAILED, Complaint, env, say
from fabricd.daemon.cli.trajectory.work import TooLarge, Unreadable, file_at, sized


def document_at(name: str, limit: int) -> Any:
    """The JSON document of a file of at most `limit` bytes, `-` for standard input.

    Raises:
        Complaint: it cannot be read, is too large, or is no JSON.
    """
    try:
        return read_doubles(_bytes(name, limit))
    except Unreadable as error:
        hint = "; --max-bytes allows more" if isinstance(error, TooLarge) else ""
        raise Complaint(printable(f"{error}{hint}")) from None
    except ValueError as error:
        shown = "standard input" if name == "-" else printable(name)
        raise Complaint(f"{shown} cannot be used: {error}") from None


def _bytes(name: str, limit: int) -> bytes:
    if name != "-":
        return file_at(Path(name), limit)
    try:
        data = sys.stdin.buffer.read(limit + 1)
    except (OSError, AttributeError, ValueError):
        raise Unreadable("standard input cannot be read") from None
    if len(data) > limit:
        raise TooLarge(f"standard input is larger than {sized(limit)}")
    return data


def documents_at(names: Iterable[str], limit: int) -> list[Any]:
    """Several documents of at most `limit` bytes each; standard input can be only one of them.

    Raises:
        Complaint: one cannot be read, or standard input is named twice.
    """
    listed = list(names)
    if listed.count("-") > 1:
        raise Complaint("standard input can be read once")
    return [document_at(name, limit) for name in listed]


def is_receipt(document: object) -> bool:
    """Whether a document means to be a receipt and not a record."""
    if not is_object(document):
        return False
    if document.get("schema") == SCHEMA or document.get("protocol_version") == run_records.PROTOCOL:
        return document.get("schema") == SCHEMA
    return "schema" in document and "protocol_version" not in document


def is_summary(document: object) -> bool:
    """Whether a document means to be a summary."""
    return is_object(document) and document.get("protocol_version") == summaries.PROTOCOL


def records_since(moment: datetime) -> list[dict[str, Any]]:
    """The run records of what fabricd itself did since then, as the home keeps them.

    Raises:
        Complaint: the home's receipts are damaged.
    """
    from fabricd.store import value
    from fabricd.store.homes import find

    try:
        kept = value.load(find(env()).home)
    except value.DamagedReceipts as error:
        raise Complaint(printable(str(error)), FAILED) from None
    if kept.unreadable:
        say(f"{counted(kept.unreadable, 'line', 'lines')} of the receipts cannot be read")
    return kept.since(moment).records()
