"""Keeping a listing of tools, and saying what it is good for."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from fabricd.core.history.calls import AgentName
from fabricd.core.plain import counted, printable
from fabricd.core.validation import Unjudgeable, Validator
from fabricd.daemon.cli.surface.plans import Yield, json_of, words_of, yields_of
from fabricd.daemon.cli.surface.words import day
from fabricd.daemon.cli.talk import FAILED, Complaint, env, out
from fabricd.store.durable import shown
from fabricd.store.homes import find
from fabricd.store.locks import AlreadyHeld
from fabricd.store.snapshots import (
    DamagedSnapshot,
    Filed,
    Kept,
    NoRoom,
    keep,
    moment_text,
    remove,
)

# As many as a kept listing is read with.
_MAX_TOOLS = 100_000
_SHORTEST = 8


def keep_listing(
    agent: AgentName,
    tools: Mapping[str, Any],
    version: str | None,
    covers: str | None,
    since: datetime | None,
    as_json: bool,
    tells_plans: bool = False,
) -> int:
    """Keep a listing from `since` (else now) to now, and tell of it.

    Args:
        tells_plans: whether also to tell what repairs it yields.

    Raises:
        Complaint: it is of no use, or cannot be kept.
    """
    if not tools and covers is None:
        raise Complaint("the listing has no tools: there is nothing to judge by")
    if len(tools) > _MAX_TOOLS:
        raise Complaint(f"the listing has more than {_MAX_TOOLS:,} tools")
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
    plans = yields_of(tools) if tells_plans else None
    out(_json(kept, unjudged, plans) if as_json else _words(kept, unjudged, plans))
    return 0


def remove_listing(filed: Iterable[Filed], start: str, as_json: bool) -> int:
    """Remove the one listing whose digest starts so, and say so.

    Raises:
        Complaint: none or several start so, or it cannot be removed.
    """
    from fabricd.core.canonical import as_given, text

    if len(start) < _SHORTEST:
        raise Complaint(f"{printable(start)} is too short: give {_SHORTEST} characters or more")
    meant = [each for each in filed if each.digest.startswith(start)]
    if len(meant) != 1:
        raise Complaint(
            f"{counted(len(meant), 'listing', 'listings')} that were added have a digest that "
            f"starts with {printable(start)}, expected one: see fabricd surface list"
        )
    found = meant[0]
    try:
        outcome = "removed" if remove(find(env()), found) else "already_removed"
    except AlreadyHeld:
        raise Complaint("another fabricd keeps a listing just now: try again", FAILED) from None
    except OSError as error:
        raise Complaint(f"it cannot be removed: {error.strerror or error}", FAILED) from None
    if as_json:
        value = {"version": 1, "outcome": outcome, "agent": found.agent, "digest": found.digest}
        out(text(value, as_given) + "\n")
    else:
        out(f"{counted(len(found.tools), 'tool', 'tools')} of {found.agent}: removed\n")
    return 0


def _is_judgeable(schema: object) -> bool:
    try:
        Validator(schema)
    except Unjudgeable:
        return False
    return True


def _json(kept: Kept, unjudged: int, plans: list[Yield] | None) -> str:
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
        **({} if plans is None else json_of(plans)),
    }
    return text(value, as_given) + "\n"


def _interval_words(filed: Filed) -> str:
    if filed.first == filed.last:
        # A moment is no interval: what held before it, or will after it, nobody has seen.
        return "It was seen once, now. Seen again later, it judges the calls between."
    return f"Calls from {day(filed.first)} to {day(filed.last)} are judged by it."


def _words(kept: Kept, unjudged: int, plans: list[Yield] | None) -> str:
    filed = kept.filed
    done = {"written": "kept", "widened": "kept before, its time is longer now"}
    outcome = done.get(kept.outcome, "kept before, nothing is new")
    lines = [
        f"{counted(len(filed.tools), 'tool', 'tools')} of {filed.agent}: {outcome} "
        f"({kept.digest[:16]})",
        _interval_words(filed),
    ]
    if filed.agent_version is not None:
        lines[1] = (
            f"Calls of version {printable(filed.agent_version)} are judged by it, and those from "
            f"{day(filed.first)} to {day(filed.last)} whose log names no version."
        )
    if unjudged:
        lines.append(f"{counted(unjudged, 'schema', 'schemas')} cannot be judged.")
    if plans is not None:
        lines += words_of(plans)
    return "\n".join(lines) + "\n"
