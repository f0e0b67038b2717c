"""One log of any agent, read from where it was left: what a checkpoint of it holds.

A log that grows is read past its cursor; a document, a compressed log and a store that is rewritten
in place are read whole whenever they changed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

from fabricd.core.history.calls import AgentName, CallTable
from fabricd.core.history.judging import Judge
from fabricd.core.history.recorder import Recorder
from fabricd.core.resume import (
    FileStat,
    Look,
    Mark,
    Resume,
    Unchanged,
    first_look,
    middle_of,
)
from fabricd.core.sessions.adapting import Adapter
from fabricd.core.sessions.lines import read_lines, read_records, records_of_open_end
from fabricd.core.sessions.records import BLOCK, Malformed, Tail
from fabricd.core.sessions.sniff import HEAD, sniff
from fabricd.core.steps import finish
from fabricd.store.reading import Looked, Trail, in_place, look_steps
from fabricd.store.sessions import OpenLog

Form: TypeAlias = Literal["lines", "document", "zst", "database", "tree"]
Progress: TypeAlias = Callable[[int], None]

# A store of many files has no stat of its own.
NO_FILE = FileStat(0, 0, 0, 0, 0)
MAX_DOCUMENT = 512 * 1024 * 1024


class NotALog(ValueError):
    """Raised by `read_log`: what stands there is no session log. The message says why."""


class Kept(Struct, frozen=True):
    """What is kept of a log.

    Attributes:
        table: what its ended lines say, or all of a log that is read whole.
        open_ended: the same with an unterminated last line that is complete; None without one. It
            is never read on from: that line may still become another.
        seen: the file as it was read.
        mark: how far it was read, of a log that grows.
        skipping: a record over the cap was being dropped at the mark.
        memory: what the reader of a store remembers, encoded by it.
    """

    form: Form
    table: CallTable
    seen: FileStat
    mark: Mark | None = None
    skipping: bool = False
    memory: bytes = b""
    open_ended: CallTable | None = None

    @property
    def shown(self) -> CallTable:
        """All that the log says now."""
        return self.table if self.open_ended is None else self.open_ended


def adapter_for(agent: AgentName, recorder: Recorder) -> Adapter:
    """The adapter of a log that grows.

    Raises:
        NotALog: this agent writes none.
    """
    # Imported here: a report over one agent's logs needs one adapter.
    match agent:
        case "pi":
            from fabricd.core.sessions.pi_calls import Pi

            return Pi(recorder)
        case "claude-code":
            from fabricd.core.sessions.claude_code import ClaudeCode

            return ClaudeCode(recorder)
        case "codex":
            from fabricd.core.sessions.codex import Codex

            return Codex(recorder)
        case "copilot-cli":
            from fabricd.core.sessions.copilot_cli import CopilotCli

            return CopilotCli(recorder)
        case "gemini-cli":
            from fabricd.core.sessions.gemini_cli import GeminiCli

            return GeminiCli(recorder)
        case "gateway":
            from fabricd.core.sessions.gateway import Gateway

            return Gateway(recorder)
        case "opencode":
            raise NotALog(f"{agent} keeps no log of lines that is read here")


def read_document(agent: AgentName, data: bytes, recorder: Recorder) -> None:
    """Read a document that is rewritten in place.

    Raises:
        NotALog: it is damaged, or this agent writes none.
    """
    try:
        match agent:
            case "opencode":
                from fabricd.core.sessions.opencode import read_export

                read_export(data, recorder)
            case "gemini-cli":
                from fabricd.core.sessions.gemini_cli import read_document as read_gemini

                read_gemini(data, recorder)
            case _:
                raise NotALog(f"{agent} keeps no documents")
    except Malformed as error:
        raise NotALog(f"the document is damaged: {error}") from None


def read_log(
    path: bytes, known: Kept | None, judge: Judge, progress: Progress | None = None
) -> Kept:
    """Read what is new in a log; gives `known` itself where nothing is.

    Raises:
        OSError: it could not be read.
        NotALog: it is no session log.
    """
    with OpenLog(path) as log:
        stat = log.stat()
        if known is not None and known.form == "lines" and known.mark is not None:
            decision, trail = _decide(log, known.mark, stat)
            if isinstance(decision, Unchanged):
                return known
            if isinstance(decision, Resume):
                tail = Tail(decision.offset, b"", known.skipping)
                return _read_on(log, _copy(known.table), tail, trail, judge, progress)
        elif known is not None and known.seen == stat:
            return known
        found = sniff(log.read(0, HEAD))
        if found is None:
            raise NotALog("not a session log of a known agent" if stat.size else "empty")
        table = CallTable(found.agent)
        if found.is_document:
            return _document(log, stat, table, judge, progress)
        return _read_on(log, table, Tail(), Trail(b"", b""), judge, progress)


def agent_of(path: bytes) -> AgentName:
    """Whose log a file is, by the start of its content.

    Raises:
        OSError: it could not be read.
        NotALog: it is none.
    """
    with OpenLog(path) as log:
        head = log.read(0, HEAD)
    return agent_by(head)


def agent_by(head: bytes) -> AgentName:
    """Whose log starts with these bytes.

    Raises:
        NotALog: it is none.
    """
    found = sniff(head)
    if found is None:
        raise NotALog("not a session log of a known agent" if head else "empty")
    return found.agent


def _decide(log: OpenLog, mark: Mark, stat: FileStat) -> Looked:
    decision = first_look(mark, stat)
    if isinstance(decision, Look):
        return in_place(log, look_steps(mark, stat))
    return decision, Trail(b"", b"")


def _read_on(
    log: OpenLog,
    table: CallTable,
    tail: Tail,
    trail: Trail,
    judge: Judge,
    progress: Progress | None,
) -> Kept:
    adapter = adapter_for(table.agent, Recorder(table, judge))
    position = tail.offset
    while chunk := log.read(position, BLOCK):
        tail = finish(read_lines(chunk, tail, adapter, table.losses))
        trail.passed(chunk, position, tail.offset)
        position += len(chunk)
        if progress is not None:
            progress(len(chunk))
    open_ended = None
    if records := records_of_open_end(tail, table.losses):
        open_ended = _copy(table)
        read_records(records, adapter_for(table.agent, Recorder(open_ended, judge)), open_ended)
    seen = msgspec.structs.replace(log.stat(), size=position)
    where, size = middle_of(tail.offset)
    middle = log.read(where, size) if size else b""
    mark = trail.mark(seen, tail.offset, middle, time.time_ns())
    return Kept("lines", table, seen, mark, tail.skipping, open_ended=open_ended)


def _copy(table: CallTable) -> CallTable:
    # A pass that fails in the middle must leave the table of the last one as it was.
    return msgspec.msgpack.decode(msgspec.msgpack.encode(table), type=CallTable)


def _document(
    log: OpenLog, stat: FileStat, table: CallTable, judge: Judge, progress: Progress | None
) -> Kept:
    if stat.size > MAX_DOCUMENT:
        raise NotALog(f"a document of more than {MAX_DOCUMENT >> 20} MiB is not read")
    data = log.read(0, stat.size)
    while len(data) < stat.size and (more := log.read(len(data), stat.size - len(data))):
        data += more
    if progress is not None:
        progress(len(data))
    read_document(table.agent, data, Recorder(table, judge))
    return Kept("document", table, stat)


def is_as_kept(known: Kept, found: os.stat_result) -> bool:
    """Whether a listing alone says that a log need not be opened."""
    seen, young = known.seen, known.mark is not None and known.mark.young
    return not young and (seen.inode, seen.size, seen.mtime_ns, seen.ctime_ns) == (
        found.st_ino,
        found.st_size,
        found.st_mtime_ns,
        found.st_ctime_ns,
    )
