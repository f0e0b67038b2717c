"""A compiler with everything beside it, real but for the process: books, pool, review, lexicon."""

from __future__ import annotations

import json
import os
import random
import shutil
from pathlib import Path
from typing import Any

from fabricd.daemon.clock import SystemClock
from fabricd.daemon.compiling.compiler import Compiler
from fabricd.daemon.compiling.declared import SurfaceKeeper
from fabricd.daemon.compiling.lexicon import Lexicon
from fabricd.daemon.compiling.poolkeeper import PoolKeeper
from fabricd.daemon.compiling.reviewer import Reviewer
from fabricd.daemon.health import Health
from fabricd.daemon.tailing.books import Books
from fabricd.daemon.tailing.tailer import Tailer
from fabricd.store.homes import Homes
from tests.daemon.recording import Recording
from tests.harness import SURFACE, trace_line


class Bench:
    """What a daemon holds, on a folder of its own. Another one on the same folder is a restart."""

    def __init__(self, folder: Path, is_pi_home: bool = False, enabled: bool = True) -> None:
        self.homes = Homes(folder / "home", folder / "state", folder / "agent", is_pi_home)
        self.project = self.homes.sessions / "--repo--"
        self.project.mkdir(parents=True, exist_ok=True)
        self.homes.entropy.mkdir(parents=True, exist_ok=True)
        self.telemetry = Recording()
        self.health = Health(self.telemetry)
        self.books = Books()
        self.keeper = SurfaceKeeper(self.homes.surface, self.health)
        self.clock = SystemClock()
        self.pool = PoolKeeper(self.homes, self.health)
        self.reviewer = Reviewer(self.books, self.keeper, self.pool)
        self.lexicon = Lexicon(self.homes, self.health, self.clock)
        self.compiler = Compiler(
            self.homes,
            self.books,
            self.keeper,
            self.pool,
            self.reviewer,
            self.lexicon,
            self.health,
            self.telemetry,
            self.clock,
            enabled,
        )
        self.tailer = Tailer(
            self.homes, self.books, self.health, self.telemetry, self.clock, 10.0, lambda: None
        )

    def declare(self, surface: dict[str, Any] = SURFACE) -> None:
        self.homes.surface.write_text(json.dumps(surface))

    def append(self, data: bytes, name: str = "a.jsonl") -> Path:
        path = self.project / name
        with path.open("ab") as file:
            file.write(data)
        return path

    async def start(self) -> None:
        """What the supervisor does before the first look."""
        await self.compiler.start()
        await self.pool.start()

    async def compile(self) -> str:
        await self.tailer.read_all()
        return (await self.compiler.compile()).outcome

    def hold(self, lock: Path) -> None:
        """Take a lock directory as a running Pi does."""
        lock.mkdir()
        (lock / "owner").write_text(f"token\n{os.getpid()}\n0\n")

    def let_go(self, lock: Path) -> None:
        shutil.rmtree(lock)

    @property
    def ailments(self) -> list[str]:
        return [ailment.what for ailment in self.health.ailments]


def lines(seed: int, count: int = 5) -> bytes:
    rng = random.Random(seed)
    return b"".join(trace_line(rng) + b"\n" for _ in range(count))
