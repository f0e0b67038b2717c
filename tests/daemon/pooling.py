"""Sessions with audits on disk, and what their values amount to, counted the plain way."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fabricd.core.pool.file import pool_of
from tests.core.making import line, operation, record, trace
from tests.daemon.bench import Bench

Counts = Counter[tuple[str, str, str]]


def header(identity: Any, parent: Any = None) -> bytes:
    """The first line of a session."""
    more = {} if parent is None else {"parentSession": parent}
    value = {"type": "session", "version": 3, "id": identity, "cwd": "/repo", **more}
    return line(value) + b"\n"


def entry(number: int, *args: dict[str, Any], ref: str = "mcp.demo.search") -> bytes:
    """A record with one audit call for each of some arguments."""
    calls = [operation(n, ref, args={}) for n in range(len(args))]
    audits = [{"ref": ref, "args": each} for each in args]
    return line(record(trace(*calls), audits, id=f"{number:08x}")) + b"\n"


def entries(numbers: Iterable[int]) -> bytes:
    """A record for each number; each has an argument of its own, and one that others have too."""
    return b"".join(entry(n, {f"own{n}": n, "shared": f"v{n % 3}"}) for n in numbers)


def counted(path: Path) -> Counts:
    """What a pool's file says: by ref, key and value."""
    if not path.exists():
        return Counter()
    found: Counts = Counter()
    for row in json.loads(path.read_bytes())["entries"]:
        clear = 0
        for value in row["values"]:
            found[row["ref"], row["key"], json.dumps(value["value"])] += value["count"]
            clear += value["count"]
        if row["total"] > clear:
            found[row["ref"], row["key"], "(hidden)"] += row["total"] - clear
    return found


def clean(logs: Iterable[Path]) -> Counts:
    """One plain look at logs whose every record has an id of its own: each record once."""
    records: dict[str, Counts] = {}
    for path in logs:
        for text in path.read_bytes().split(b"\n")[:-1]:
            if b'"audits"' not in text:
                continue
            value = json.loads(text)
            for number, audit in enumerate(value["details"]["audits"]):
                names = ((audit["ref"], k, json.dumps(v)) for k, v in audit["args"].items())
                records[f"{value['id']} {number}"] = Counter(names)
    total: Counts = Counter()
    for mine in records.values():
        total += mine
    return total


async def keep(bench: Bench) -> str:
    """One look at the files and one at what they say."""
    await bench.tailer.read_all()
    return await bench.pool.update(await bench.books.audit_spans())


async def restarted(bench: Bench) -> Bench:
    later = Bench(bench.homes.home.parent)
    await later.start()
    return later


async def check(bench: Bench) -> None:
    """After a look, the pool is what a plain look at the same logs gives."""
    assert await keep(bench) == "kept"
    assert counted(bench.homes.pool) == clean(bench.project.glob("*.jsonl"))
    assert pool_of(json.loads(bench.homes.pool.read_bytes())) is not None


def tracked(bench: Bench) -> list[str]:
    return [row["file"] for row in json.loads(bench.homes.pool.read_bytes())["tracked"]]
