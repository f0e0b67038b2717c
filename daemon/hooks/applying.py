"""Plans an edit of one file and carries it out: backup, write, never over what somebody changed.

A backup is what the file held before it was last changed here. It is not made where that can be
told from what is there: a file of ours alone comes from no file, and a file that our hook was added
to comes from the backup there is. So to uninstall gives back the very bytes, if nobody else wrote.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from msgspec import Struct

from fabricd.daemon.hooks.agents import Place
from fabricd.daemon.hooks.edits import Change, Edit, Form, Refused, Same, Unfit
from fabricd.store.atomic import write_atomic
from fabricd.store.configurations import (
    Found,
    NotWritable,
    backup_path,
    read,
    remove,
    require_writable,
    write,
)
from fabricd.store.durable import Damaged


class Unusable(ValueError):
    """Raised by `plan`: the file cannot be edited. The message follows its name."""


class Plan(Struct, frozen=True):
    """What would be done to a file. `before` and `after` are texts, None where there is no file."""

    place: Place
    found: Found
    what: str
    before: str | None
    after: str | None
    keeps_backup: bool
    ends_backup: bool

    @property
    def changes(self) -> bool:
        """Whether there is anything to do."""
        return self.before != self.after


def plan(place: Place, words: tuple[str, ...] | None) -> Plan:
    """Look at the file and plan to install these words, or to uninstall; writes nothing.

    Raises:
        Unusable: the file cannot be read or edited, or is not ours to write.
    """
    found, before = _read(place.path)
    form = place.agent.form
    edit = form.uninstall(before) if words is None else form.install(before, words)
    match edit:
        case Refused(reason=reason):
            raise Unusable(reason)
        case Same(what=what):
            return Plan(place, found, what, before, before, keeps_backup=False, ends_backup=False)
        case Change():
            pass
    try:
        require_writable(found)
    except NotWritable as error:
        raise Unusable(str(error)) from None
    return _plan(place, found, before, edit, uninstalling=words is None)


def _plan(place: Place, found: Found, before: str | None, edit: Change, uninstalling: bool) -> Plan:
    known, origin = _origin(place, before)
    after = origin if uninstalling and known else edit.text
    keeps = before is not None and not known
    ends = uninstalling and origin is not None
    return Plan(place, found, edit.what, before, after, keeps, ends)


def carry_out(plan: Plan) -> Path | None:
    """Do what was planned; gives the backup that was made.

    Raises:
        ChangedMeanwhile: somebody else wrote the file after it was read.
        OSError: it cannot be written.
    """
    backup = backup_path(plan.place.path)
    if plan.keeps_backup and plan.found.raw is not None and _raw(backup) != plan.found.raw:
        write_atomic(backup, plan.found.raw)
    if plan.after is None:
        remove(plan.found)
    else:
        write(plan.found, plan.after.encode(), shared=plan.place.scope == "project")
    if plan.ends_backup:
        # What it held is in place again.
        with contextlib.suppress(OSError):
            backup.unlink()
    return backup if plan.keeps_backup else None


def text_of(path: Path) -> str | None:
    """The text of a file, None where there is none.

    Raises:
        Unusable: it cannot be read.
    """
    return _read(path)[1]


def _read(path: Path) -> tuple[Found, str | None]:
    found = read(path)
    if isinstance(found, Damaged):
        raise Unusable(found.reason)
    if found.raw is None:
        return found, None
    try:
        return found, found.raw.decode()
    except UnicodeDecodeError as error:
        raise Unusable(f"it is not UTF-8 (byte {error.start})") from None


def _raw(path: Path) -> bytes | None:
    found = read(path)
    return None if isinstance(found, Damaged) else found.raw


def _origin(place: Place, text: str | None) -> tuple[bool, str | None]:
    """Whether it is known what the file was before our hook came, and that."""
    form = place.agent.form
    if text is None:
        return True, None
    try:
        [words] = form.commands(text)
    except (Unfit, ValueError):
        # None of ours, or several.
        return False, None
    with contextlib.suppress(Unusable):
        backup = text_of(backup_path(place.path))
        if backup is not None and _leads_to(form, backup, words, text):
            return True, backup
    return (True, None) if _leads_to(form, None, words, text) else (False, None)


def _leads_to(form: Form, start: str | None, words: tuple[str, ...], text: str) -> bool:
    edit: Edit = form.install(start, words)
    return isinstance(edit, Change) and edit.what == "installed" and edit.text == text
