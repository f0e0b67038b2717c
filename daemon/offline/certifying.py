"""The checks that need files or other processes, and a recorded corpus to certify."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import fabricd
from fabricd.core.certifying.certify import pure_checks
from fabricd.core.certifying.claims import Check, Claim, Claims
from fabricd.core.certifying.corpora import Corpus
from fabricd.core.certifying.digests import KNOWN, digests
from fabricd.core.certifying.examples import COMPILE_DIGEST, RATE, artifact_json, written
from fabricd.core.certifying.laws import Laws
from fabricd.core.compiling.artifact import Artifact
from fabricd.core.plain import is_object
from fabricd.core.sessions.samples import Recording
from fabricd.daemon.offline.measuring import Measured
from fabricd.daemon.offline.recorded import recorded
from fabricd.store import artifacts
from fabricd.store.durable import Load, Loaded

# In the child: its locale takes force, if it exists there.
PROGRAM = """
import contextlib, json, locale
with contextlib.suppress(locale.Error):
    locale.setlocale(locale.LC_ALL, "")
from fabricd.core.certifying.digests import digests
from fabricd.core.certifying.laws import Laws
print(json.dumps(digests(Laws())))
"""
# Turkish has two letters i, Czech sorts ch behind h, and C has no letters beyond ASCII.
_SURROUNDINGS: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("plain C", {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}),
    ("Turkish", {"LC_ALL": "tr_TR.UTF-8"}),
    ("Czech", {"LC_ALL": "cs_CZ.UTF-8"}),
)
_SEEDS = ("0", "1", "4294967295")
_SECONDS = 60.0


@dataclass(frozen=True)
class Machine:
    """What of the machine is certified: how artifacts are kept, and what another process says."""

    load: Callable[[Path], Load[Artifact]] = artifacts.load
    save: Callable[[Path, Artifact], str] = artifacts.save
    program: str = PROGRAM


def fixed_checks(laws: Laws | None = None, machine: Machine | None = None) -> tuple[Check, ...]:
    """All checks that need no corpus."""
    laws, machine = laws or Laws(), machine or Machine()
    return (
        *pure_checks(laws),
        Check(
            "artifact-store-roundtrip",
            "an artifact is kept to the byte, and what is damaged is not overwritten",
            partial(_kept, laws, machine),
        ),
        Check(
            "locale-invariance",
            "other processes, locales and hash seeds give the same digests",
            partial(_elsewhere, laws, machine),
        ),
    )


# --- the store


def _kept(laws: Laws, machine: Machine) -> Claims:
    expected = artifact_json(RATE, COMPILE_DIGEST)
    artifact = laws.artifact_of(expected)
    yield Claim("that the artifact loads", True, artifact is not None)
    if artifact is None:
        return
    with tempfile.TemporaryDirectory(prefix="fabricd-certify-") as folder:
        path = Path(folder) / "entropy" / "compiled.json"
        yield Claim("the file before", "Missing", _state(machine.load(path)))
        yield Claim("a first save", "written", machine.save(path, artifact))
        yield Claim("the bytes of the file", written(expected), path.read_bytes())
        yield Claim("who may read it", "0o600", oct(stat.S_IMODE(path.stat().st_mode)))
        yield from _loaded(machine, path, artifact)
        other = laws.artifact_of(artifact_json(0.5, "of another corpus"))
        if other is not None:
            yield Claim("a save of another", "written", machine.save(path, other))
        found = path.read_bytes()
        yield Claim("the bytes after it", written(artifact_json(0.5, "of another corpus")), found)
        yield from _damaged(machine, path, artifact)
        yield Claim("files beside it", ["compiled.json"], sorted(os.listdir(path.parent)))


def _state(load: Load[Artifact]) -> str:
    return type(load).__name__


def _loaded(machine: Machine, path: Path, artifact: Artifact) -> Claims:
    load = machine.load(path)
    yield Claim("the file afterwards", "Loaded", _state(load))
    if isinstance(load, Loaded):
        yield Claim("that what is loaded is what was saved", True, load.value == artifact)
        before = path.stat()
        yield Claim("a save of what was loaded", "already_written", machine.save(path, load.value))
        after = path.stat()
        touched = (before.st_ino, before.st_mtime_ns) != (after.st_ino, after.st_mtime_ns)
        yield Claim("that it touched the file", False, touched)


def _damaged(machine: Machine, path: Path, artifact: Artifact) -> Claims:
    for words, data in (("half a file", b'{"version": 2, "act'), ("another document", b"{}\n")):
        path.write_bytes(data)
        yield Claim(f"the state of {words}", "Damaged", _state(machine.load(path)))
        try:
            outcome = machine.save(path, artifact)
        except artifacts.DamagedArtifact:
            outcome = "refused"
        yield Claim(f"a save over {words}", "refused", outcome)
        yield Claim(f"the bytes of {words} afterwards", data, path.read_bytes())


# --- other processes


def _elsewhere(laws: Laws, machine: Machine) -> Claims:
    here = digests(laws)
    with _children(machine.program) as children:
        for name, known in KNOWN.items():
            yield Claim(f"the digest of {name} here", known, here[name])
        for words, child in children.items():
            told = _answer(child)
            yield Claim(f"what is told under {words}", list(here), list(told))
            for name, digest in here.items():
                yield Claim(f"the digest of {name} under {words}", digest, told.get(name))


@contextmanager
def _children(program: str) -> Generator[dict[str, subprocess.Popen[bytes]], None, None]:
    """One child process for each locale and hash seed, all at once."""
    children: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for (words, variables), seed in zip(_SURROUNDINGS, _SEEDS, strict=True):
            environment = {**_environment(), **variables, "PYTHONHASHSEED": seed}
            # -P: whatever lies in the current directory is none of ours.
            children[f"{words} and hash seed {seed}"] = subprocess.Popen(
                [sys.executable, "-P", "-c", program],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        yield children
    finally:
        for child in children.values():
            child.kill()
            child.communicate()


def _environment() -> dict[str, str]:
    """The environment without what says of language, and with the way to this very package."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("LC_", "LANG", "PYTHON"))
    }
    package = Path(fabricd.__file__).parent.parent
    return {**kept, "PYTHONPATH": os.pathsep.join([str(package), *filter(None, sys.path)])}


def _answer(child: subprocess.Popen[bytes]) -> dict[str, Any]:
    """The digests that a child tells, or under one name what it did instead."""
    try:
        told, _ = child.communicate(timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        return {f"nothing within {_SECONDS:g} s": None}
    if child.returncode:
        return {f"exit code {child.returncode}": None}
    try:
        value = json.loads(told)
    except ValueError:
        return {"no JSON": None}
    return value if is_object(value) else {"no object": None}


# --- a recorded corpus


def corpus_of(measured: Measured) -> Corpus:
    """A measured directory as a corpus, whose recordings are read anew each time."""

    def recordings() -> Iterator[Recording]:
        for file, _ in measured.sessions:
            yield from recorded(file.path)

    return Corpus(len(measured.sessions), len(measured.skipped), measured.evidence, recordings)
