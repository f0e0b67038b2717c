"""Edits, renames, deletes and branch switches under queries, with kills of worker and daemon.

Every returned line must have been in its file at a moment between `startedAt` and `verifiedAt`.
`python -m tests.daemon.context.editing 1000` makes that many edits; the suite makes a few.
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fabricd.core.context.rendering.reading import parse_answer
from fabricd.ipc.client import CallFailed, NoAnswer, NoDaemon
from tests.harness import Daemon
from tests.store.context.trees import git

_WORDS = ("basket", "price", "discount", "customer", "invoice", "parcel", "refund", "stock")
_FILES = 24


def _now() -> int:
    return time.time_ns() // 1_000_000


@dataclass
class Version:
    """The bytes of a file, and from when to when they may have been there, in milliseconds."""

    data: bytes
    since: int
    until: int | None = None


@dataclass
class Tree:
    """A tree that is edited; remembers what was in it when."""

    root: Path
    rng: random.Random
    versions: dict[str, list[Version]] = field(default_factory=dict[str, list[Version]])
    edits: int = 0

    def begin(self) -> None:
        """Two branches with the same files, half of them different."""
        for number in range(_FILES):
            self._write(f"shop/part{number}.py", self._source(number))
        git(self.root, "init", "-q", "-b", "main")
        git(self.root, "add", ".")
        git(self.root, "commit", "-qm", "Begin")
        git(self.root, "checkout", "-qb", "other")
        for number in range(0, _FILES, 2):
            self._write(f"shop/part{number}.py", self._source(number))
        git(self.root, "commit", "-qam", "Differ")
        self._seen(_now() - 10)

    def edit(self) -> None:
        """One edit of some kind; what changed is remembered with the time around it."""
        since = _now()
        self.rng.choice(
            (
                *[self._kept] * 3,
                *[self._rewrite] * 2,
                self._append,
                self._new,
                self._rename,
                self._delete,
                self._switch,
            )
        )()
        self._seen(since)
        self.edits += 1

    def was(self, path: str, source: str, started: int, verified: int) -> bytes | None:
        """The bytes of that digest, if they may have been in the file within that time."""
        for version in self.versions.get(path, ()):
            ended = version.until is None or version.until >= started - 1
            if version.since <= verified + 1 and ended:
                if hashlib.sha256(version.data).hexdigest() == source:
                    return version.data
        return None

    def _seen(self, since: int) -> None:
        found = {
            str(path.relative_to(self.root)): path.read_bytes()
            for path in self.root.glob("shop/*.py")
        }
        until = _now()
        for path, versions in self.versions.items():
            if versions[-1].until is None and found.get(path) != versions[-1].data:
                versions[-1].until = until
        for path, data in found.items():
            versions = self.versions.setdefault(path, [])
            if not versions or versions[-1].until is not None:
                versions.append(Version(data, since))

    def _source(self, number: int) -> str:
        words = self.rng.sample(_WORDS, 3)
        return "\n\n".join(
            f"def {word}_{number}_{at}(count: int) -> int:\n"
            f'    """The {word} number {self.rng.randrange(1000, 9999)}."""\n'
            f"    return count * {self.rng.randrange(1000, 9999)}\n"
            for at, word in enumerate(words)
        )

    def _write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def _any(self) -> Path:
        return self.rng.choice(sorted(self.root.glob("shop/*.py")))

    def _kept(self) -> None:
        # Size and time stamp stay: nothing but the bytes tells.
        path = self._any()
        status = path.stat()
        data = bytearray(path.read_bytes())
        digits = [at for at, char in enumerate(data) if chr(char) in "12345678"]
        for at in self.rng.sample(digits, min(3, len(digits))):
            data[at] = ord("9")
        with path.open("r+b") as file:
            file.write(data)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    def _rewrite(self) -> None:
        path = self._any()
        path.write_text(self._source(self.rng.randrange(100)))

    def _append(self) -> None:
        with self._any().open("a") as file:
            file.write("\n\ndef appended() -> int:\n    return 1\n")

    def _new(self) -> None:
        self._write(f"shop/new{self.edits}.py", self._source(self.edits))

    def _rename(self) -> None:
        path = self._any()
        path.rename(path.with_name(f"renamed{self.edits}.py"))

    def _delete(self) -> None:
        if len(list(self.root.glob("shop/*.py"))) > _FILES // 2:
            self._any().unlink()

    def _switch(self) -> None:
        git(self.root, "checkout", "-qf", self.rng.choice(["main", "other"]))


@dataclass
class Editing:
    """A daemon beside the tree, asked time and again while it and its worker are killed."""

    daemon: Daemon
    tree: Tree
    rng: random.Random
    answers: int = 0
    items: int = 0
    kills: int = 0
    wrong: list[str] = field(default_factory=list[str])

    def run(self, edits: int) -> None:
        """So many edits; queries meanwhile."""
        self.tree.begin()
        self.daemon.start()
        lock = threading.Lock()
        editor = threading.Thread(target=self._edit, args=(edits, lock))
        editor.start()
        while editor.is_alive():
            self._query(lock)
        editor.join()
        self._query(lock)

    def _edit(self, edits: int, lock: threading.Lock) -> None:
        for _ in range(edits):
            with lock:
                self.tree.edit()
            time.sleep(self.rng.random() * 0.16)

    def _query(self, lock: threading.Lock) -> None:
        killer = self._killer()
        params: dict[str, object] = {
            "root": str(self.tree.root),
            "query": " ".join(self.rng.sample(_WORDS, 2)),
            "budget": self.rng.choice([400, 1500, 6000]),
        }
        try:
            found = self.daemon.call("context.select", params).result
        except (NoDaemon, NoAnswer, CallFailed) as error:
            if killer is None and getattr(error, "reason", None) != "nothing-relevant":
                self.wrong.append(repr(error))
            found = None
        if killer is not None:
            killer.join()
        if self.daemon.process is not None and self.daemon.process.poll() is not None:
            self.daemon.start()
        if found is not None:
            with lock:
                self._judge(found)

    def _killer(self) -> threading.Thread | None:
        chance = self.rng.random()
        if chance > 0.3:
            return None
        kill: Callable[[], None] = self.daemon.kill if chance < 0.08 else self._kill_worker
        delay = self.rng.random() * 0.15

        def killing() -> None:
            time.sleep(delay)
            kill()

        self.kills += 1
        thread = threading.Thread(target=killing)
        thread.start()
        return thread

    def _kill_worker(self) -> None:
        worker = self.daemon.status().get("context")
        if worker:
            try:
                os.kill(int(worker["pid"]), signal.SIGKILL)
            except ProcessLookupError:
                return

    def _judge(self, found: Any) -> None:
        self.answers += 1
        pieces = {piece.n: piece for piece in parse_answer(found["text"]).pieces if piece.n}
        for item in found["items"]:
            self.items += 1
            path = item["path"]
            data = self.tree.was(path, item["source"], found["startedAt"], found["verifiedAt"])
            if data is None:
                self.wrong.append(f"{path} {item['source'][:8]} was not there then")
            elif item["level"] == "full":
                lines = data.decode().split("\n")[item["start"] - 1 : item["end"]]
                if list(pieces[item["n"]].lines) != lines:
                    self.wrong.append(f"{path}:{item['start']}-{item['end']} differs")


def edited(edits: int, seed: int) -> Editing:
    """A run on a tree and a home of its own, gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="fd-", dir="/tmp"))
    daemon = Daemon(folder / "d")
    try:
        tree = Tree(folder / "tree", random.Random(seed))
        tree.root.mkdir()
        run = Editing(daemon, tree, random.Random(seed + 1))
        run.run(edits)
        return run
    finally:
        daemon.kill()
        shutil.rmtree(folder, ignore_errors=True)


def main() -> int:
    """As many edits as the command line says."""
    run = edited(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    print(
        f"{run.tree.edits} edits, {run.kills} kills, {run.answers} answers, {run.items} items: "
        f"{len(run.wrong)} wrong"
    )
    for wrong in run.wrong[:10]:
        print(f"  {wrong}")
    return 1 if run.wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
