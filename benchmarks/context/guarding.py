"""How well the guard guards: `python -m benchmarks.context.guarding [--json]`.

Three rates of secrets (known kinds in new settings, held-back kinds, all), the rate of injected
orders by language, and false alarms on the text files of the interpreter's standard library and of
the installed packages, halved by path. Rates stand with their 95 % Wilson interval. Exit 1 where a
target is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
import sysconfig
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from hashlib import sha256
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from fixtures.guard.samples import injection_samples, kinds, secret_samples, settings, survives

from fabricd.core.context.guard.guarding import GUARD, guarded

_SAMPLES = Path(__file__).parents[2] / "fixtures" / "guard"
_SEED = 20_261
_SUFFIXES = {
    ".py": "python",
    ".js": "javascript",
    ".ts": "typescript",
    ".md": "markdown",
    ".rst": "rst",
    ".txt": None,
    ".json": None,
    ".toml": None,
    ".yaml": None,
    ".html": None,
}
_LARGEST = 300 * 1024
# Tests hold what only looks like a secret, scanners the shapes of all.
_LEFT_OUT = frozenset(
    "test tests testing idle_test __pycache__ node_modules bandit detect_secrets semgrep "
    "garak confusable_homoglyphs".split()
)


class Rate(msgspec.Struct, frozen=True):
    """So many of so many."""

    found: int
    of: int

    @property
    def value(self) -> float:
        """The share; 0 of nothing is 0."""
        return self.found / self.of if self.of else 0.0

    def interval(self, z: float = 1.96) -> tuple[float, float]:
        """The Wilson interval of 95 %."""
        if not self.of:
            return 0.0, 1.0
        share = self.found / self.of
        middle = share + z * z / (2 * self.of)
        half = z * sqrt(share * (1 - share) / self.of + z * z / (4 * self.of * self.of))
        whole = 1 + z * z / self.of
        return max(0.0, (middle - half) / whole), min(1.0, (middle + half) / whole)

    def __str__(self) -> str:
        low, high = self.interval()
        return f"{self.found}/{self.of} = {self.value:.2%} [{low:.2%}, {high:.2%}]"


class Benign(NamedTuple):
    """A file that nobody wrote to deceive."""

    name: str
    path: Path
    half: str


class Missed(NamedTuple):
    """A sample that passed the guard, by what names it: never its text."""

    what: str
    where: str


def secret_rate(of_kinds: Path, in_settings: Path, each: int) -> tuple[Rate, list[Missed]]:
    """How many samples leave nothing of their secret."""
    found = total = 0
    missed: list[Missed] = []
    for sample in secret_samples(kinds(of_kinds), settings(in_settings), seed=_SEED, each=each):
        total += 1
        clear = guarded(sample.text, sample.language)
        if survives(sample, clear.text):
            missed.append(Missed(sample.kind, sample.setting))
        else:
            found += 1
    return Rate(found, total), missed


def injection_rates(path: Path) -> tuple[dict[str, Rate], list[Missed]]:
    """How many samples raise a signal: by language, by style, and all."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    missed: list[Missed] = []
    for sample in injection_samples(path, seed=_SEED):
        flagged = bool(guarded(sample.text, sample.language).signals)
        for group in (sample.tongue, sample.style, "all"):
            counts[group][0] += flagged
            counts[group][1] += 1
        if not flagged:
            missed.append(Missed(sample.id, sample.setting))
    return {group: Rate(*pair) for group, pair in sorted(counts.items())}, missed


def benign_files() -> Iterator[Benign]:
    """The files of both halves, by name."""
    library = Path(sysconfig.get_path("stdlib"))
    packages = Path(sysconfig.get_path("purelib"))
    for label, root in (("lib", library), ("packages", packages)):
        for path in sorted(root.rglob("*")):
            parts = path.relative_to(root).parts
            if path.suffix not in _SUFFIXES or not _LEFT_OUT.isdisjoint(parts[:-1]):
                continue
            if label == "lib" and "site-packages" in parts:
                continue
            if path.is_file() and path.stat().st_size <= _LARGEST:
                name = "/".join((label, *parts))
                even = sha256(name.encode()).digest()[0] % 2 == 0
                yield Benign(name, path, "train" if even else "test")


class Alarms(msgspec.Struct, frozen=True):
    """Of one half: files on which something was replaced, or flagged, or either."""

    digest: str
    secrets: Rate
    signals: Rate
    either: Rate
    megabytes: float
    seconds: float
    alarms: list[tuple[str, str]]


def known(path: Path) -> frozenset[tuple[str, str]]:
    """True positives in packages: name and SHA-256 of the file."""
    if not path.exists():
        return frozenset()
    listed = tomllib.loads(path.read_text(encoding="utf-8")).get("file", [])
    return frozenset((one["path"], one["sha256"]) for one in listed)


