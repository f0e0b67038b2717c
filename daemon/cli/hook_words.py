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
    match plan.what:
        case "already_installed":
            yield f"the hook of {title} is already installed in {path}"
        case "already_uninstalled":
            yield f"no hook of {title} is installed in {path}"
        case what:
            where = "from" if what == "uninstalled" else "in"
            done = f"would be {what}" if dry_run else f"is {what}"
            yield f"the hook of {title} {done} {where} {path}"
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
    if plan.place.agent.name != "pi":
        yield (
            "fabricd reads the sessions of Pi only so far: the hook does nothing useful for this "
            "agent yet"
        )
    if plan.place.scope == "project":
        yield "the file holds a path of this machine: think before you share it"


def difference(plan: Plan) -> str:
    """The edit as a unified difference, empty where there is none."""
    path = printable(shown(plan.place.path))
    return "".join(
        _line(line)
        for line in difflib.unified_diff(
            _lines(plan.before),
            _lines(plan.after),
            "/dev/null" if plan.before is None else path,
            "/dev/null" if plan.after is None else path,
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
        "scope": state.scope,
        "path": shown(state.path),
        "state": state.state,
        "commands": [shown(command) for command in state.commands],
        "note": state.note,
    }


def states_table(states: Sequence[HookState]) -> str:
    """One line an agent, and one more where there is something to be said."""
    rows = [("agent", "state", "file")]
    rows += [(s.agent, _STATES[s.state], printable(shown(s.path))) for s in states]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    lines = [f"{row[0]:{widths[0]}}  {row[1]:{widths[1]}}  {row[2]}\n" for row in rows]
    for index, state in reversed(list(enumerate(states, start=1))):
        lines[index + 1 : index + 1] = [f"{'':{widths[0]}}  {words}\n" for words in _remarks(state)]
    return "".join(lines)


def _remarks(state: HookState) -> Iterator[str]:
    if state.state == "another_path":
        yield "runs " + ", ".join(printable(shown(command)) for command in state.commands)
    if state.note is not None:
        yield printable(state.note)


def _text(value: dict[str, Any]) -> str:
    from fabricd.core.canonical import as_given, text

    return text(value, as_given) + "\n"
