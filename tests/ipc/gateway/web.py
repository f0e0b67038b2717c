"""A server behind a URL that answers as a test says."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias


class Web(BaseHTTPRequestHandler):
    """One request. `seen` is what all of them asked: a method and what was in it."""

    protocol_version = "HTTP/1.1"
    seen: list[tuple[str, Any]]

    def answers(self, method: str, what: Any) -> None:
        """Answer a request; each test has its own way."""
        raise NotImplementedError

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._asked("GET", self.headers.get("Last-Event-ID"))

    def do_DELETE(self) -> None:
        self.body(b"", None)

    def do_POST(self) -> None:
        self._asked("POST", json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def _asked(self, method: str, what: Any) -> None:
        self.seen.append((method, what))
        self.answers(method, what)

    def body(self, data: bytes, kind: str | None, status: int = 200, **headers: str) -> None:
        """Answer with a body."""
        self.send_response(status)
        if kind is not None:
            self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def stream(self, data: bytes, **headers: str) -> None:
        """Answer with a stream that ends."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)
        self.close_connection = True


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 200

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that is gone is no news."""


Answers: TypeAlias = Callable[[Web, str, Any], None]


@contextmanager
def web(answers: Answers) -> Generator[tuple[str, list[tuple[str, Any]]], None, None]:
    """The URL of a server, and what it was asked."""
    seen: list[tuple[str, Any]] = []
    handler = type("Handler", (Web,), {"seen": seen, "answers": answers})
    with _Server(("127.0.0.1", 0), handler) as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{made.server_address[1]}/mcp", seen
        finally:
            made.shutdown()
            thread.join()


def reply(ident: Any, result: Any = 1) -> bytes:
    """A reply, as text."""
    return json.dumps({"jsonrpc": "2.0", "id": ident, "result": result}).encode()