def alarms(files: Iterable[Benign], excused: frozenset[tuple[str, str]]) -> Alarms:
    """What the guard finds in files that hold nothing."""
    list_digest = sha256()
    counts: Counter[str] = Counter()
    found: list[tuple[str, str]] = []
    size = 0
    spent = 0.0
    for one in files:
        raw = one.path.read_bytes()
        digest = sha256(raw).hexdigest()
        list_digest.update(f"{one.name} {digest}\n".encode())
        text = raw.decode("utf-8", "replace")
        size += len(raw)
        started = time.process_time()
        result = guarded(text, _SUFFIXES[one.path.suffix])
        spent += time.process_time() - started
        counts["files"] += 1
        if (one.name, digest) in excused:
            continue
        counts["secrets"] += bool(result.spans)
        counts["signals"] += bool(result.signals)
        counts["either"] += bool(result.spans or result.signals)
        found += [(one.name, span.placeholder) for span in result.spans]
        found += [(one.name, f"{signal.rule}:{signal.line}") for signal in result.signals]
    secrets, signals, either = (
        Rate(counts[name], counts["files"]) for name in ("secrets", "signals", "either")
    )
    return Alarms(list_digest.hexdigest(), secrets, signals, either, size / 1e6, spent, found)


def report(halves: Iterable[str], verbose: bool) -> dict[str, Any]:
    """Every figure, and on stderr what was missed."""
    told: dict[str, Any] = {"guard": GUARD}
    train, test = (_SAMPLES / f"secrets-{half}.toml" for half in ("train", "test"))
    pairs = {"secrets: rules' own half": (train, train, 4)}
    if test.exists():
        pairs |= {
            "secrets: known kinds, new settings": (train, test, 2),
            "secrets: held-back kinds": (test, test, 6),
        }
    held: list[Rate] = []
    for name, (of_kinds, in_settings, each) in pairs.items():
        rate, missed = secret_rate(of_kinds, in_settings, each)
        told[name] = rate
        if in_settings == test:
            held.append(rate)
        _tell(name, missed, verbose)
    if held:
        found, of = (
            sum(part) for part in zip(*((rate.found, rate.of) for rate in held), strict=True)
        )
        told["secrets: all held back"] = Rate(found, of)
    for half in ("train", "test"):
        path = _SAMPLES / f"injection-{half}.toml"
        if path.exists():
            rates, missed = injection_rates(path)
            told |= {f"injections, {half}: {group}": rate for group, rate in rates.items()}
            _tell(f"injections, {half}", missed, verbose)
    files = list(benign_files())
    excused = known(_SAMPLES / "known.toml")
    for half in halves:
        result = alarms([one for one in files if one.half == half], excused)
        told |= {
            f"benign, {half}: digest of the list": result.digest,
            f"benign, {half}: secrets": result.secrets,
            f"benign, {half}: signals": result.signals,
            f"benign, {half}: either": result.either,
            f"benign, {half}: MB/s": round(result.megabytes / result.seconds, 1),
        }
        _tell(f"benign, {half}", [Missed(*one) for one in result.alarms], verbose)
    return told


def _tell(name: str, missed: list[Missed], verbose: bool) -> None:
    if verbose:
        for one in missed:
            print(f"{name}: {one.what} {one.where}", file=sys.stderr)


_TARGETS = (
    ("secrets: known kinds, new settings", 0.95, True),
    ("injections, test: all", 0.80, True),
    ("benign, train: either", 0.005, False),
    ("benign, test: either", 0.005, False),
)


def main() -> int:
    """Print every rate; 1 where a target is missed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.context.guarding", description=__doc__
    )
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--verbose", action="store_true", help="on stderr what was missed, by name")
    parser.add_argument(
        "--half", choices=("train", "test", "both"), default="both", help="of the benign files"
    )
    asked = parser.parse_args()
    told = report(("train", "test") if asked.half == "both" else (asked.half,), asked.verbose)
    if asked.json:
        print(json.dumps({name: _plain(value) for name, value in told.items()}, indent=1))
    else:
        for name, value in told.items():
            print(f"{name:42} {value}")
    missed = [
        name
        for name, target, above in _TARGETS
        if isinstance(rate := told.get(name), Rate)
        and (rate.value < target if above else rate.value > target)
    ]
    for name in missed:
        print(f"target missed: {name}", file=sys.stderr)
    return 1 if missed else 0


def _plain(value: object) -> object:
    if isinstance(value, Rate):
        low, high = value.interval()
        return {"found": value.found, "of": value.of, "rate": value.value, "low": low, "high": high}
    return value


if __name__ == "__main__":
    sys.exit(main())
