"""A server behind a URL: messages go through, repairs too, and refusals are sentences."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.harness import ROOT
from tests.ipc.gateway.servers import SEARCH


class _Handler(BaseHTTPRequestHandler):
    """A small streamable HTTP server. `seen` is what was posted, with the headers of note."""

    seen: list[tuple[str, dict[str, str]]]
    status: int

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def do_DELETE(self) -> None:
        self.seen.append(("DELETE", dict(self.headers)))
        self._send(200, "text/plain", b"")

    def do_GET(self) -> None:
        changed = b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
        self._send(200, "text/event-stream", b"event: message\ndata: " + changed + b"\n\n")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.seen.append((body, dict(self.headers)))
        asked = json.loads(body)
        if self.status != 200:
            self._send(self.status, "text/html", b"<p>no</p>")
            return
        if "id" not in asked:
            self._send(202, "text/plain", b"")
            return
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": asked["id"]}
        match asked["method"]:
            case "initialize":
                result: Any = {"protocolVersion": "2025-06-18"}
            case "tools/list":
                result = {"tools": [{"name": "search", "inputSchema": SEARCH}]}
            case _:
                result = {"args": asked["params"]["arguments"]}
        text = json.dumps({**reply, "result": result}, indent=1)
        if asked["method"] == "tools/call":
            data = "".join(f"data: {line}\r\n" for line in text.splitlines())
            self._send(200, "text/event-stream", f": hello\r\n{data}\r\n".encode())
        else:
            self._send(200, "application/json", text.encode())

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Mcp-Session-Id", "session 1")
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    """The server, on a port of this machine."""
    handler = type("Handler", (_Handler,), {"seen": [], "status": 200})
    made = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def wrap(place: Path, *words: str, **environment: str) -> subprocess.Popen[bytes]:
    """A gateway before a URL."""
    return subprocess.Popen(
        [sys.executable, "-m", "fabricd", "wrap", "--name", "web", *words],
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT / "src"),
            "FABRICD_HOME": str(place / "home"),
            **environment,
        },
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    )


def ask(process: subprocess.Popen[bytes], method: str, ident: int, **params: Any) -> Any:
    """A request and its reply."""
    assert process.stdin is not None and process.stdout is not None
    asked = {"jsonrpc": "2.0", "id": ident, "method": method, "params": params}
    process.stdin.write(json.dumps(asked).encode() + b"\n")
    while True:
        reply = json.loads(process.stdout.readline())
        if reply.get("id") == ident:
            return reply["result"]


def url_of(server: ThreadingHTTPServer) -> str:
    """Where a server is."""
    return f"http://127.0.0.1:{server.server_address[1]}/mcp?x=1"


def test_messages_go_through_and_calls_are_repaired(
    server: ThreadingHTTPServer, tmp_path: Path
) -> None:
    url = url_of(server)
    with wrap(tmp_path, "--url", url, "--header", "X-Key=${KEY}", KEY="secret") as process:
        assert ask(process, "initialize", 1)["protocolVersion"] == "2025-06-18"
        ask(process, "tools/list", 2)
        args = {"query": "é", "maxResults": "5"}
        found = ask(process, "tools/call", 3, name="search", arguments=args)
        assert found == {"args": {"query": "é", "maxResults": 5}}
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        assert b"list_changed" in process.stdout.readline()
        found = ask(process, "tools/call", 4, name="search", arguments=args)
        assert found == {"args": args}
        process.stdin.close()
        assert process.wait(15) == 0
    seen = server.RequestHandlerClass.seen  # type: ignore[attr-defined]
    assert [body for body, _ in seen][-1] == "DELETE"
    assert all(headers["X-Key"] == "secret" for _, headers in seen)
    assert seen[1][1]["Mcp-Session-Id"] == "session 1"
    assert seen[1][1]["MCP-Protocol-Version"] == "2025-06-18"
    [log] = (tmp_path / "home" / "state" / "gateway" / "web").iterdir()
    checks = [json.loads(line).get("check") for line in log.read_bytes().splitlines()]
    assert checks == [None, None, "repaired", "unknown"]


@pytest.mark.parametrize(("status", "words"), [(401, "OAuth"), (302, "moved"), (500, "HTTP 500")])
def test_a_refusal_is_one_sentence(
    server: ThreadingHTTPServer, tmp_path: Path, status: int, words: str
) -> None:
    server.RequestHandlerClass.status = status  # type: ignore[attr-defined]
    with wrap(tmp_path, "--url", url_of(server)) as process:
        out, err = process.communicate(b'{"id":1,"method":"initialize"}\n', timeout=15)
    assert (process.returncode, out) == (1, b"")
    assert words in err.decode() and err.count(b"\n") == 1


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--url", "ftp://x"], 2, "no http"),
        (["--url", "http://u:p@x"], 2, "header"),
        (["--url", "http://127.0.0.1:9", "--header", "A=b"], 2, "NAME=$VARIABLE"),
        (["--url", "http://127.0.0.1:9", "--header", "A=$NO_SUCH_THING"], 2, "NO_SUCH_THING"),
        (["--url", "http://127.0.0.1:9", "--header", "A=$BAD"], 2, "no header may hold"),
        (["--url=http://127.0.0.1:9"], 1, "cannot be reached"),
    ],
)
def test_what_cannot_be_wrapped_is_said(
    tmp_path: Path, words: list[str], code: int, said: str
) -> None:
    with wrap(tmp_path, *words, BAD="a\nb") as process:
        out, err = process.communicate(b'{"id":1,"method":"x"}\n', timeout=15)
    assert (process.returncode, out) == (code, b"")
    assert said in err.decode() and b"Traceback" not in err
