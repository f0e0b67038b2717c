from __future__ import annotations

import io
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from fixtures.make_sessions import write

from fabricd.daemon.cli.root import run
from tests.cli.running import Cli, Outcome

_VARIABLES = (
    "FABRICD_HOME", "FABRICD_SOCKET", "FABRICD_STATE_DIR", "FABRICD_CONFIG", "CLAUDE_CONFIG_DIR",
    "CODEX_HOME", "COPILOT_HOME", "GEMINI_CLI_HOME", "XDG_DATA_HOME",
)  # fmt: skip


@pytest.fixture
def place() -> Iterator[Path]:
    """A private directory whose name leaves room for a socket path on every system."""
    folder = Path(tempfile.mkdtemp(prefix="fd-", dir="/tmp"))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(autouse=True)
def surroundings(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test meets the homes, the daemon or the configuration of whoever runs it."""
    for name in _VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FABRICD_HOME", str(place / "home"))
    monkeypatch.setenv("FABRICD_CONFIG", str(place / "config.toml"))
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(place / "agent"))
    # The logs of whoever runs the tests are none of their business.
    monkeypatch.setenv("HOME", str(place / "user"))


@pytest.fixture
def cli(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Runs a command line in this process."""

    def call(*arguments: str | Path, stdin: bytes = b"") -> Outcome:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capfdbinary.readouterr()
        code = run([str(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        return Outcome(code, out, err.decode())

    return call


@pytest.fixture(scope="session")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled agent directory; tests only read it."""
    return write(tmp_path_factory.mktemp("agent"))


@pytest.fixture(scope="session")
def sessions(bundled: Path) -> Path:
    """Its session logs."""
    return bundled / "sessions"


@pytest.fixture(scope="session")
def surface(bundled: Path) -> Path:
    """Its surface."""
    return bundled / "fabric" / "entropy" / "surface.json"
