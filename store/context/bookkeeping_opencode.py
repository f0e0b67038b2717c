"""OpenCode's database, read for the books: the sessions whose parts show a receipt's id.

It is another program's live file: nothing is written to it or beside it.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Set as AbstractSet
from contextlib import closing
from urllib.parse import quote

from fabricd.core.context.books import Ledger
from fabricd.core.context.watching import book_log
from fabricd.core.sessions.adapting import text_of
from fabricd.core.sessions.opencode import Session
from fabricd.core.sessions.records import MAX_RECORD, Malformed
from fabricd.core.steps import Steps
from fabricd.core.trajectory.sessions.opencode import take_part

_ID = re.compile(rb"cr_[0-9a-f]{16}")
_BUSY_SECONDS = 2.0
_HEAD, _VERSIONS, _WAL = 20, slice(18, 20), 2
_SHOWING = """
SELECT session_id, CAST(data AS BLOB) FROM part
WHERE instr(CAST(data AS BLOB), CAST('cr_' AS BLOB)) AND length(CAST(data AS BLOB)) <= ?
"""
_PARTS = """
SELECT CAST(data AS BLOB) FROM part
WHERE session_id = ? AND length(CAST(data AS BLOB)) <= ? ORDER BY id
"""
_TOLD = "SELECT directory, version FROM session WHERE id = ?"


def read_database(path: bytes, ledger: Ledger, wanted: AbstractSet[bytes]) -> Steps[None]:
    """Enter what its sessions were given.

    Raises:
        OSError: there is no such file.
        sqlite3.Error: it cannot be read.
    """
    with closing(_connected(path)) as connection:
        connection.execute("BEGIN")
        for name in _sessions(connection, wanted):
            yield
            directory, version = connection.execute(_TOLD, (name,)).fetchone() or ("", "")
            about = Session(name, text_of(directory), text_of(version))
            log = book_log("opencode", ledger, name)
            log.watched.session(name)
            for (data,) in connection.execute(_PARTS, (name, MAX_RECORD)):
                try:
                    take_part(bytes(data), about, log)
                except Malformed:
                    continue
                yield


def _sessions(connection: sqlite3.Connection, wanted: AbstractSet[bytes]) -> list[str]:
    found: dict[str, None] = {}
    for name, data in connection.execute(_SHOWING, (MAX_RECORD,)):
        if isinstance(name, str) and any(shown in wanted for shown in _ID.findall(data)):
            found.setdefault(name)
    return list(found)


def _connected(path: bytes) -> sqlite3.Connection:
    with open(path, "rb") as file:
        is_logged = _WAL in file.read(_HEAD)[_VERSIONS]
    log = path + b"-wal"
    is_written = os.path.lexists(log) and os.stat(log).st_size > 0
    # Where nobody has it open it is read without the files that SQLite would make beside it.
    is_alone = is_logged and not is_written and not os.path.lexists(path + b"-shm")
    place = f"file:{quote(os.path.abspath(path))}?mode=ro" + ("&immutable=1" if is_alone else "")
    connection = sqlite3.connect(place, _BUSY_SECONDS, isolation_level=None, uri=True)
    try:
        # A schema is untrusted text: no view or trigger of it may call a function.
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA query_only = ON")
    except sqlite3.Error:
        connection.close()
        raise
    return connection
