"""Sound files to start from: what the daemon itself writes, and what agents write for it."""

from __future__ import annotations

import json
import random
import tempfile
from functools import cache
from pathlib import Path

import anyio

from fabricd.core.repairs import ActionAlias, KeyAlias, Row, row_value, table_bytes, table_of
from fabricd.core.settling import Learned, learned_bytes
from fabricd.daemon.tailing.checkpointer import Checkpointer
from tests.daemon.bench import Bench
from tests.harness import SURFACE, prose_line, trace_line

# By the names that `Homes` gives them.
DURABLE = (
    "compiled", "surface", "pool", "pool_ledger", "repairs", "repairs_learned", "checkpoints",
)  # fmt: skip

ROWS: tuple[Row, ...] = (
    KeyAlias("mcp.demo.search", "max_results", "maxResults"),
    ActionAlias("mcp.demo", "find", "search"),
)


def session(seed: int = 1, count: int = 12) -> bytes:
    """A session log with traces, audits and prose."""
    rng = random.Random(seed)
    header = json.dumps({"type": "session", "version": 3, "id": f"s{seed}", "cwd": "/repo"})
    lines = [header.encode()]
    for _ in range(count):
        lines += [prose_line(rng), trace_line(rng)]
    return b"\n".join(lines) + b"\n"


@cache
def durable() -> dict[str, bytes]:
    """One sound file of each kind, as the daemon leaves them behind."""

    async def work(bench: Bench) -> None:
        await bench.start()
        await bench.compile()
        checkpointer = Checkpointer(
            bench.homes.checkpoints, bench.books, bench.health, bench.telemetry
        )
        await checkpointer.flush()

    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        bench.declare()
        bench.append(session())
        anyio.run(work, bench)
        found = {
            name: path.read_bytes()
            for name in DURABLE
            if (path := getattr(bench.homes, name)).exists()
        }
    table = {"version": 1, "catalogDigest": "0" * 64, "repairs": [*map(row_value, ROWS)]}
    learned = Learned(("0" * 64,), dict.fromkeys(ROWS, "0" * 64))
    return {
        **found,
        "repairs": table_bytes(table_of(table), 1_700_000_000_000),
        "repairs_learned": learned_bytes(learned),
    }


def surfaces() -> list[bytes]:
    """Surfaces: the usual one, and one of odd schemas."""
    odd = [
        {"ref": "a", "inputSchema": {"$ref": "#/$defs/t", "$defs": {"t": {"type": "object"}}}},
        {"ref": "b", "inputSchema": {"type": "object", "properties": {"x": {"anyOf": [{}, True]}}}},
        {"ref": "c", "inputSchema": {"type": "object", "patternProperties": {"^(a+)+$": False}}},
        {"ref": "d", "inputSchema": {"properties": {"x": {"pattern": "^(\\w+\\s?)*\\1$"}}}},
        {"ref": "e", "inputSchema": {"type": "object", "additionalProperties": False,
         "properties": {"e": {"enum": ["A", "a", 1, None]}, "n": {"type": ["number", "null"]}}}},
        {"ref": "f", "inputSchema": None},
    ]  # fmt: skip
    return [json.dumps(SURFACE).encode(), json.dumps({"version": 1, "actions": odd}).encode()]
