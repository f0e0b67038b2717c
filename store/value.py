"""`value/` under the home: the receipts of what fabricd did, line by line, and a record a session.

`receipts.jsonl` only ever grows and is the truth; the records are made of it. A line that a killed
writer left unfinished is cut off by the next writer. A line that is no receipt is passed over,
counted, and left as it is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from msgspec import Struct

from fabricd.core.documents import BadDocument
from fabricd.core.doubles import read_doubles
from fabricd.core.identity import canonical_line
from fabricd.core.plain import is_object
from fabricd.core.value.own import run_record
from fabricd.core.value.receipt import accepted_identity, validate_receipt
from fabricd.core.value.record import check_record
from fabricd.store.atomic import private_directory, write_atomic
from fabricd.store.durable import Damaged, Missing, read_bounded, shown
from fabricd.store.locks import hold

MAX_BYTES = 256 * 1024 * 1024
_WAIT = 5.0
_PLAIN_NAME = re.compile("[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")


class DamagedReceipts(RuntimeError):
    """Raised where the receipts cannot be read as a file. Nothing is written then."""

    def __init__(self, damage: Damaged) -> None:
        super().__init__(f"{shown(damage.path)} is damaged: {damage.reason}")
        self.damage = damage


class Kept(Struct, frozen=True):
    """Receipts by semantic identity, in the order they came; and how many lines are none."""

    receipts: dict[str, dict[str, Any]]
    unreadable: int = 0

    def since(self, moment: datetime) -> Kept:
        """Those that were observed at a moment or later; without a time nobody can say so."""
        kept = {
            name: receipt
            for name, receipt in self.receipts.items()
            if (at := _observed(receipt)) is not None and at >= moment
        }
        return Kept(kept, self.unreadable)

    def records(self) -> list[dict[str, Any]]:
        """A run record for each session, in the order of their first receipts."""
        return [run_record(run_id, receipts) for run_id, receipts in self._by_run().items()]

    def _by_run(self) -> dict[str, list[dict[str, Any]]]:
        runs: dict[str, list[dict[str, Any]]] = {}
        for receipt in self.receipts.values():
            if isinstance(run_id := receipt["run"]["id"], str):
                runs.setdefault(run_id, []).append(receipt)
        return runs


def receipts_path(home: Path) -> Path:
    """Where the receipts of a home are."""
    return home / "value" / "receipts.jsonl"


def record_path(home: Path, run_id: str) -> Path:
    """Where the record of a session is. An id that is no plain file name is hashed."""
    name = run_id
    if _PLAIN_NAME.fullmatch(run_id) is None:
        name = f"sha256-{sha256(run_id.encode('utf-8', 'surrogatepass')).hexdigest()}"
    return home / "value" / "runs" / f"{name}.json"


def load(home: Path) -> Kept:
    """The receipts of a home. An unfinished last line may still be being written: it is ignored.

    Raises:
        DamagedReceipts: there is no reading the file.
    """
    return _kept(_bytes(receipts_path(home)))


def _bytes(path: Path) -> bytes:
    match read_bounded(path, MAX_BYTES):
        case Missing():
            return b""
        case Damaged() as damage:
            raise DamagedReceipts(damage)
        case bytes() as data:
            return data


def _kept(data: bytes) -> Kept:
    receipts: dict[str, dict[str, Any]] = {}
    unreadable = 0
    for line in data.split(b"\n")[:-1]:
        receipt = _receipt(line)
        if receipt is None:
            unreadable += 1
        else:
            receipts.setdefault(accepted_identity(receipt), receipt)
    return Kept(receipts, unreadable)


def _receipt(line: bytes) -> dict[str, Any] | None:
    try:
        value = read_doubles(line)
    except BadDocument:
        return None
    return value if is_object(value) and not validate_receipt(value) else None


def _observed(receipt: Mapping[str, Any]) -> datetime | None:
    try:
        at = datetime.fromisoformat(receipt.get("observed_at") or "")
    except ValueError:
        # Receipts know days that no calendar has.
        return None
    return at if at.tzinfo is not None else None


class Ledger:
    """The one writer of a home's receipts, from its opening until it is closed.

    Opening cuts off what a killed writer left unfinished and brings the records up to date.

    Raises:
        DamagedReceipts: what is there cannot be read.
        AlreadyHeld: somebody else writes.
        OSError: something cannot be written.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._path = receipts_path(home)
        private_directory(self._path.parent)
        self._ownership = hold(self._path.with_suffix(".lock"), seconds=_WAIT)
        try:
            kept = _kept(_mended(self._path, _bytes(self._path)))
            self._names = set(kept.receipts)
            # What was written to a record need not be checked when it is read again.
            self._written: dict[str, bytes] = {}
            self.unreadable = kept.unreadable
            for record in kept.records():
                self._save(record)
        except BaseException:
            self._ownership.close()
            raise

    def close(self) -> None:
        """Let others write."""
        self._ownership.close()

    def add(self, receipts: Iterable[dict[str, Any]]) -> int:
        """Append receipts that are not there yet, and what they change in records.

        Gives how many were new. What is no valid receipt is left out.

        Raises:
            DamagedReceipts, OSError: as for opening; no line is there in part.
        """
        new: dict[str, dict[str, Any]] = {}
        for receipt in receipts:
            if not validate_receipt(receipt):
                new.setdefault(accepted_identity(receipt), receipt)
        lines = {name: canonical_line(new[name]) for name in new if name not in self._names}
        if lines:
            _append(self._path, b"".join(lines.values()))
            self._names.update(lines)
            for record in Kept({name: new[name] for name in lines}).records():
                self._extend(record)
        return len(lines)

    def _extend(self, record: dict[str, Any]) -> None:
        """Write the record of a session of what it holds and these receipts."""
        run_id: str = record["run"]["id"]
        held = _record_at(record_path(self._home, run_id), run_id, self._written.get(run_id))
        if held is None:
            held = next(one for one in load(self._home).records() if one["run"]["id"] == run_id)
        receipts = [*held["value_receipts"], *record["value_receipts"]]
        self._save(run_record(run_id, receipts))

    def _save(self, record: dict[str, Any]) -> None:
        run_id: str = record["run"]["id"]
        path, data = record_path(self._home, run_id), canonical_line(record)
        if read_bounded(path, len(data)) != data:
            write_atomic(path, data)
        self._written[run_id] = sha256(data).digest()


def _record_at(path: Path, run_id: str, written: bytes | None) -> dict[str, Any] | None:
    """The record in a file, unless that is not what was written there.

    Args:
        written: the digest of what is known to be a record of that run.
    """
    data = read_bounded(path, MAX_BYTES)
    try:
        value = read_doubles(data) if isinstance(data, bytes) else None
    except BadDocument:
        return None
    if isinstance(data, bytes) and sha256(data).digest() == written and is_object(value):
        return value
    checked = check_record(value)
    return checked.record if not checked.violations and checked.run_id == run_id else None


def _mended(path: Path, data: bytes) -> bytes:
    """The whole lines of a file, which holds nothing else from now on."""
    end = data.rfind(b"\n") + 1
    if end < len(data):
        os.truncate(path, end)
    return data[:end]


def _append(path: Path, lines: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    end = os.fstat(descriptor).st_size
    try:
        with os.fdopen(descriptor, "ab", closefd=False) as file:
            file.write(lines)
        os.fsync(descriptor)
    except OSError:
        # A full disk leaves a part of a line: back to where the file ended.
        os.ftruncate(descriptor, end)
        raise
    finally:
        os.close(descriptor)
