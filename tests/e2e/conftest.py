"""These tests run when they are asked for by path (`make e2e`): they need npm and the SDK."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.e2e.sdk import is_installed
from tests.e2e.servers import installed

HERE = Path(__file__).resolve().parent
ROWS = pytest.StashKey[list["Row"]]()


class Row(NamedTuple):
    """What was played to a server, in numbers."""

    name: str
    protocol: str
    calls: int
    repaired: int
    identical: int
    refused: int

    def __str__(self) -> str:
        return (
            f"{self.name:<12} {self.protocol:<10}  {self.calls:>3} calls: "
            f"{self.repaired:>3} repaired, {self.identical:>3} identical, "
            f"{self.refused:>3} refused alike"
        )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave this folder out of runs that do not name it."""
    asked = (Path(word.partition("::")[0]).resolve() for word in config.args)
    if any(path == HERE or HERE in path.parents for path in asked):
        return None
    return True


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """One line a server, and their sum."""
    rows = config.stash.get(ROWS, [])
    for row in rows:
        terminalreporter.write_line(str(row))
    if rows:
        sums = (sum(column) for column in zip(*(row[2:] for row in rows), strict=True))
        terminalreporter.write_line(str(Row("all", "", *sums)))


@pytest.fixture
def rows(request: pytest.FixtureRequest) -> list[Row]:
    """What is written at the end."""
    return request.config.stash.setdefault(ROWS, [])


@pytest.fixture(scope="session")
def npm() -> Path:
    """The folder with the servers that are written for node."""
    if not is_installed():
        pytest.skip("the MCP SDK is not installed (make e2e installs it)")
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("node and npm are not on PATH")
    return installed()


class _Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/page":
            self._give("text/plain", "".join(f"word {number} " for number in range(60)))
        elif self.path == "/html":
            self._give("text/html", "<html><body><p>A page</p></body></html>")
        else:
            self.send_error(404)

    def _give(self, kind: str, text: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="session")
def url() -> Iterator[str]:
    """Where a local HTTP server gives a few pages."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Pages) as pages:
        thread = threading.Thread(target=pages.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{pages.server_port}"
        pages.shutdown()
        thread.join()
