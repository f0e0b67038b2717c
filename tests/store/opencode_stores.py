"""OpenCode stores made for tests."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

from fabricd.core.history.calls import CallTable
from fabricd.core.history.joining import Call
from fabricd.core.sessions.opencode_parts import Same, Stored, StorePass
from tests.core.history.tables import joined

Json = dict[str, Any]
OLD = 1_700_000_000

SCHEMA = """
CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text,
  directory text NOT NULL, title text NOT NULL, version text NOT NULL,
  time_created integer NOT NULL, time_updated integer NOT NULL);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL REFERENCES session(id)
  ON DELETE cascade, time_created integer NOT NULL, time_updated integer NOT NULL,
  data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL REFERENCES message(id)
  ON DELETE cascade, session_id text NOT NULL, time_created integer NOT NULL,
  time_updated integer NOT NULL, data text NOT NULL);
CREATE INDEX part_session_idx ON part (session_id);
"""


def tool(call_id: str = "c1", status: str = "completed", name: str = "bash", **state: Any) -> Json:
    """A part that is a call."""
    told = {"status": status, "input": {"command": "ls"}, "time": {"start": 1000}, **state}
    return {"type": "tool", "callID": call_id, "tool": name, "state": told}


class Database:
    """A database of the host, held open as the host holds it."""

    def __init__(self, path: Path, journal: str = "wal") -> None:
        self.path = path
        self.now = 1_000_000
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute(f"PRAGMA journal_mode = {journal}")
        self.connection.executescript(SCHEMA)

    def session(self, session: str, message: str, directory: str = "/w/p") -> None:
        """A session with one message of a model."""
        info = {"role": "assistant", "modelID": "m", "providerID": "p", "time": {"created": 900}}
        row = (session, "prj", None, directory, "t", "1.2.3", self.now, self.now)
        self.connection.execute("INSERT INTO session VALUES (?,?,?,?,?,?,?,?)", row)
        told = (message, session, self.now, self.now, json.dumps(info))
        self.connection.execute("INSERT INTO message VALUES (?,?,?,?,?)", told)

    def part(self, part: str, data: Json | str, session: str = "s", message: str = "m") -> None:
        """Write a part, or its next version."""
        self.now += 1000
        text = data if isinstance(data, str) else json.dumps(data)
        self.connection.execute(
            "INSERT INTO part VALUES (?,?,?,?,?,?) ON CONFLICT (id) DO UPDATE SET data = ?6,"
            " time_updated = ?5",
            (part, message, session, self.now, self.now, text),
        )

    def close(self) -> None:
        """Close it: the last one to do so removes the files beside it."""
        self.connection.close()


class Tree:
    """A storage folder. Files are old unless they are said to be fresh."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.now = OLD

    def write(self, name: str, data: Json | bytes, fresh: bool = False) -> None:
        """Write a file in place."""
        path = self.root / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())
        self.now += 10
        if not fresh:
            os.utime(path, (self.now, self.now))

    def session(self, session: str, message: str, directory: str = "/w/p") -> None:
        """A session with one message of a model."""
        told = {"id": session, "directory": directory, "version": "0.9"}
        self.write(f"session/prj/{session}", told)
        info = {"id": message, "sessionID": session, "modelID": "m", "providerID": "p"}
        self.write(f"message/{session}/{message}", {**info, "time": {"created": 900}})

    def part(
        self, part: str, data: Json, session: str = "s", message: str = "m", fresh: bool = False
    ) -> None:
        """Write a part, or its next version."""
        told = {"id": part, "sessionID": session, "messageID": message, **data}
        self.write(f"part/{message}/{part}", told, fresh)


def stored(result: StorePass) -> Stored:
    """What a pass gave, which read something."""
    assert isinstance(result, Stored), result
    return result


def is_same(result: StorePass) -> bool:
    """Whether a pass found nothing new."""
    return isinstance(result, Same)


def calls(result: StorePass) -> list[Call]:
    """The calls that a pass gave."""
    return joined(stored(result).table)


def plain(table: CallTable) -> object:
    """A table without the numbers of its names, to compare what two ways of reading found."""
    names = table.names
    rows = [
        (
            key, names[row.tool], names[row.session], names[row.model], names[row.project],
            names[row.shape], row.at, row.ident, row.outcome, row.answered, row.weak,
        )
        for key, row in table.calls.items()
    ]  # fmt: skip
    return rows, {names[each] for each in table.sessions}, table.bases, table.losses
