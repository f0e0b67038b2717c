"""Whether the agents' hooks tell the daemon of turns."""

from __future__ import annotations

from collections.abc import Iterator

from fabricd.daemon.doctor.checks import Check, command, doubtful, fine
from fabricd.daemon.doctor.subject import Subject
from fabricd.daemon.hooks.survey import HookState, installed, repairing
from fabricd.store.durable import shown


def look(subject: Subject) -> Iterator[Check]:
    """Every agent of this machine."""
    for state in (*installed(subject.env), *repairing(subject.env)):
        check = judge(state)
        if check is not None:
            yield check


def judge(found: HookState) -> Check | None:
    """Whether the hook of an agent would run; None where there is no such agent.

    That there is no hook is no fault: the rescan finds what it would have told.
    """
    repairs = found.hook == "repair"
    id, where = f"hook-{found.agent}{'-repair' if repairs else ''}", shown(found.path)
    install = command("fabricd", "hook", "install", found.agent, *["--repair"] * repairs)
    match found.state:
        case "agent_not_found":
            return None
        case "not_installed":
            return fine(id, f"none: turns are noticed within seconds all the same ({install})")
        case "unreadable":
            text = f"{where} cannot be read: {found.note}"
            return doubtful(id, text, f"correct {where}, then: {install}")
        case "another_path":
            told = found.note or f"{where} runs the hook of another installation"
            return doubtful(id, told, install)
        case "installed" if found.note is not None:
            return doubtful(id, f"it is in {where} and would not run: {found.note}", f"see {where}")
        case "installed":
            return fine(id, f"installed in {where}")
