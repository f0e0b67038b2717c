"""What `fabricd hook` says: sentences, a table, a difference, JSON."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fabricd.core.plain import printable
from fabricd.daemon.hooks.applying import Plan
from fabricd.daemon.hooks.program import line_of
from fabricd.daemon.hooks.survey import HookState
from fabricd.store.durable import shown

# As surfaces and logs call it.
_LOGGED_AS = {"gemini": "gemini-cli"}
_STATES = {
    "installed": "installed",
    "another_path": "installed, of another fabricd",
    "not_installed": "not installed",
    "agent_not_found": "agent not found",
    "unreadable": "unreadable",
}


def sentences(plan: Plan, backup: Path | None, dry_run: bool, note: str | None) -> Iterator[str]:
    """What was done to a file and what is to be done now; or what would be done."""
    title, path = plan.place.agent.title, shown(plan.place.path)
    hook = "hook" if plan.place.own is None else "repairing hook"
    match plan.what:
        case "already_installed":
            yield f"the {hook} of {title} is already installed in {path}"
        case "already_uninstalled":
            yield f"no {hook} of {title} is installed in {path}"
        case what:
            where = "from" if what == "uninstalled" else "in"
            done = f"would be {what}" if dry_run else f"is {what}"
            yield f"the {hook} of {title} {done} {where} {path}"
    if backup is not None:
        yield f"the file as it was: {shown(backup)}"
    if note is not None:
        yield note
    if plan.changes and not dry_run:
        yield from _advice(plan)


def _advice(plan: Plan) -> Iterator[str]:
    if plan.what == "uninstalled":
        yield f"{plan.place.agent.title} may go on with the hook until it is restarted"
        return
    yield from plan.place.agent.advice(plan.place.scope)
    if plan.place.own is not None:
        yield from _repair_advice(plan)
    elif plan.place.agent.name != "pi":
        yield (
            "fabricd reads the sessions of Pi only so far: the hook does nothing useful for this "
            "agent yet"
        )
    if plan.place.scope == "project":
        yield "the file holds a path of this machine: think before you share it"


def _repair_advice(plan: Plan) -> Iterator[str]:
    agent = _LOGGED_AS.get(plan.place.agent.name, plan.place.agent.name)
    yield (
        "it repairs calls of tools whose schemas are known: "
        f"fabricd surface capture --agent {agent} --prefix PREFIX -- COMMAND"
    )
    yield "it asks the daemon, which must run: fabricd status"


def difference(plan: Plan) -> str:
    """The edit as a unified difference, empty where there is none."""
    return unified(plan.place.path, plan.before, plan.after)


def unified(path: Path, before: str | None, after: str | None, around: int = 3) -> str:
    """The difference of two texts of a file, None where there is none.

    Args:
        around: how many unchanged lines to show.
    """
    name = printable(shown(path))
    return "".join(
        _line(line)
        for line in difflib.unified_diff(
            _lines(before),
            _lines(after),
            "/dev/null" if before is None else name,
            "/dev/null" if after is None else name,
            n=around,
        )
    )


def _lines(text: str | None) -> list[str]:
    parts = (text or "").split("\n")
    return [f"{part}\n" for part in parts[:-1]] + parts[-1:] * (parts[-1] != "")


def _line(line: str) -> str:
    """A file of a project is untrusted text; tabs and line ends are not what is to be feared."""
    body = line.removesuffix("\n")
    end = "\n" if body != line else "\n\\ No newline at end of file\n"
    tail = "\r" if body.endswith("\r") else ""
    return "\t".join(printable(part) for part in body.removesuffix("\r").split("\t")) + tail + end


def edit_json(
    plan: Plan,
    words: tuple[str, ...] | None,
    backup: Path | None,
    dry_run: bool,
    note: str | None,
) -> str:
    """One line of JSON on an edit."""
    changed = plan.changes and not dry_run
    value: dict[str, Any] = {
        "agent": plan.place.agent.name,
        "hook": "turn-end" if plan.place.own is None else "repair",
        "scope": plan.place.scope,
        "path": shown(plan.place.path),
        "state": plan.what,
        "dryRun": dry_run,
        "command": None if words is None else line_of(words),
        "backup": None if backup is None else shown(backup),
        "note": note,
        "advice": list(_advice(plan)) if changed else [],
    }
    if dry_run:
        value["diff"] = difference(plan)
    return _text(value)


def states_json(states: Sequence[HookState]) -> str:
    """One line of JSON on what is installed."""
    return _text({"hooks": [_state(state) for state in states]})


def _state(state: HookState) -> dict[str, Any]:
    return {
        "agent": state.agent,
        "hook": state.hook,
        "scope": state.scope,
        "path": shown(state.path),
        "state": state.state,
        "commands": [shown(command) for command in state.commands],
        "note": state.note,
    }


def states_table(states: Sequence[HookState]) -> str:
    """One line an agent, and one more where there is something to be said."""
    rows = [("agent", "state", "file")]
    rows += [(s.agent, _state_words(s), printable(shown(s.path))) for s in states]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    lines = [f"{row[0]:{widths[0]}}  {row[1]:{widths[1]}}  {row[2]}\n" for row in rows]
    for index, state in reversed(list(enumerate(states, start=1))):
        lines[index + 1 : index + 1] = [f"{'':{widths[0]}}  {words}\n" for words in _remarks(state)]
    return "".join(lines)


def _state_words(state: HookState) -> str:
    return _STATES[state.state] + (", repairs" if state.hook == "repair" else "")


def _remarks(state: HookState) -> Iterator[str]:
    if state.state == "another_path":
        yield "runs " + ", ".join(printable(shown(command)) for command in state.commands)
    if state.note is not None:
        yield printable(state.note)


def _text(value: dict[str, Any]) -> str:
    from fabricd.core.canonical import as_given, text

    return text(value, as_given) + "\n"
