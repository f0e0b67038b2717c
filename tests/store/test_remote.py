from __future__ import annotations

import importlib
import os
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from fabricd.store.remote import CannotFetch, NoRemote, address_shown, fetch, is_address

_fsspec: Any = importlib.import_module("fsspec")

LIMIT = 1 << 20
DATA = b'{"a": 1}' * 1000


@pytest.fixture
def memory() -> Iterator[Any]:
    """The in-memory file system, empty before and after."""
    files = _fsspec.filesystem("memory")
    files.store.clear()
    yield files
    files.store.clear()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("https://host/a.json", True),
        ("s3://bucket/a.json", True),
        ("memory://a", True),
        ("file:///a", True),
        ("simplecache::https://host/a", True),
        ("a.json", False),
        ("./a://b", False),
        ("/tmp/https://x", False),
        ("-", False),
        ("://a", False),
        ("a:b", False),
    ],
)
def test_an_address_begins_with_its_protocol(name: str, expected: bool) -> None:
    assert is_address(name) is expected


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://host/a.json", "https://host/a.json"),
        ("https://me:secret@host:1/a", "https://host:1/a"),
        ("https://me:p@ss@host/a@b", "https://host/a@b"),
        ("s3://bucket/a?X-Signature=1", "s3://bucket/a"),
        ("https://host/a#token", "https://host/a"),
    ],
)
def test_what_may_be_secret_is_not_shown(address: str, shown: str) -> None:
    assert address_shown(address) == shown


def test_bytes_come_from_memory_and_files(memory: Any, tmp_path: Path) -> None:
    memory.pipe("/shared/a.json", DATA)
    assert fetch("memory://shared/a.json", LIMIT, 5) == DATA
    (tmp_path / "a.json").write_bytes(DATA)
    assert fetch(f"file://{tmp_path}/a.json", LIMIT, 5) == DATA


@pytest.mark.parametrize("size", [0, 1, LIMIT - 1, LIMIT])
def test_the_limit_may_be_reached(memory: Any, size: int) -> None:
    memory.pipe("/a", b"x" * size)
    assert len(fetch("memory://a", LIMIT, 5)) == size


@pytest.mark.parametrize("size", [LIMIT + 1, 3 * LIMIT])
def test_more_than_the_limit_is_refused(memory: Any, size: int) -> None:
    memory.pipe("/a", b"x" * size)
    with pytest.raises(CannotFetch, match="larger than 1 MiB"):
        fetch("memory://a", LIMIT, 5)


def test_what_never_ends_is_refused() -> None:
    with pytest.raises(CannotFetch, match="larger than 1 MiB"):
        fetch("file:///dev/zero", LIMIT, 5)


@pytest.mark.parametrize(
    "address",
    [
        "simplecache::memory://a",
        "filecache::file:///etc/hostname",
        "zip://x::file:///tmp/a.zip",
        "memory://a::b",
    ],
)
def test_a_protocol_inside_another_is_refused(address: str, memory: Any) -> None:
    memory.pipe("/a", DATA)
    with pytest.raises(CannotFetch, match="addresses with :: are not read"):
        fetch(address, LIMIT, 5)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("memory://gone", "it does not exist"),
        ("file:///nonexistent/a", "it does not exist"),
        ("file:///tmp", "[Dd]irectory"),
        ("nosuch://a", "nosuch"),
        ("zip://a", "."),
        ("simplecache://a", "."),
        ("http://127.0.0.1:1/a?key=secret", r"127\.0\.0\.1"),
    ],
)
def test_what_cannot_be_had_has_a_reason(address: str, words: str) -> None:
    with pytest.raises(CannotFetch, match=words) as caught:
        fetch(address, LIMIT, 10)
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)


def test_nobody_waits_longer_than_asked(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    before = time.monotonic()
    with pytest.raises(CannotFetch, match=r"did not arrive within 0\.2 s"):
        fetch(f"file://{tmp_path}/pipe", LIMIT, 0.2)
    assert time.monotonic() - before < 5
    # Lets the thread that waits for a writer go.
    os.close(os.open(tmp_path / "pipe", os.O_WRONLY))


def test_without_the_library_the_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(NoRemote, match=r"pip install 'fabricd\[remote\]'"):
        fetch("https://host/a", LIMIT, 5)


# --- over HTTP


class _Answers(BaseHTTPRequestHandler):
    requests: list[str]

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, body: bool) -> None:
        self.requests.append(self.command)
        if self.path == "/refused":
            self.send_error(403)
        elif self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/a.json")
            self.end_headers()
        elif self.path == "/endless":
            self._endless(body)
        elif self.path == "/a.json":
            self.send_response(200)
            self.send_header("Content-Length", str(len(DATA)))
            self.end_headers()
            self.wfile.write(DATA if body else b"")
        else:
            self.send_error(404)

    def _endless(self, body: bool) -> None:
        self.send_response(206)
        self.send_header("Content-Range", "bytes 0-7/8")
        self.end_headers()
        self.close_connection = True
        try:
            while body:
                self.wfile.write(b"x" * 65536)
        except OSError:
            return

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    """A server on this machine; the methods it was asked with are checked in the end."""
    _Answers.requests = []
    with ThreadingHTTPServer(("127.0.0.1", 0), _Answers) as listening:
        thread = threading.Thread(target=listening.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{listening.server_port}"
        listening.shutdown()
        thread.join()
    assert set(_Answers.requests) <= {"GET", "HEAD"}


def test_bytes_come_over_http(server: str) -> None:
    assert fetch(f"{server}/a.json", LIMIT, 10) == DATA
    assert fetch(f"{server}/moved", LIMIT, 10) == DATA


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/gone", "the server answered 404"),
        ("/refused", "the server answered 403"),
        ("/endless", "it is larger than 1 MiB"),
    ],
)
def test_what_a_server_refuses_or_overdoes_is_said(server: str, path: str, words: str) -> None:
    with pytest.raises(CannotFetch, match=words):
        fetch(server + path, LIMIT, 10)
