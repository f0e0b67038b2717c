"""`fabricd sources`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabricd.core.plain import counted, printable
from fabricd.daemon.cli.talk import Complaint, env, out

if TYPE_CHECKING:
    from fabricd.store.sources import LogFile, Place, Stores

_SHOWN = 20


@click.command("sources")
@click.option(
    "--path",
    "paths",
    multiple=True,
    type=click.Path(path_type=Path, readable=False),
    metavar="DIR",
    help="Look here instead of in the agents' own folders.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
def command(paths: tuple[Path, ...], as_json: bool) -> int:
    """List where the agents' logs are looked for, what is there, and what is skipped and why."""
    from fabricd.store.sources import list_stores, named, places

    for path in paths:
        if not os.path.exists(path):
            raise Complaint(f"{printable(str(path))} does not exist")
    looked = named(paths) if paths else places(env())
    value = _value(looked, list_stores(looked))
    if as_json:
        from fabricd.core.canonical import as_given, text

        out(text(value, as_given) + "\n")
    else:
        out(_words(value))
    return 0


def _value(looked: Sequence[Place], stores: Stores) -> dict[str, Any]:
    skipped = [{"path": skip.path, "reason": skip.reason} for skip in stores.skipped]
    agents: dict[bytes, str] = {}
    for file in stores.files:
        agent, why = _agent_of(file)
        if agent is None:
            skipped.append({"path": _shown(file.path), "reason": why})
        else:
            agents[file.path] = agent
    sources = [_source(place, stores, agents) for place in looked]
    return {
        "version": 1,
        "sources": sources,
        "skipped": sorted(skipped, key=lambda skip: skip["path"]),
    }


def _agent_of(file: LogFile) -> tuple[str | None, str]:
    """Whose log a file is by its content, or why it is none."""
    from fabricd.store.compressed import agent_of_compressed
    from fabricd.store.logs import NotALog, agent_of

    look = agent_of_compressed if file.path.endswith(b".zst") else agent_of
    try:
        return look(file.path), ""
    except NotALog as error:
        return None, str(error)
    except OSError as error:
        return None, error.strerror or str(error)


def _source(place: Place, stores: Stores, agents: dict[bytes, str]) -> dict[str, Any]:
    files = [file for file in stores.files if file.place is place and file.path in agents]
    databases = [file for file in stores.databases if file.place is place]
    trees = [tree for tree in stores.trees if tree.is_relative_to(place.path)]
    every = [*files, *databases]
    newest = max((file.stat.st_mtime for file in every), default=None)
    return {
        "agent": place.agent,
        "path": _shown(place.path),
        "from": place.why,
        "exists": place.path.exists(),
        "files": len(every),
        "bytes": sum(file.stat.st_size for file in every),
        "newest": None if newest is None else _when(newest),
        "stores": [_shown(file.path) for file in databases] + [_shown(tree) for tree in trees],
        "byAgent": _counts(agents[file.path] for file in files),
    }


def _counts(agents: Iterable[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for agent in agents:
        counts[agent] = counts.get(agent, 0) + 1
    return dict(sorted(counts.items()))


def _when(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds")


def _shown(path: Path | bytes) -> str:
    from fabricd.store.durable import shown

    return shown(path)


def _words(value: dict[str, Any]) -> str:
    lines: list[str] = []
    for source in value["sources"]:
        lines.append(_line(source))
        lines += [f"  {printable(store)}" for store in source["stores"]]
        lines += _elsewhere(source)
    skipped = value["skipped"]
    if skipped:
        lines += ["", f"Skipped: {counted(len(skipped), 'file', 'files')}"]
        lines += [f"  {printable(s['path'])}: {printable(s['reason'])}" for s in skipped[:_SHOWN]]
        if len(skipped) > _SHOWN:
            lines.append(f"  and {len(skipped) - _SHOWN:,} more (all of them: --json)")
    return "\n".join(lines) + "\n"


def _line(source: dict[str, Any]) -> str:
    name = f"{source['agent'] or 'any agent':<12} {printable(source['path'])}"
    if source["from"].startswith("$"):
        name += f" ({printable(source['from'])})"
    if not source["exists"]:
        return f"{name}: not there"
    if not source["files"]:
        return f"{name}: {'a storage tree' if source['stores'] else 'no logs'}"
    newest = datetime.fromisoformat(source["newest"]).strftime("%Y-%m-%d %H:%M")
    logs = counted(source["files"], "log", "logs")
    return f"{name}: {logs}, {_size(source['bytes'])}, newest {newest}"


def _elsewhere(source: dict[str, Any]) -> list[str]:
    """The logs that are another agent's than their place says."""
    return [
        f"  {counted(count, 'log is', 'logs are')} of {agent}"
        for agent, count in source["byAgent"].items()
        if agent != source["agent"]
    ]


def _size(count: int) -> str:
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            return f"{size:.0f} {unit}" if unit == "B" or size >= 100 else f"{size:.1f} {unit}"
        size /= 1024
    raise AssertionError
