"""What `fabricd surface` shows of listings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import msgspec

from fabricd.core.plain import counted, printable

if TYPE_CHECKING:
    from fabricd.store.shipped import ShippedAgent
    from fabricd.store.snapshots import Filed


def day(at: int) -> str:
    """A moment in the user's zone, to the minute."""
    return datetime.fromtimestamp(at / 1000).strftime("%Y-%m-%d %H:%M")


def rows(filed: Iterable[Filed], agent: str | None) -> list[dict[str, Any]]:
    """What there is: first what ships, then what was added."""
    from fabricd.store.shipped import agents

    shipped = [_shipped_row(each) for each in agents()]
    added = [_added_row(each) for each in filed]
    return [row for row in (*shipped, *added) if agent in (None, row["agent"])]


def _shipped_digest(each: ShippedAgent) -> str:
    return sha256(msgspec.json.encode(each)).hexdigest()


def _versions(each: ShippedAgent) -> list[str] | None:
    """The first and the last version of all its tools' generations that name theirs."""
    from fabricd.core.history.judging import version_key

    named = [version for tool in each.tools for version in tool.versions or ()]
    return [min(named, key=version_key), max(named, key=version_key)] if named else None


def _shipped_row(each: ShippedAgent) -> dict[str, Any]:
    return {
        "agent": each.agent,
        "origin": "shipped",
        "source": each.source,
        "licence": each.licence,
        "agentVersion": None,
        "versions": _versions(each),
        "covers": None,
        "firstSeen": min(tool.seen[0] for tool in each.tools),
        "lastSeen": max(tool.seen[1] for tool in each.tools),
        "tools": len({tool.name for tool in each.tools}),
        "digest": _shipped_digest(each),
    }


def _added_row(each: Filed) -> dict[str, Any]:
    from fabricd.store.snapshots import moment_text

    return {
        "agent": each.agent,
        "origin": "added",
        "source": None,
        "licence": None,
        "agentVersion": each.agent_version,
        "versions": None if each.agent_version is None else [each.agent_version] * 2,
        "covers": each.covers,
        "firstSeen": moment_text(each.first),
        "lastSeen": moment_text(each.last),
        "tools": len(each.tools),
        "digest": each.digest,
    }


def list_words(value: dict[str, Any]) -> str:
    """The list as text."""
    lines = [_row_words(row) for row in value["surfaces"]]
    return "\n".join(lines or ["No schemas: nothing is judged."]) + "\n"


def _row_words(row: dict[str, Any]) -> str:
    first, last = (_local(row[name]) for name in ("firstSeen", "lastSeen"))
    what = f"{row['agent']:<12} {row['digest'][:12]}  {first} to {last}"
    tools = counted(row["tools"], "tool", "tools")
    if row["origin"] == "shipped":
        if row["versions"] is not None:
            tools += f" of versions {' to '.join(row['versions'])}"
        return f"{what}  {tools}, shipped ({row['licence']}, {row['source']})"
    extra = f" of version {printable(row['agentVersion'])}" if row["agentVersion"] else ""
    if row["covers"] is not None:
        extra += f", all with prefix {printable(row['covers'])!r}" if row["covers"] else ", all"
    return f"{what}  {tools}{extra}, added"


def _local(moment: str) -> str:
    return datetime.fromisoformat(moment).astimezone().strftime("%Y-%m-%d")


def schemas_of(filed: Iterable[Filed], which: str, tool: str | None) -> list[dict[str, Any]]:
    """The tools of the listings that are meant, with their schemas and when they hold."""
    every = [*_shipped_tools(which), *_added_tools(filed, which)]
    return [each for each in every if tool in (None, each["tool"])]


def is_kept(filed: Iterable[Filed], which: str) -> bool:
    """Whether a listing is meant that was added: it may have no tools."""
    return any(_is_meant(which, each.agent, each.digest) for each in filed)


def _is_meant(which: str, agent: str, digest: str) -> bool:
    return which == agent or (len(which) >= 4 and digest.startswith(which))


def _shipped_tools(which: str) -> Iterator[dict[str, Any]]:
    from fabricd.store.shipped import agents

    for each in agents():
        if _is_meant(which, each.agent, _shipped_digest(each)):
            for tool in each.tools:
                versions = (
                    "" if tool.versions is None else f", versions {' to '.join(tool.versions)}"
                )
                holds = f"{_local(tool.seen[0])} to {_local(tool.seen[1])}{versions}"
                yield _tool_row(each.agent, tool.name, holds, tool.input_schema)


def _added_tools(filed: Iterable[Filed], which: str) -> Iterator[dict[str, Any]]:
    for each in filed:
        if _is_meant(which, each.agent, each.digest):
            holds = f"{day(each.first)} to {day(each.last)}"
            if each.agent_version is not None:
                holds += f", version {each.agent_version}"
            for name, schema in each.tools.items():
                yield _tool_row(each.agent, name, holds, schema)


def _tool_row(agent: str, name: str, holds: str, schema: object) -> dict[str, Any]:
    return {"agent": agent, "tool": name, "holds": holds, "inputSchema": schema}


def tools_words(value: Sequence[dict[str, Any]]) -> str:
    """The tools of listings, one a line."""
    if not value:
        return "no tools\n"
    width = max(len(printable(each["tool"])) for each in value)
    lines = [f"{printable(each['tool']):<{width}}  {printable(each['holds'])}" for each in value]
    return "\n".join(lines) + "\n"
