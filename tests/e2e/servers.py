"""The servers, how they are started, and what each is asked."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tests.e2e import (
    table_everything,
    table_filesystem,
    table_memory,
    table_python,
    table_strict,
)
from tests.e2e.calls import Call

NPM_VERSION = "2026.8.31"
NAMES = ("filesystem", "memory", "everything", "fetch", "fetch-legacy", "git", "time", "strict")
_NPM = ("filesystem", "memory", "everything")


@dataclass(frozen=True)
class Server:
    """A command, the folder it works on, and the calls."""

    name: str
    command: Sequence[str]
    root: Path
    calls: Sequence[Call]
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    lay_out: Callable[[Path], None] = lambda root: None
    # Tools whose results tell the time of day.
    clocked: frozenset[str] = frozenset()
    # How the client finds the version to speak; `legacy` is the handshake alone.
    mode: str = "auto"

    def clear(self) -> None:
        """Give the server the folder that each of its runs begins with."""
        shutil.rmtree(self.root, ignore_errors=True)
        self.root.mkdir(parents=True)
        self.lay_out(self.root)


def server(name: str, folder: Path, npm: Path, url: str) -> Server:
    """A server by its name.

    Args:
        folder: where it may work.
        npm: where the packages of npm are installed.
        url: of the local HTTP server.
    """
    root = folder / "root"
    make = partial(Server, name, _command(name, npm, root), root)
    match name:
        case "filesystem":
            return make(table_filesystem.calls(str(root)), lay_out=table_filesystem.lay_out)
        case "memory":
            return make(table_memory.calls(), {"MEMORY_FILE_PATH": str(root / "memory.jsonl")})
        case "everything":
            clocked = frozenset({"get-resource-reference"})
            return make(table_everything.calls(), clocked=clocked)
        case "fetch":
            return make(table_python.fetch_calls(url))
        case "fetch-legacy":
            return make(table_python.fetch_calls(url), mode="legacy")
        case "git":
            return make(table_python.git_calls(str(root)), lay_out=table_python.lay_out_repository)
        case "time":
            return make(table_python.time_calls())
        case _:
            return make(table_strict.calls())


def _command(name: str, npm: Path, root: Path) -> list[str]:
    match name:
        case "filesystem":
            return [_program(npm, name), str(root)]
        case "memory":
            return [_program(npm, name)]
        case "everything":
            return [_program(npm, name), "stdio"]
        case "fetch" | "fetch-legacy":
            return [sys.executable, "-m", "mcp_server_fetch", "--allow-private-ips"]
        case "git" | "time":
            return [sys.executable, "-m", f"mcp_server_{name}"]
        case _:
            return [sys.executable, str(Path(__file__).with_name("strict_server.py"))]


def _program(npm: Path, name: str) -> str:
    return str(npm / "node_modules" / ".bin" / f"mcp-server-{name}")


def installed() -> Path:
    """The folder with the packages of npm, which it is filled with once.

    Raises:
        subprocess.CalledProcessError: npm does not install them.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fabricd-e2e"
    folder = cache / NPM_VERSION
    if folder.is_dir():
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    packages = [f"@modelcontextprotocol/server-{name}@{NPM_VERSION}" for name in _NPM]
    with tempfile.TemporaryDirectory(dir=cache) as made:
        options = ("--no-audit", "--no-fund", "--ignore-scripts", "--save-exact", "--prefix", made)
        subprocess.run(
            ["npm", "install", "--loglevel=error", *options, *packages], check=True, stdout=2
        )
        # Only a whole installation has the name; who comes second finds it taken.
        with contextlib.suppress(OSError):
            Path(made).rename(folder)
        Path(made).mkdir(exist_ok=True)
    return folder
