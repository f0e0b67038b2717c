"""Plans the edit of one server's entry and carries it out.

The backup is the file as it was before the first of our edits that are in it now. Where these
edits alone lead from it to what is there, undoing the last of them gives back the very bytes;
else the entry's words are put back as they are spelled, and everything else stays.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from msgspec import Struct

from fabricd.daemon.wrapping.agents import Place
from fabricd.daemon.wrapping.forms import NoEntry, Unfit
from fabricd.daemon.wrapping.words import before_command, command_at
from fabricd.store.atomic import write_atomic
from fabricd.store.configurations import Found, NotWritable, read, require_writable, write
from fabricd.store.durable import Damaged, shown

What = Literal["wrapped", "updated", "already_wrapped", "unwrapped", "already_unwrapped"]
BACKUP_SUFFIX = ".fabricd-wrap-backup"


class Unusable(ValueError):
    """Raised by `plan`: the entry cannot be edited. The message is a whole sentence's worth."""


class NoServer(LookupError):
    """Raised by `plan`: no file has such a server. The message says what is there."""


class Plan(Struct, frozen=True):
    """What would be done to a file. `words` start the server afterwards."""

    place: Place
    server: str
    found: Found
    what: What
    before: str
    after: str
    words: tuple[str, ...]
    keeps_backup: bool = False
    ends_backup: bool = False

    @property
    def changes(self) -> bool:
        """Whether there is anything to do."""
        return self.before != self.after


def plan(places: Iterable[Place], server: str, program: str | None) -> Plan:
    """Plan to wrap a server behind a program, or without one to unwrap it; writes nothing.

    Raises:
        Unusable, NoServer: see there.
    """
    missing: list[str] = []
    for place in places:
        found, text = _read(place.path)
        if text is None:
            missing.append(f"{shown(place.path)} does not exist")
            continue
        try:
            return _planned(place, server, found, text, program)
        except NoEntry as error:
            names = ", ".join(f'"{name}"' for name in error.names[:20]) or "none"
            missing.append(f"{shown(place.path)} has {names}")
        except Unfit as error:
            where = f'{shown(place.path)}, server "{server}": {error}'
            raise Unusable(where) from None
    raise NoServer("; ".join(missing))


def _planned(place: Place, server: str, found: Found, text: str, program: str | None) -> Plan:
    words = place.form.words(text, server)
    at = command_at(words)
    if program is None:
        if at is None:
            return Plan(place, server, found, "already_unwrapped", text, text, words)
        return _unwrapping(place, server, found, text, words[at:])
    if at is None:
        after = place.form.wrapped(text, server, program)
        wanted = (program, *before_command(server), *words)
        return _wrapping(place, server, found, "wrapped", text, after, wanted)
    if words[0] == program:
        return Plan(place, server, found, "already_wrapped", text, text, words)
    after = place.form.repointed(text, server, program)
    return _wrapping(place, server, found, "updated", text, after, (program, *words[1:]))


def _wrapping(
    place: Place,
    server: str,
    found: Found,
    what: What,
    text: str,
    after: str,
    wanted: tuple[str, ...],
) -> Plan:
    _require(place, server, found, after, wanted)
    keeps = _origin(place, text) is None
    return Plan(place, server, found, what, text, after, wanted, keeps_backup=keeps)


def _unwrapping(
    place: Place, server: str, found: Found, text: str, wanted: tuple[str, ...]
) -> Plan:
    backup = _text(backup_path(place.path))
    origin = _origin(place, text)
    if origin is not None:
        after = _rewrapped(place, origin, text, but=server)
        if after is not None and place.form.words(after, server) == wanted:
            _require(place, server, found, after, wanted)
            ends = after == backup
            return Plan(place, server, found, "unwrapped", text, after, wanted, ends_backup=ends)
    after = place.form.unwrapped(text, server, _had_arguments(place, server, backup))
    _require(place, server, found, after, wanted)
    return Plan(place, server, found, "unwrapped", text, after, wanted, keeps_backup=True)


def _require(place: Place, server: str, found: Found, after: str, wanted: tuple[str, ...]) -> None:
    if place.form.words(after, server) != wanted:
        raise Unfit("it cannot be edited without touching what else is there: edit it by hand")
    try:
        require_writable(found)
    except NotWritable as error:
        raise Unfit(str(error)) from None


def _origin(place: Place, text: str) -> str | None:
    """The backup, where our edits alone lead from it to what is there."""
    backup = _text(backup_path(place.path))
    if backup is None:
        return None
    return backup if _rewrapped(place, backup, text, but=None) == text else None


def _rewrapped(place: Place, origin: str, text: str, but: str | None) -> str | None:
    """The origin with each server wrapped that is wrapped in a text, but for one."""
    try:
        for name in place.form.wrapped_names(text):
            if name != but and name not in place.form.wrapped_names(origin):
                program = place.form.words(text, name)[0]
                origin = place.form.wrapped(origin, name, program)
    except (Unfit, NoEntry):
        return None
    return origin


def _had_arguments(place: Place, server: str, backup: str | None) -> bool:
    with contextlib.suppress(Unfit, NoEntry):
        return backup is not None and place.form.has_arguments(backup, server)
    return False


def carry_out(plan: Plan) -> Path | None:
    """Do what was planned; gives the backup that was made.

    Raises:
        ChangedMeanwhile: somebody else wrote the file after it was read.
        OSError: it cannot be written.
    """
    backup = backup_path(plan.place.path)
    if plan.keeps_backup and plan.found.raw is not None:
        write_atomic(backup, plan.found.raw)
    write(plan.found, plan.after.encode(), shared=plan.place.is_shared)
    if plan.ends_backup:
        # What it held is in place again.
        with contextlib.suppress(OSError):
            backup.unlink()
    return backup if plan.keeps_backup else None


def backup_path(path: Path) -> Path:
    """Where the backup of a file lies."""
    return path.with_name(path.name + BACKUP_SUFFIX)


def _read(path: Path) -> tuple[Found, str | None]:
    found = read(path)
    if isinstance(found, Damaged):
        raise Unusable(f"{shown(path)}: {found.reason}")
    if found.raw is None:
        return found, None
    try:
        return found, found.raw.decode()
    except UnicodeDecodeError as error:
        raise Unusable(f"{shown(path)}: it is not UTF-8 (byte {error.start})") from None


def _text(path: Path) -> str | None:
    with contextlib.suppress(Unusable):
        return _read(path)[1]
    return None
