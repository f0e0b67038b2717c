"""A daemon that finds the private files of another version: rebuilt, and nobody is alarmed."""

from __future__ import annotations

import random
from pathlib import Path

import msgspec
import pytest

from fabricd.store import checkpoints, pools
from fabricd.store.durable import Loaded
from tests.harness import daemon, trace_line
from tests.soak import settle

NAMES = ("checkpoints.msgpack", "pool-ledger.msgpack")


@pytest.mark.parametrize("version", [0, 99])
def test_files_of_an_older_or_newer_version_cost_a_scan(tmp_path: Path, version: int) -> None:
    with daemon(tmp_path) as subject:
        subject.declare()
        state = subject.home / "state"
        state.mkdir(mode=0o700)
        for name in NAMES:
            value = {"version": version, "sessions": {"by": "name"}, "ledger": ["of", "later"]}
            (state / name).write_bytes(msgspec.msgpack.encode(value))
        session = subject.sessions / "s.jsonl"
        rng = random.Random(12)
        session.write_bytes(b"".join(trace_line(rng) + b"\n" for _ in range(20)))
        subject.start()
        ours, clean = settle(subject)
        assert ours == clean
        assert subject.status()["degraded"] == []
        assert subject.stop() == 0
        assert "checkpoint_failed" not in subject.log.read_text()
        books = checkpoints.load(state / NAMES[0])
        assert isinstance(books, Loaded) and len(books.value) == 1
        assert isinstance(pools.load_ledger(state / NAMES[1]), Loaded)
