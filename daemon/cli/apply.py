"""`fabricd apply`: JSON lines in, JSON lines out."""

from __future__ import annotations

import json
import os
import select
import stat
import sys
from collections import OrderedDict
from collections.abc import Iterator
from typing import IO, Any

import click

from fabricd.core.plain import is_object, printable
from fabricd.daemon.cli.completing import files
from fabricd.daemon.cli.talk import Complaint, out

_PIPE_SECONDS = 3.0
_MAX_LINE = 32 * 1024 * 1024
_BUILT = 256
_MEMBERS = frozenset({"ref", "schema", "args", "plan"})


class _Normalizers:
    """The normalizers built last: lines of one run repeat their schemas."""

    def __init__(self) -> None:
        self._built: OrderedDict[str, Any] = OrderedDict()

    def of(self, ref: str, schema: object, plan: Any) -> Any:
        """The normalizer of an action, under the plan given or its own."""
        from fabricd.core.normalform.apply import Normalizer
        from fabricd.core.normalform.derive import plan_value

        # Not a digest of ours, which rounds integers to doubles: schemas may differ only there.
        key = json.dumps([ref, schema, None if plan is None else plan_value(plan)])
        found = self._built.get(key)
        if found is None:
            found = self._built[key] = Normalizer(ref, schema, plan)
            if len(self._built) > _BUILT:
                self._built.popitem(last=False)
        return found


@click.command("apply")
@click.argument("file", default="-", shell_complete=files)
def command(file: str) -> int:
    """Repair calls given as JSON lines, from FILE or standard input.

    Reads lines `{"ref", "schema", "args", "plan"?}` and prints `{"args", "witness"}` for each. The
    witness is null where nothing was changed. A bad line gives `{"error"}` in its place, and
    the exit code is then 1.
    """
    normalizers = _Normalizers()
    failed = False
    with _opened(file) as lines:
        for number, line in _lines(lines):
            try:
                result = _apply(line, normalizers)
            except ValueError as error:
                failed = True
                result = {"error": f"line {number}: {printable(str(error))[:500]}"}
            # Numbers as exact as they came: what is not repaired must not change on the way.
            out(json.dumps(result, ensure_ascii=False, separators=(",", ":")) + "\n")
    return 1 if failed else 0


def _opened(name: str) -> IO[bytes]:
    try:
        if name == "-":
            return sys.stdin.buffer
        # Opened without waiting: a pipe that nobody writes to must not hold us up for ever.
        descriptor = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        is_pipe = stat.S_ISFIFO(os.fstat(descriptor).st_mode)
        if is_pipe and not select.select([descriptor], [], [], _PIPE_SECONDS)[0]:
            os.close(descriptor)
            raise Complaint(f"{name}: nothing was written to this pipe for {_PIPE_SECONDS:g} s")
        os.set_blocking(descriptor, True)
        return os.fdopen(descriptor, "rb")
    except AttributeError:
        raise Complaint("standard input is closed") from None
    except OSError as error:
        raise Complaint(f"{name} cannot be read: {error.strerror}") from None


def _lines(file: IO[bytes]) -> Iterator[tuple[int, bytes | None]]:
    """Lines with their numbers, without the blank ones; None for one that is too long."""
    number = 0
    try:
        while line := file.readline(_MAX_LINE + 1):
            number += 1
            if len(line) > _MAX_LINE and not line.endswith(b"\n"):
                while (rest := file.readline(_MAX_LINE)) and not rest.endswith(b"\n"):
                    pass
                yield number, None
            elif line.strip():
                yield number, line
    except OSError as error:
        raise Complaint(f"the input cannot be read: {error.strerror}") from None


def _apply(line: bytes | None, normalizers: _Normalizers) -> dict[str, Any]:
    import msgspec

    from fabricd.core.documents import strict_json
    from fabricd.core.nesting import RECORD_LEVELS
    from fabricd.core.normalform.derive import plan_of

    if line is None:
        raise ValueError("longer than 32 MiB")
    call = strict_json(line, RECORD_LEVELS)
    if not is_object(call):
        raise ValueError("expected an object with ref, schema and args")
    ref, schema, args = call.get("ref"), call.get("schema"), call.get("args")
    if unknown := sorted(set(call) - _MEMBERS):
        raise ValueError(f"unknown member {unknown[0]!r}, expected ref, schema, args and plan")
    if not isinstance(ref, str):
        raise ValueError("expected ref to be a string")
    if not is_object(args):
        raise ValueError("expected args to be an object")
    unchanged = {"args": args, "witness": None}
    plan = None
    if "plan" in call:
        plan = plan_of(call["plan"])
        if plan is None or plan.ref != ref:
            return unchanged
    normalizer = normalizers.of(ref, schema, plan)
    applied = normalizer.apply(args)
    witness = normalizer.witness(args, applied)
    if witness is None:
        return unchanged
    return {"args": applied.args, "witness": msgspec.to_builtins(witness)}
