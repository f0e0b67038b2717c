"""What is imported where: the daemon stays small, and the relay is there at once."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.harness import ROOT

HEAVY = {"numpy", "rs_bpe", "bpe_openai", "sqlite3", "tree_sitter", "mcp"}


def imported(code: str) -> set[str]:
    """The modules that a process has imported in the end."""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; {code}; print(*sys.modules)"],
        env={"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        "import fabricd.daemon.supervisor",
        "from fabricd.daemon.context.library import Context",
        "import fabricd.daemon.cli.context.command",
    ],
)
def test_only_the_worker_has_the_engine(code: str) -> None:
    assert imported(code).isdisjoint(HEAVY)


def test_the_daemon_has_all_it_needs_of_its_own_side_from_the_start() -> None:
    # A package replaced under a running daemon must not be imported half old, half new.
    found = imported("import fabricd.daemon.supervisor")
    assert {"fabricd.ipc.context.session", "fabricd.daemon.context.attendant"} <= found


def test_the_relay_imports_next_to_nothing() -> None:
    found = imported("import fabricd.daemon.cli, fabricd.ipc.context.relay")
    assert found.isdisjoint({"click", "enum", "json", "msgspec", "re", "socket", "subprocess"})
