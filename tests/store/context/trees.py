"""Trees to index, and an analyser that is simple enough to be known by heart."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

from fabricd.core.context.corpus import Changes, UnitFacts
from fabricd.core.context.model import Analysed, Mentions, Parsed, Skip, Unit
from fabricd.store.context.refreshing import Analyser
from fabricd.store.context.snapshot import Snapshot

_WORD = re.compile(r"\w+")


def language_of(path: str, head: bytes) -> str | None:
    """Python by name; text by another; nothing else."""
    match path.rpartition(".")[2]:
        case "py":
            return "python"
        case "md" | "txt":
            return "text"
        case _:
            return None


def analyse(data: bytes, path: str) -> Analysed | Skip:
    """One unit for each line that is not blank, named by its first word."""
    lines = data.decode("utf-8", "replace").split("\n")
    units: list[Unit] = []
    terms: list[dict[str, tuple[int, int, int, int]]] = []
    for number, line in enumerate(lines, 1):
        words = _WORD.findall(line.lower())
        if words:
            units.append(Unit("block", words[0], "", (number, number)))
            counts = Counter(words)
            terms.append({word: (int(word == words[0]), 0, 0, n) for word, n in counts.items()})
    n = len(units)
    parsed = Parsed(
        lines=len(lines),
        units=tuple(units),
        terms=tuple(terms),
        mentions=(Mentions(),) * n,
        imports=(),
        digests=(b"12345678",) * n,
        sketches=(b"",) * n,
    )
    language = language_of(path, data) or "text"
    return Analysed(language, parsed, (), (), ((1, 0, 0),) * n)


ANALYSER = Analyser(language_of, analyse)


def git(root: Path, *words: str) -> str:
    """Run git in a tree, as somebody, in nobody's configuration."""
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(root.parent),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_DATE": "1700000000 +0000",
        "GIT_COMMITTER_DATE": "1700000000 +0000",
    }
    who = ("-c", "user.name=n", "-c", "user.email=e@e", "-c", "init.defaultBranch=main")
    done = subprocess.run(
        ("git", *who, *words), cwd=root, env=env, capture_output=True, text=True, check=True
    )
    return done.stdout


def make_repository(root: Path) -> Path:
    """An empty repository."""
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "-q")
    return root


def write(root: Path, path: str, text: str | bytes) -> Path:
    """Write a file of a tree, making its directories."""
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(text if isinstance(text, bytes) else text.encode())
    return place


class Picture(NamedTuple):
    """All that a snapshot tells, by words that the analyser above gives."""

    files: list[tuple[str, str, int, int]]
    file_of: list[int]
    lengths: list[list[int]]
    words: dict[str, tuple[list[int], list[list[int]]]]
    names: dict[str, list[int]]
    indexed: list[tuple[int, list[UnitFacts]]]
    changes: Changes
    skipped: dict[str, int]
    ignored: dict[str, int]
    warnings: tuple[str, ...]


WORDS = ("red", "green", "blue", "secret", "der", "neerg", "alpha", "beta", "gamma", "common")


def picture(snapshot: Snapshot, words: Iterable[str] = WORDS) -> Picture:
    """What a snapshot tells."""
    corpus = snapshot.corpus()
    hits = {word: corpus.hits(word) for word in words}
    return Picture(
        [(file.path, file.language, file.units, file.first_unit) for file in corpus.files],
        corpus.file_of.tolist(),
        corpus.lengths.tolist(),
        {
            word: (hit.units.tolist(), hit.counts.tolist())
            for word, hit in hits.items()
            if len(hit.units)
        },
        {word: units.tolist() for word, units in corpus.defining(words).items()},
        [
            (found.lines, list(found.units))
            for found in map(corpus.indexed, range(len(corpus.files)))
        ],
        corpus.changes(),
        snapshot.skipped,
        snapshot.ignored,
        snapshot.warnings,
    )


def slow_git(folder: Path, command: str, patch: pytest.MonkeyPatch) -> None:
    """A git that never answers one command, and half a second for each answer."""
    real = shutil.which("git")
    place = write(
        folder,
        "git",
        f"""#!/bin/sh
for word in "$@"; do
    [ "$word" = {command} ] && exec sleep 60
done
exec {real} "$@"
""",
    )
    place.chmod(0o755)
    patch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    patch.setattr("fabricd.store.context.git.SECONDS", 0.5)
