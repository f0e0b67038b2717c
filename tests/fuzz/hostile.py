"""Bytes that nobody sane would write, and what reading them may cost at most.

`FABRICD_FUZZ_EXAMPLES=2000 pytest tests/fuzz` looks further, at other bytes each time; without it
the same few are tried on every run.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

MOST = 64 * 1024
SECONDS = 1.0
GROWTH = 64 * 1024 * 1024

_ASKED = os.environ.get("FABRICD_FUZZ_EXAMPLES")


def few(share: float = 1.0) -> settings:
    """So many examples of a test that takes its share of the usual time for each."""
    examples = max(1, int(int(_ASKED or 100) * share))
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=_ASKED is None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


FRAGMENTS: tuple[bytes, ...] = (
    b"", b" ", b"\n", b"\r\n", b"\x00", b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xef\xbb\xbf",
    b"\xe2\x80\xa8", b'"', b"\\", b'\\"', b"\\u0000", b"\\ud800", b"\\udc00\\ud800", b"\\uD83D",
    b"{", b"}", b"[", b"]", b"{}", b"[]", b":", b",", b"null", b"true", b"NaN", b"Infinity",
    b"-", b"-0", b"0", b"1e999", b"-1e-999", b"1e308", b"1.7976931348623159e308", b"01", b"1.",
    b"9007199254740993", b"9" * 400, b"1" * 5000, b"0." + b"0" * 400 + b"1",
    b'""', b'"a":1,', b'"__proto__":{},', b'"toString":1,', b'{"":{"":{}}}', b'{"a":1,"a":2}',
    b'"version":1', b'"version":2', b'"version":"1"', b'"version":1.0',
    b'"kind":"pi-fabric.execution"',
    b'{"$ref":"#"}', b'{"$ref":"#/properties/a"}', b'{"type":["string","null"]}', b'{"const":null}',
    b'{"pattern":"(a+)+$"}', b'{"pattern":"("}', b'{"minLength":1e400}', b'{"multipleOf":0}',
    b'{"anyOf":[{"$ref":"#"},{"$ref":"#"}]}', b'{"enum":[]}', b'{"format":"regex"}',
    b"[" * 600, b'{"a":' * 600, b"[[]," * 200, b'{"type":"object"}', b"\x80\x04\x95", b"\xc1",
    b"\xdf",
    b"\xdd\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff", b"\xdb\x7f\xff\xff\xff", b"\x91" * 600,
)  # fmt: skip


class Sample(bytes):
    """Bytes that show themselves shortly, and whole where `FABRICD_FUZZ_KEEP` names a folder."""

    def __repr__(self) -> str:
        name = f"{hashlib.sha256(self).hexdigest()[:12]}.sample"
        if kept := os.environ.get("FABRICD_FUZZ_KEEP"):
            Path(kept, name).write_bytes(self)
        return f"<{name}, {len(self)} bytes: {bytes(self[:200])!r}>"


_STRETCH = st.tuples(st.floats(0, 1), st.integers(0, 4096))
_EDIT = st.one_of(
    st.tuples(st.just("insert"), _STRETCH, st.sampled_from(FRAGMENTS)),
    st.tuples(st.just("replace"), _STRETCH, st.sampled_from(FRAGMENTS)),
    st.tuples(st.just("cut"), _STRETCH, st.just(b"")),
    st.tuples(st.just("flip"), _STRETCH, st.just(b"")),
    st.tuples(st.just("end"), _STRETCH, st.just(b"")),
    st.tuples(st.just("repeat"), _STRETCH, st.just(b"")),
    st.tuples(st.just("fill"), _STRETCH, st.sampled_from(FRAGMENTS)),
)


def _edited(data: bytes, kind: str, stretch: tuple[float, int], fragment: bytes) -> bytes:
    start = int(stretch[0] * len(data))
    # Stretches are mostly short: what is damaged by a byte or two gets further than what is not.
    end = min(len(data), start + (stretch[1] if stretch[1] < 1024 else stretch[1] % 8))
    match kind:
        case "insert":
            return data[:start] + fragment + data[start:]
        case "replace":
            return data[:start] + fragment + data[end:]
        case "cut":
            return data[:start] + data[end:]
        case "flip" if start < len(data):
            flipped = data[start] ^ (1 << stretch[1] % 8)
            return data[:start] + bytes([flipped]) + data[start + 1 :]
        case "end":
            return data[:start]
        case "repeat":
            times = MOST // max(1, end - start)
            return data[:start] + data[start:end] * times + data[end:]
        case "fill":
            return data[:start] + fragment * (MOST // max(1, len(fragment))) + data[start:]
        case _:
            return data


def hostile(seeds: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    """Sound files, a little to very damaged, and noise; at most 64 KiB."""

    def damage(seed: bytes, edits: list[tuple[str, tuple[float, int], bytes]]) -> bytes:
        data = seed
        for kind, stretch, fragment in edits:
            data = _edited(data, kind, stretch, fragment)[:MOST]
        return data

    damaged = st.builds(damage, st.sampled_from([*seeds, b""]), st.lists(_EDIT, max_size=5))
    return st.one_of(damaged, damaged, damaged, st.binary(max_size=512)).map(Sample)


ATOMS: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 2**31, 2**53, 2**63 - 1, 2**64 - 1, 1.5, -0.0, 1e308,
    "", "a", "\x00", "é", "\u2028", "x" * 5000, "mcp.demo.search", [], {}, [[]], {"": None},
    [None] * 300, {"a": {"a": {"a": {}}}}, {str(number): number for number in range(300)},
)  # fmt: skip


_EXCHANGE = st.tuples(st.floats(0, 1), st.integers(0, len(ATOMS)))


def reshaped(
    value: Any, written: Callable[[Any], bytes] = lambda value: json.dumps(value).encode()
) -> st.SearchStrategy[bytes]:
    """A sound document with a few of its parts exchanged: what no damage to bytes gets to."""
    places = st.lists(
        st.tuples(st.floats(0, 1), st.integers(0, len(ATOMS))), min_size=1, max_size=4
    )

    def exchanged(wanted: list[tuple[float, int]]) -> Any:
        found = value
        for place, choice in wanted:
            parts = [*_parts(found, ())]
            target = parts[int(place * (len(parts) - 1))]
            donor = parts[choice * 7919 % len(parts)]
            atom = ATOMS[choice] if choice < len(ATOMS) else _at(found, donor)
            found = _exchanged(found, target, atom)
        return found

    return places.map(lambda wanted: Sample(written(exchanged(wanted))))


def _parts(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    yield path
    inner = value.items() if isinstance(value, dict) else ()
    if isinstance(value, list):
        inner = enumerate(value)
    for key, part in inner:
        yield from _parts(part, (*path, key))


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def _exchanged(value: Any, path: tuple[Any, ...], atom: Any) -> Any:
    if not path:
        return atom
    copied = dict(value) if isinstance(value, dict) else list(value)
    copied[path[0]] = _exchanged(value[path[0]], path[1:], atom)
    return copied


@contextmanager
def bounded(seconds: float = SECONDS) -> Generator[None, None, None]:
    """What happens inside takes no more than a second of CPU and 64 MiB."""
    before = _forget_peak()
    started = time.process_time()
    yield
    used = time.process_time() - started
    grown = _peak() - before
    assert used < seconds, f"it took {used:.2f} s"
    assert grown < GROWTH, f"it took {grown >> 20} MiB"


def _forget_peak() -> int:
    if sys.platform == "linux":
        try:
            with open("/proc/self/clear_refs", "wb") as file:
                file.write(b"5")
        except OSError:
            # Then only what goes beyond the highest peak so far is noticed.
            return _peak()
    return _peak()


def _peak() -> int:
    """The most memory that was resident since it was last forgotten."""
    if sys.platform == "linux":
        with open("/proc/self/status", "rb") as file:
            for line in file:
                if line.startswith(b"VmHWM:"):
                    return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
