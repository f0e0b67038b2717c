"""What `fabricd wrap install` and `uninstall` say."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fabricd.core.plain import printable
from fabricd.daemon.wrapping.planning import Plan
from fabricd.store.durable import shown

_ALREADY = {
    "already_wrapped": "runs through the gateway already",
    "already_unwrapped": "does not run through the gateway",
}
_DONE = {
    "wrapped": "through the gateway",
    "updated": "through the gateway of this installation",
    "unwrapped": "by itself",
}


def sentences(plan: Plan, backup: Path | None, dry_run: bool) -> Iterator[str]:
    """What was done to an entry and what is to be done now; or what would be done."""
    path = shown(plan.place.path)
    subject = f'the server "{printable(plan.server)}" of {plan.place.title}'
    if plan.what in _ALREADY:
        yield f"{subject} {_ALREADY[plan.what]} ({path})"
        return
    runs = "would run" if dry_run else "runs"
    yield f"{subject} {runs} {_DONE[plan.what]} ({path}): {shlex.join(plan.words)}"
    if backup is not None:
        yield f"the file as it was: {shown(backup)}"
    if not dry_run:
        yield from _advice(plan)


def _advice(plan: Plan) -> Iterator[str]:
    yield f"{plan.place.title} starts it so from its next start on"
    if plan.place.agent == "claude-code" and not plan.place.is_shared:
        yield "sessions of Claude Code that run may write the file from memory: look again later"
    if plan.place.is_shared and plan.what != "unwrapped":
        yield "the file holds a path of this machine: think before you share it"


def edit_json(plan: Plan, backup: Path | None, diff: str | None) -> str:
    """One line of JSON on an edit; `diff` is there for a dry run."""
    from fabricd.core.canonical import as_given, text

    value: dict[str, Any] = {
        "version": 1,
        "agent": plan.place.agent,
        "server": plan.server,
        "scope": "project" if plan.place.is_shared else "user",
        "path": shown(plan.place.path),
        "state": plan.what,
        "dryRun": diff is not None,
        "command": list(plan.words),
        "backup": None if backup is None else shown(backup),
        "advice": list(_advice(plan)) if plan.changes and diff is None else [],
    }
    if diff is not None:
        value["diff"] = diff
    return text(value, as_given) + "\n"
