"""OpenCode's older storage: one small file a part, rewritten in place, in a folder a message.

`session/<project>/<session>.json`, `message/<session>/<message>.json` and
`part/<message>/<part>.json`. A pass lists and stats the part files and reads only the folders in
which one changed.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from typing import TypeAlias

import msgspec
from msgspec import Struct

from fabricd.core.history.calls import CallTable
from fabricd.core.history.judging import Judge
from fabricd.core.history.recorder import Recorder
from fabricd.core.resume import YOUNG_NS
from fabricd.core.sessions.opencode import (
    Entered,
    Message,
    Session,
    may_be_call,
    message_of,
    place_of,
    session_of,
)
from fabricd.core.sessions.opencode_parts import (
    Entangled,
    Parts,
    Same,
    Stored,
    StorePass,
    copy_of,
)
from fabricd.core.sessions.records import MAX_RECORD, Malformed
from fabricd.store.durable import shown
from fabricd.store.sessions import OpenLog

Progress: TypeAlias = Callable[[int], None]

_SUFFIX = b".json"
# The print of a folder that has to be read again whatever it holds.
_UNSETTLED = b""


class _Memory(Struct, frozen=True):
    """Prints of the session folder and of each message's folder, and the parts as entered.

    Parts are named `<message>/<part>`.
    """

    sessions: bytes
    folders: dict[str, bytes]
    known: dict[str, Entered]


_MEMORY = msgspec.msgpack.Decoder(_Memory)


def read_tree(
    root: bytes,
    table: CallTable | None,
    memory: bytes,
    judge: Judge,
    progress: Progress | None = None,
) -> StorePass:
    """Read what changed in a `storage` folder.

    Args:
        table, memory: what the last pass gave, or None and nothing. They are left as they are.

    Raises:
        OSError: there is no such folder, or it may not be listed.
    """
    os.stat(root)
    before = _remembered(memory) if table is not None else None
    sessions = dict(_session_files(root))
    listed = _print(sessions.values())
    folders = _folders(root)
    if before is not None and _is_settled(listed, folders):
        if (before.sessions, before.folders) == (listed, folders):
            return Same()
    if table is not None and before is not None and (own := copy_of(table)) is not None:
        try:
            return _Pass(root, sessions, own, before, judge, progress).run(listed, folders)
        except Entangled:
            pass
    nothing = _Memory(_UNSETTLED, {}, {})
    table = CallTable("opencode")
    return _Pass(root, sessions, table, nothing, judge, progress).run(listed, folders)


def _is_settled(listed: bytes, folders: dict[str, bytes]) -> bool:
    return listed != _UNSETTLED and _UNSETTLED not in folders.values()


class _Pass:
    """One pass over the folders whose print is another one than before."""

    def __init__(
        self,
        root: bytes,
        sessions: dict[str, _File],
        table: CallTable,
        before: _Memory,
        judge: Judge,
        progress: Progress | None,
    ) -> None:
        self._root = root
        self._files = sessions
        self._table = table
        self._before = before
        self._recorder = Recorder(table, judge)
        self._parts = Parts(self._recorder, dict(before.known))
        self._progress = progress
        self._sessions: dict[str, Session] = {}

    def run(self, listed: bytes, folders: dict[str, bytes]) -> Stored:
        """Read what changed.

        Raises:
            Entangled: copies of a call have come apart.
        """
        held: defaultdict[str, list[str]] = defaultdict(list)
        for part in self._parts.known:
            held[part.partition("/")[0]].append(part)
        for folder in sorted(self._before.folders.keys() | held.keys() | folders.keys()):
            now = folders.get(folder)
            if now is None or now == _UNSETTLED or now != self._before.folders.get(folder):
                self._folder(folder, held.get(folder, ()))
        self._parts.arrange(sorted(self._files))
        return Stored(
            self._table,
            msgspec.msgpack.encode(_Memory(listed, folders, self._parts.known)),
        )

    def _folder(self, folder: str, held: list[str] | tuple[str, ...]) -> None:
        found: dict[str, bytes] = {}
        for file in _listed(os.path.join(self._root, b"part", os.fsencode(folder))):
            data = self._read(file)
            if data is not None:
                found[f"{folder}/{_stem(file.path)}"] = data
        for part in held:
            if part not in found:
                self._parts.remove(part)
        messages: dict[tuple[str, str], Message] = {}
        for part in sorted(found):
            data = found[part]
            if not may_be_call(data) and part not in self._parts.known and data.strip():
                continue
            session, message = _place_in(data)
            place = (session, message or folder)
            if place not in messages:
                messages[place] = self._message(*place)
            self._parts.enter(part, data, messages[place], self._session(session))

    def _read(self, file: _File) -> bytes | None:
        data = _bytes_of(file.path)
        if data is not None and self._progress is not None:
            self._progress(len(data))
        return data

    def _message(self, session: str, message: str) -> Message:
        if not (_is_name(session) and _is_name(message)):
            return Message()
        names = (b"message", os.fsencode(session), os.fsencode(message) + _SUFFIX)
        data = _bytes_of(os.path.join(self._root, *names))
        try:
            return Message() if data is None else message_of(data)
        except Malformed:
            return Message()

    def _session(self, session: str) -> Session:
        found = self._sessions.get(session)
        if found is None:
            file = self._files.get(session)
            data = None if file is None else _bytes_of(file.path)
            try:
                told = Session() if data is None else session_of(data)
            except Malformed:
                told = Session()
            # The name of the file is the id; what is inside may be of before it was moved.
            found = self._sessions[session] = msgspec.structs.replace(told, id=session)
        return found


class _File(Struct, frozen=True, gc=False):
    """A file of the store. `young`: it was just written, so that its stat may repeat."""

    path: bytes
    inode: int
    size: int
    mtime_ns: int
    young: bool


def _listed(folder: bytes) -> Iterator[_File]:
    now = time.time_ns()
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(_SUFFIX) and (file := _file(entry, now)) is not None:
                    yield file
    except OSError:
        # Gone while it was listed, or closed to us: its print says so at the next pass.
        return


def _file(entry: os.DirEntry[bytes], now_ns: int) -> _File | None:
    try:
        if not entry.is_file():
            return None
        found = entry.stat()
    except OSError:
        return None
    young = now_ns - found.st_mtime_ns < YOUNG_NS
    return _File(entry.path, found.st_ino, found.st_size, found.st_mtime_ns, young)


def _subfolders(root: bytes) -> Iterator[os.DirEntry[bytes]]:
    try:
        with os.scandir(root) as entries:
            for entry in entries:
                if entry.is_dir():
                    yield entry
    except FileNotFoundError:
        return


def _session_files(root: bytes) -> Iterator[tuple[str, _File]]:
    for project in _subfolders(os.path.join(root, b"session")):
        for file in _listed(project.path):
            yield _stem(file.path), file


def _folders(root: bytes) -> dict[str, bytes]:
    parts = os.path.join(root, b"part")
    return {
        name: _print(_listed(each.path))
        for each in _subfolders(parts)
        if _has_encoding(name := os.fsdecode(each.name))
    }


def _has_encoding(name: str) -> bool:
    # OpenCode's own names are ASCII; no other can be kept in the memory.
    return name.isascii()


def _print(files: Iterable[_File]) -> bytes:
    """What tells the files of a folder from any other, or `_UNSETTLED` while one is young."""
    rows: list[tuple[bytes, int, int, int]] = []
    for file in files:
        if file.young:
            return _UNSETTLED
        rows.append((file.path, file.inode, file.size, file.mtime_ns))
    return blake2b(repr(sorted(rows)).encode(), digest_size=8).digest()


def _stem(path: bytes) -> str:
    return shown(os.path.basename(path)).removesuffix(".json")


def _place_in(part: bytes) -> tuple[str, str]:
    try:
        return place_of(part)
    except Malformed:
        return "", ""


def _is_name(name: str) -> bool:
    # Ids stand in the files and lead to other files: none may lead out of its folder.
    return bool(name) and "/" not in name and "\0" not in name and name not in (".", "..")


def _bytes_of(path: bytes) -> bytes | None:
    """The bytes of a file that is there and no longer than a record may be."""
    try:
        with OpenLog(path) as log:
            size = log.stat().size
            return log.read(0, size) if size <= MAX_RECORD else None
    except OSError:
        return None


def _remembered(memory: bytes) -> _Memory | None:
    try:
        return _MEMORY.decode(memory)
    except msgspec.MsgspecError:
        return None
