"""Repaired calls, looked up in the gateway's logs by their witness."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabricd.core.canonical import digest
from fabricd.core.documents import BadDocument, strict_json
from fabricd.core.mcp.explaining import witness_digest, witnesses_in
from fabricd.core.nesting import RECORD_LEVELS
from fabricd.core.plain import is_list, is_object
from fabricd.core.sessions.gateway import is_witness, operation_of
from fabricd.core.sessions.records import MAX_RECORD
from fabricd.store.durable import Damaged, Missing, read_bounded, shown
from fabricd.store.gateway_logs import newest_first

_TEXT = digest("str")
_PREFIX = re.compile(r"[0-9a-f]{8,64}\Z")
_MARK = b'"normalization"'


class NotFound(LookupError):
    """Raised by `find`: there is no such repair. `code` is an exit code."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code


class Ambiguous(LookupError):
    """Raised by `find`: several witnesses start so."""

    code = 2

    def __init__(self, prefix: str) -> None:
        super().__init__(f"several witnesses start with {prefix}: give more of the digest")


@dataclass(frozen=True)
class Found:
    """A repaired call: its record, and the schema of that time where a log still holds it.

    `before` and `after` are the arguments as far as they were kept.
    """

    witness: dict[str, Any]
    record: dict[str, Any]
    schema: object
    log: str | None

    @property
    def _operation(self) -> dict[str, Any]:
        return operation_of(self.record.get("trace")) or {}

    @property
    def ref(self) -> str:
        """The action that was called."""
        return str(self._operation.get("ref", "unknown"))

    @property
    def outcome(self) -> str:
        """How the call ended."""
        return str(self._operation.get("outcome", "unknown"))

    @property
    def before(self) -> object:
        """The arguments as they were sent."""
        audit = self.record.get("audit")
        if is_object(audit):
            return audit.get("args")
        # A trace holds objects alone; these came as a text.
        was_text = self.witness.get("beforeShape") == _TEXT
        return "" if was_text else self._operation.get("args")

    @property
    def after(self) -> object:
        """The arguments as they were forwarded."""
        audit = self.record.get("audit")
        return audit.get("forwarded") if is_object(audit) else self.record.get("forwarded")


def find(root: Path, prefix: str | None) -> Found:
    """The newest call with a witness whose digest starts so; with None, the newest of all.

    Raises:
        NotFound: there is none, or the prefix is none.
        Ambiguous: several witnesses start so.
    """
    if prefix is not None and _PREFIX.match(prefix.lower()) is None:
        raise NotFound(f"{prefix[:80]!r} is neither 8 hexadecimal digits or more nor a file", 2)
    found: Found | None = None
    for log in newest_first(root):
        for each in _in_log(log):
            if prefix is None:
                found = each
            elif witness_digest(each.witness).startswith(prefix.lower()):
                if found is not None and found.witness != each.witness:
                    raise Ambiguous(prefix)
                found = each
        if found is not None and (prefix is None or len(prefix) == 64):
            return found
    if found is None:
        raise NotFound(
            f"no repaired call is in the gateway's logs ({shown(root)})"
            if prefix is None
            else f"no repaired call in the gateway's logs has a witness that starts with {prefix}"
        )
    return found


def find_file(root: Path, path: Path) -> Found:
    """The call of the witness, or of the record, that a file holds.

    Raises:
        NotFound: the file holds neither.
    """
    data = read_bounded(path, MAX_RECORD, pipes=True)
    if isinstance(data, (Missing, Damaged)):
        raise NotFound(f"{shown(path)} cannot be read", 2)
    try:
        value = strict_json(data, RECORD_LEVELS)
    except BadDocument as error:
        raise NotFound(f"{shown(path)} is no witness: {error}", 2) from None
    record = value if is_object(value) else {}
    witness = next(iter(witnesses_in(record)), record.get("witness", record))
    if not is_object(witness) or not is_witness(witness):
        raise NotFound(f"{shown(path)} holds no witness", 2)
    try:
        return find(root, witness_digest(witness))
    except NotFound:
        schema = _schema_in_logs(root, str(witness.get("baseSchemaDigest")))
        return Found(witness, record, schema, None)


def _in_log(path: Path) -> Iterator[Found]:
    schemas: dict[str, object] = {}
    for record in _records(path):
        if record.get("type") == "surface":
            schemas = _schemas(record)
        elif record.get("type") == "call" and (operation := operation_of(record.get("trace"))):
            if is_object(witness := operation.get("normalization")):
                yield Found(witness, record, schemas.get(operation["ref"]), shown(path))


def _records(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with path.open("rb") as file:
            for line in file:
                if _MARK not in line and b'"surface"' not in line:
                    continue
                try:
                    record = strict_json(line, RECORD_LEVELS)
                except BadDocument:
                    continue
                if is_object(record):
                    yield record
    except OSError:
        return


def _schemas(record: dict[str, Any]) -> dict[str, object]:
    actions = record.get("actions")
    return {
        str(action["ref"]): action.get("inputSchema")
        for action in (actions if is_list(actions) else ())
        if is_object(action) and "ref" in action
    }


def _schema_in_logs(root: Path, wanted: str) -> object:
    for log in newest_first(root):
        for record in _records(log):
            if record.get("type") == "surface":
                for schema in _schemas(record).values():
                    if digest(schema) == wanted:
                        return schema
    return None
