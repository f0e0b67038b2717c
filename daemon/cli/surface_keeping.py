"""Keeping a listing of tools, and saying what it is good for."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from fabricd.core.history.calls import AgentName
from fabricd.core.plain import counted
from fabricd.core.validation import Unjudgeable, Validator
from fabricd.daemon.cli.surface_words import day
from fabricd.daemon.cli.talk import FAILED, Complaint, env, out
from fabricd.store.durable import shown
from fabricd.store.homes import find
from fabricd.store.locks import AlreadyHeld
from fabricd.store.snapshots import DamagedSnapshot, Filed, Kept, NoRoom, keep, moment_text


def keep_listing(
    agent: AgentName,
    tools: Mapping[str, Any],
    version: str | None,
    covers: str | None,
    since: datetime | None,
    as_json: bool,
) -> int:
    """Keep a listing from `since` (else now) to now, and tell of it.

    Raises:
        Complaint: it is of no use, or cannot be kept.
    """
    if not tools and covers is None:
        raise Complaint("the listing has no tools: there is nothing to judge by")
    now = time.time_ns() // 1_000_000
    first = now if since is None else int(since.timestamp() * 1000)
    if not 0 <= first <= now:
        raise Complaint("--since lies in the future, or before 1970")
    homes = find(env())
    try:
        kept = keep(homes, Filed(agent, tools, first, now, version, covers))
    except DamagedSnapshot as error:
        raise Complaint(f"{error}; move it away and add the listing again", FAILED) from None
    except NoRoom as error:
        raise Complaint(str(error), FAILED) from None
    except AlreadyHeld:
        raise Complaint("another fabricd keeps a listing just now: try again", FAILED) from None
    except OSError as error:
        place = shown(homes.surfaces)
        raise Complaint(f"{place} cannot be written: {error.strerror or error}", FAILED) from None
    unjudged = sum(not _is_judgeable(schema) for schema in tools.values())
    out(_json(kept, unjudged) if as_json else _words(kept, unjudged))
    return 0


def _is_judgeable(schema: object) -> bool:
    try:
        Validator(schema)
    except Unjudgeable:
        return False
    return True


def _json(kept: Kept, unjudged: int) -> str:
    from fabricd.core.canonical import as_given, text

    filed = kept.filed
    value = {
        "version": 1,
        "outcome": kept.outcome,
        "agent": filed.agent,
        "agentVersion": filed.agent_version,
        "covers": filed.covers,
        "firstSeen": moment_text(filed.first),
        "lastSeen": moment_text(filed.last),
        "tools": len(filed.tools),
        "notJudged": unjudged,
        "digest": kept.digest,
        "path": shown(kept.path),
    }
    return text(value, as_given) + "\n"


def _words(kept: Kept, unjudged: int) -> str:
    filed = kept.filed
    done = {"written": "kept", "widened": "kept before, its time is longer now"}
    outcome = done.get(kept.outcome, "kept before, nothing is new")
    lines = [
        f"{counted(len(filed.tools), 'tool', 'tools')} of {filed.agent}: {outcome} "
        f"({kept.digest[:16]})",
        f"Calls from {day(filed.first)} to {day(filed.last)} are judged by it.",
    ]
    if filed.agent_version is not None:
        lines[1] = (
            f"Calls of version {filed.agent_version} are judged by it, and those from "
            f"{day(filed.first)} to {day(filed.last)} whose log names no version."
        )
    if unjudged:
        lines.append(f"{counted(unjudged, 'schema', 'schemas')} cannot be judged.")
    return "\n".join(lines) + "\n"
