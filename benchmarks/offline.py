"""Scan, report, appended line and application: what needs no running daemon."""

from __future__ import annotations

import json
import random
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import anyio

from benchmarks.corpus import surface, trace_record, write
from benchmarks.measuring import Figure, bare_cpu, least, per_call, process_cpu
from fabricd.core.book import SessionBook
from fabricd.core.entropy.meter import Catalog
from fabricd.core.normalform.apply import Normalizer
from fabricd.daemon.offline.measuring import scan
from fabricd.daemon.tailing.books import Books
from fabricd.store.reading import in_place, read_steps
from fabricd.store.sessions import OpenLog

_MARK = b"pi-fabric.execution"
# Imported by name: the package carries no types.
_JSONSCHEMA: Any = import_module("jsonschema")


def _plain_scan(path: Path) -> int:
    found = 0
    with path.open("rb") as file:
        for line in file:
            record = json.loads(line)
            found += _MARK in line and isinstance(record, dict)
    return found


def prose_scan(folder: Path) -> Figure:
    """Bytes a CPU second over logs that are almost all prose."""
    # Lines of 3.6 KB on average, as real Pi logs have them.
    size = write(folder, 4, 12_000, 0.02, 3500)
    paths = sorted(folder.glob("*.jsonl"))

    def ours() -> float:
        started = time.process_time()
        for path in paths:
            scan(bytes(path))
        return time.process_time() - started

    started = time.process_time()
    _plain_scan(paths[0])
    plain = paths[0].stat().st_size / (time.process_time() - started) / 1e9
    ours()
    rate = size / least(ours) / 1e9
    baseline = f"json.loads a line: {plain:.2f} GB/s, {rate / plain:.0f} times slower"
    return Figure("cold scan, prose-heavy", rate, "GB/s", 1.0, True, baseline)


def corpus_report(folder: Path) -> Figure:
    """CPU of `measure --json` over 8 files of 6,400 records, 15 % of them traces."""
    write(folder, 8, 6400, 0.15, 650)
    surface_file = folder / "surface.json"
    surface_file.write_text(json.dumps(surface()))
    command = [
        sys.executable, "-m", "fabricd", "measure", "--json",
        "--sessions", str(folder), "--surface", str(surface_file),
    ]  # fmt: skip
    naive = [sys.executable, "tests/oracle/naive.py", str(folder), str(surface_file)]
    bare = bare_cpu()
    process_cpu(command)
    seconds = least(lambda: process_cpu(command)) - bare
    plain = process_cpu(naive) - bare
    baseline = f"plain script: {plain:.2f} s, {plain / seconds:.0f} times slower"
    return Figure("cold scan + report of the corpus", seconds, "s CPU", 0.4, False, baseline)


def _plain_judging(path: Path, judges: dict[str, Any]) -> int:
    accepted = 0
    with path.open("rb") as file:
        for line in file:
            record: Any = json.loads(line)
            if _MARK in line:
                for call in record["message"]["details"]["audits"]:
                    judge = judges.get(call["ref"])
                    accepted += judge is not None and judge.is_valid(call["args"])
    return accepted


def corpus_trial(folder: Path) -> Figure:
    """CPU of `trial --json` over the same corpus, with the plans that its surface derives."""
    write(folder, 8, 6400, 0.15, 650)
    surface_file = folder / "surface.json"
    surface_file.write_text(json.dumps(surface()))
    command = [
        sys.executable, "-m", "fabricd", "trial", "--json",
        "--sessions", str(folder), "--surface", str(surface_file),
    ]  # fmt: skip
    bare = bare_cpu()
    process_cpu(command)
    seconds = least(lambda: process_cpu(command)) - bare
    actions = surface()["actions"]
    judges = {row["ref"]: _JSONSCHEMA.Draft202012Validator(row["inputSchema"]) for row in actions}
    started = time.process_time()
    for path in folder.glob("*.jsonl"):
        _plain_judging(path, judges)
    plain = time.process_time() - started
    times = f"{plain:.2f} s, {plain / seconds:.0f} times slower"
    baseline = f"json.loads and jsonschema, each call judged once: {times}"
    return Figure("trial of the corpus", seconds, "s CPU", 0.45, False, baseline)


def appended_line(folder: Path) -> Figure:
    """One more trace line until the new report, with 100 actions of 20 shapes in the window."""
    rng = random.Random(3)
    refs = [f"mcp.many.action{number}" for number in range(100)]
    folder.mkdir(parents=True)
    path = folder / "live.jsonl"

    def line() -> bytes:
        message = trace_record(rng, refs)
        for operation in message["details"]["trace"]["operations"]:
            operation["args"] = {f"k{n}": 1 for n in range(rng.randrange(20))}
        return json.dumps({"type": "message", "message": message}).encode() + b"\n"

    path.write_bytes(b"".join(line() for _ in range(4000)))

    async def run() -> float:
        books, catalog = Books(), Catalog()
        await books.show([bytes(path)])

        async def step() -> None:
            with OpenLog(bytes(path)) as log:
                found = in_place(log, read_steps(log, books.book(bytes(path)), 0))
            await books.commit(bytes(path), found)
            await books.report(catalog)

        await step()
        times: list[float] = []
        for _ in range(60):
            with path.open("ab") as file:
                file.write(line())
            started = time.perf_counter()
            await step()
            times.append(time.perf_counter() - started)
        return sorted(times)[len(times) // 2] * 1000

    ours = anyio.run(run)
    started = time.perf_counter()
    with OpenLog(bytes(path)) as log:
        in_place(log, read_steps(log, SessionBook(), 0))
    baseline = f"reading it all again: {(time.perf_counter() - started) * 1000:.0f} ms"
    return Figure("appended line → new report", ours, "ms", 2.0, False, baseline)


def application() -> list[Figure]:
    """A call that is already canonical, and one that three rules repair."""
    schema = surface()["actions"][0]["inputSchema"]
    normalizer = Normalizer("mcp.server0.action0", schema)
    good = {"path": "src/a.ts", "limit": 5, "mode": "fast"}
    bad = {"path": "src/a.ts", "LIMIT": "5", "mode": "PLAIN_TEXT", "note": None}

    def repair() -> object:
        applied = normalizer.apply(bad)
        return normalizer.witness(bad, applied)

    assert normalizer.apply(good).args is good and repair() is not None
    canonical = per_call(lambda: normalizer.apply(good)) * 1e6
    repaired = per_call(repair, 3000) * 1e6
    built = per_call(lambda: Normalizer("r", schema).apply(bad), 200, 3) * 1e6
    baseline = f"deriving the plan each time: {built:.0f} µs"
    return [
        Figure("canonical call", canonical, "µs", 2.0, False, baseline),
        Figure("repaired call, with witness", repaired, "µs", 30.0, False, baseline),
    ]
