"""Plans an edit of one file and carries it out: backup, write, never over what somebody changed.

A backup is what the file held before it was last changed here. It is not made where that can be
told from what is there: a file of ours alone comes from no file, and a file that our hook was added
to comes from the backup there is. So to uninstall gives back the very bytes, if nobody else wrote.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from itertools import permutations
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
    form = place.form
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
    after = edit.text
    if uninstalling and known:
        # To uninstall one hook leaves the other.
        staying = _staying(place, before)
        again = _with(origin, staying)
        after = again if again is not None or not staying else after
    keeps = before is not None and not known
    ends = uninstalling and origin is not None and after == origin
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
    """Whether it is known what the file was before our hooks came, and that."""
    if text is None:
        return True, None
    try:
        present = _present(place, text)
    except (Unfit, ValueError):
        # Somebody changed them, or there are several of one kind.
        return False, None
    if not present:
        return False, None
    with contextlib.suppress(Unusable):
        backup = text_of(backup_path(place.path))
        if backup is not None and _leads_to(backup, present, text):
            return True, backup
    return (True, None) if _leads_to(None, present, text) else (False, None)


def _present(place: Place, text: str) -> list[tuple[Form, tuple[str, ...]]]:
    """Our hooks in a file, one of a kind at most."""
    present: list[tuple[Form, tuple[str, ...]]] = []
    for form in place.forms:
        commands = form.commands(text)
        if commands:
            [words] = commands
            present.append((form, words))
    return present


def _leads_to(start: str | None, hooks: list[tuple[Form, tuple[str, ...]]], text: str) -> bool:
    """Whether to install these hooks, in whatever order, leads from one text to another."""
    return any(_with(start, order) == text for order in permutations(hooks))


def _staying(place: Place, before: str | None) -> list[tuple[Form, tuple[str, ...]]]:
    """The hooks in a file that to uninstall the one that is meant leaves there."""
    if place.own is None or before is None:
        return []
    return [each for each in _present(place, before) if each[0] != place.own]


def _with(text: str | None, hooks: Iterable[tuple[Form, tuple[str, ...]]]) -> str | None:
    """A text with these hooks installed one after the other; None where that cannot be."""
    for form, words in hooks:
        edit: Edit = form.install(text, words)
        if not isinstance(edit, Change) or edit.what != "installed":
            return None
        text = edit.text
    return text
