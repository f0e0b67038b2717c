"""Thousands of messages through the gateway, byte for byte: `python -m tests.fuzz_gateway [N]`.

In observe mode the far side must receive exactly what was sent, both ways. In repair mode a line
may differ only if it is a plain call that the schema rejects and a proven repair makes valid, and
then in the bytes of its arguments alone.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from fabricd.core.mcp.repairing import Tool
from tests.ipc.gateway.servers import SEARCH
from tests.ipc.gateway.wrapped import Wrapped, wrapped

_HUGE = 33 * 1024 * 1024
_TOOL = Tool("mcp.demo.search", SEARCH, "extended")
_ARGUMENTS: dict[str, list[Any]] = {
    "query": ["q", "é\u2028", "\U0001f600", None, 5],
    "maxResults": [5, "5", "05", "five", None, 2**60],
    "max_results": ["7", 7],
    "order": ["newest", "NEWEST", "best-match", "oldest"],
    "tags": [["a"], '["a",\n"b"]', "[1]", "['a']", None],
    "note": ["x", None],
    "strange": [1],
}


def _arguments(rng: random.Random) -> Any:
    if rng.random() < 0.05:
        return rng.choice([None, [], "text", '{"query":"q"}', 5])
    names = [name for name in _ARGUMENTS if rng.random() < (0.9 if name == "query" else 0.3)]
    rng.shuffle(names)
    return {name: rng.choice(_ARGUMENTS[name]) for name in names}


def _call(rng: random.Random, number: int) -> tuple[bytes, bytes, bytes]:
    """A plain call in three parts; the middle one are its arguments."""
    indent = rng.choice([(",", ":"), (", ", ": "), (" ,\t", " :  ")])
    args = json.dumps(_arguments(rng), separators=indent, ensure_ascii=rng.random() < 0.5)
    head = f'{{"jsonrpc":"2.0","id":{rng.choice([number, json.dumps(f"é{number}")])},'
    head += '"method":"tools\\/call",' if rng.random() < 0.1 else '"method":"tools/call",'
    head += '"params":{"name":"search","arguments":'
    return head.encode(), args.encode(), rng.choice([b"}}\n", b" } }\r\n", b',"_meta":{"a":1}}}\n'])


def _expected(parts: tuple[bytes, bytes, bytes]) -> Any | None:
    """The arguments that have to arrive instead; None where the line must not change."""
    args = json.loads(parts[1])
    if _TOOL.accepts(args):
        return None
    repair = _TOOL.repair(args)
    return None if repair is None else repair.args


def _other(rng: random.Random, number: int) -> bytes:
    plain = b"".join(_call(rng, number))
    match rng.randrange(12):
        case 0:
            return b"\n"
        case 1:
            return rng.randbytes(rng.randrange(200)).replace(b"\n", b"") + b"\r\n"
        case 2:
            return b"[" + plain.strip() + b"]\n"
        case 3:
            return plain.replace(b'"jsonrpc"', b'"id":1,"jsonrpc"')
        case 4:
            return plain[: rng.randrange(len(plain) - 4)].replace(b"\n", b"") + b"\n"
        case 5:
            return plain.replace(b"search", b"\xff\x00")
        case 6:
            return b'{"jsonrpc":"2.0","method":"notifications/progress","params":{}}\n'
        case 7:
            return b'{"jsonrpc":"2.0","id":"s%d","result":{"x":[1,2]}}\n' % number
        case 8:
            return b'{"id":1,"method":"x","params":"' + b"y" * rng.randrange(200_000) + b'"}\n'
        case 9:
            return b"x" * rng.randrange(1, 300_000) + b"\n"
        case 10:
            return plain.replace(b'"arguments"', b'"name":"x","arguments"')
        case _:
            return b"{" * rng.randrange(3000) + b"\n"


def _huge(rng: random.Random) -> list[bytes]:
    filler = b"z" * _HUGE
    return [
        filler + b"\n",
        b'{"id":1,"method":"tools/call","params":{"name":"search","arguments":{"query":"'
        + filler
        + b'"}}}\n',
        rng.randbytes(_HUGE).replace(b"\n", b"\0") + b"\n",
    ]


def messages(rng: random.Random, count: int) -> list[tuple[bytes, Any | None]]:
    """Lines, and the arguments that have to arrive instead where they may be repaired."""
    found: list[tuple[bytes, Any | None]] = []
    for number in range(count):
        if rng.random() < 0.5:
            parts = _call(rng, number)
            found.append((b"".join(parts), _expected(parts)))
        else:
            found.append((_other(rng, number), None))
    for line in _huge(rng):
        found.insert(rng.randrange(len(found) + 1), (line, None))
    return [*found, (b'{"jsonrpc":"2.0","id":1,"method":"no final newline', None)]


def _exchange(subject: Wrapped, data: bytes, rng: random.Random) -> bytes:
    received: list[bytes] = []

    def read() -> None:
        while piece := os.read(subject.stdout.fileno(), 1 << 16):
            received.append(piece)

    reader = threading.Thread(target=read)
    reader.start()
    at = 0
    while at < len(data):
        size = rng.choice([1, 7, 100, 4096, 1 << 16, 1 << 20])
        subject.send(data[at : at + size])
        at += size
    code = subject.end()
    reader.join()
    if code:
        raise SystemExit(f"the gateway exited with {code}")
    return b"".join(received)


def _differs(sent: bytes, arrived: bytes, expected: Any | None) -> bool:
    if expected is None:
        return sent != arrived
    start = sent.index(b'"arguments":') + len(b'"arguments":')
    value, end = json.JSONDecoder().raw_decode(sent.decode()[len(sent[:start].decode()) :])
    tail = sent[start + len(sent[start:].decode()[:end].encode()) :]
    if value == expected or not arrived.startswith(sent[:start]) or not arrived.endswith(tail):
        return True
    return bool(json.loads(arrived[start : len(arrived) - len(tail)]) != expected)


def run(mode: str, count: int, seed: int) -> int:
    """One run; gives how many lines were repaired."""
    rng = random.Random(f"{mode} {seed}")
    told = messages(rng, count)
    data = b"".join(line for line, _ in told)
    with tempfile.TemporaryDirectory(prefix="fabricd-fuzz-") as folder:
        place = Path(folder)
        with wrapped(place, "listing", str(place / "seen"), options=("--mode", mode)) as subject:
            subject.send(b'{"jsonrpc":"2.0","id":"list","method":"tools/list"}\n')
            subject.line()
            time.sleep(0.5)
            back = _exchange(subject, data, rng)
        seen = (place / "seen").read_bytes()
    if seen != back:
        raise SystemExit(f"{mode}: the client did not receive what the server wrote")
    if mode == "observe":
        if seen != data:
            raise SystemExit(f"{mode}: the server did not receive what the client wrote")
        return 0
    arrived = seen.split(b"\n")
    sent = data.split(b"\n")
    if len(arrived) != len(sent):
        raise SystemExit(f"{mode}: {len(sent)} lines were sent, {len(arrived)} arrived")
    for (line, expected), got in zip(told, arrived, strict=True):
        if _differs(line.removesuffix(b"\n"), got, expected):
            raise SystemExit(f"{mode}: {line[:300]!r} arrived as {got[:300]!r}")
    return sum(expected is not None for _, expected in told)


def main() -> int:
    """Fuzz both modes."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz_gateway", description=__doc__)
    parser.add_argument("messages", nargs="?", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    asked = parser.parse_args()
    print(f"seed {asked.seed}", file=sys.stderr, flush=True)
    for mode in ("observe", "repair"):
        started = time.monotonic()
        repaired = run(mode, asked.messages, asked.seed)
        seconds = time.monotonic() - started
        print(f"{mode}: {asked.messages:,} messages, {repaired:,} repaired, {seconds:.1f} s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
