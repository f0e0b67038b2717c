"""Command lines of the profiler over files that a vector holds, and what came of them."""

from __future__ import annotations

from base64 import b64decode
from contextlib import chdir
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fabricd.core.doubles import read_doubles
from fabricd.core.identity import canonical_line
from fabricd.daemon.cli.profiler.command import Answer, answer, read_file
from tests.conformance.values import Case, is_list, is_object


def without_messages(value: Any) -> Any:
    """A result without message texts, and without identities that cover them."""
    if is_list(value):
        return [without_messages(item) for item in value]
    if not is_object(value):
        return value
    dropped = {"message"} if {"code", "path"} <= set(value) else set[str]()
    if value.get("valid") is False and "summary_identity" in value:
        dropped.add("summary_identity")
    return {key: without_messages(item) for key, item in value.items() if key not in dropped}


def as_bytes(text: str) -> bytes:
    """A text of a vector as the bytes of a file."""
    return text.encode("utf-8", "surrogatepass")


def files_of(case: Case) -> dict[str, bytes]:
    """The files of a case, by name."""
    return {name: _content(file) for name, file in case["files"].items()}


def _content(file: Case) -> bytes:
    return b64decode(file["base64"]) if "base64" in file else as_bytes(file["text"])


def ran(arguments: list[str], files: dict[str, bytes]) -> Answer:
    """What the profiler answers in a folder of these files."""
    with TemporaryDirectory(prefix="fabricd-vector-") as folder:
        for name, data in files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        with chdir(folder):
            given = answer(arguments, read_file)
            return given._replace(out=(b"".join(given.out),))


def outcome(given: Answer, asked: Any) -> Case:
    """An answer in the members that a vector asks for."""
    out = b"".join(given.out)
    found: Case = {"exit": given.code}
    if "stdout" in asked:
        found["stdout"] = out.decode()
    if "stdout_json" in asked:
        found["stdout_json"] = without_messages(_json(out))
    if "stdout_sha256" in asked:
        found["stdout_sha256"] = sha256(out).hexdigest()
    if "stderr" in asked:
        found["stderr"] = given.err.decode()
    if "stderr_json" in asked:
        told = _json(given.err)
        found["stderr_json"] = {"code": told["code"]} if is_object(told) else told
    return found


def _json(line: bytes) -> Any:
    """The value of a line of canonical JSON; the line itself if it is none."""
    try:
        value = read_doubles(line)
        return value if canonical_line(value) == line else line.decode()
    except ValueError:
        return line.decode("utf-8", "replace")
