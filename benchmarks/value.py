"""Summaries of many receipts, as one record and as many."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.measuring import Figure, bare_cpu, clean_env, least, process_cpu

_RECEIPTS = 10_000
_RUNS = 100


def _receipt(run: str, number: int) -> dict[str, Any]:
    """As those that fabricd makes, and one figure more."""
    figure: dict[str, Any] = {
        "id": "calls_repaired",
        "unit": "count",
        "class": "OBSERVED",
        "direction": "HIGHER_IS_VALUE",
        "source_verification": "OBSERVED",
        "operator_display": True,
        "baseline": None,
        "result": 1 + number % 3,
        "delta": None,
        "evidence_refs": ["witness-1", "call-1"],
        "limitations": [],
        "derivation": None,
        "aggregation": {"safe": True, "method": "SUM"},
    }
    saved = {"id": "bytes_saved", "unit": "byte", "baseline": 900, "result": 800, "delta": -100}
    locators = (
        ("witness-1", "CONTENT_HASH", f"sha256:{number:064x}"),
        ("call-1", "URI", f"#{number}"),
    )
    return {
        "schema": "opsle.value-receipt.v1",
        "mechanism": {"id": "opsle.demo", "name": "Demo", "version": "1", "revision": None},
        "run": {"id": run},
        "operation": {
            "name": "demo",
            "id": f"{run}/{number}",
            "configuration_id": "extended",
            "policy_id": None,
        },
        "observed_at": "2026-05-01T00:00:00Z",
        "evidence": [
            {"id": name, "kind": kind, "locator": locator, "trust": "OBSERVED"}
            for name, kind, locator in locators
        ],
        "measurements": [figure, {**figure, **saved}],
        "limitations": ["made up"],
    }


def _records(folder: Path, runs: int) -> list[str]:
    """So many records that hold all receipts together; gives their paths."""
    folder.mkdir(parents=True)
    paths: list[str] = []
    each = _RECEIPTS // runs
    for run in range(runs):
        receipts = [_receipt(f"run-{run}", run * each + number) for number in range(each)]
        record = {
            "protocol_version": "opsle.agent-trajectory-profiler.run-record/v1",
            "run": {"id": f"run-{run}"},
            "value_receipts": receipts,
        }
        path = folder / f"{run}.json"
        path.write_text(json.dumps(record))
        paths.append(str(path))
    return paths


def _plain(paths: Iterable[str]) -> float:
    """CPU of reading alone."""
    started = time.process_time()
    for path in paths:
        value: Any = json.loads(Path(path).read_bytes())
        assert value is not None
    return time.process_time() - started


def value(folder: Path) -> list[Figure]:
    """CPU of `fabricd value summary` over all receipts."""
    env = clean_env(FABRICD_HOME=str(folder / "home"))
    figures: list[Figure] = []
    bare = bare_cpu()
    for runs, words in ((1, "in one record"), (_RUNS, f"in {_RUNS} records")):
        paths = _records(folder / str(runs), runs)
        command = [sys.executable, "-m", "fabricd", "value", "summary", "--quiet", *paths]
        seconds = least(partial(process_cpu, command, env), 3) - bare
        baseline = f"json.loads of them: {_plain(paths):.2f} s"
        name = f"{_RECEIPTS:,} receipts summarized, {words}"
        figures.append(Figure(name, seconds, "s CPU", 3, False, baseline))
    return figures
