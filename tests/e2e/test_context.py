"""The official client asks for context: with the handshake of older versions, and without one."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from fabricd.store.locks import holder
from tests.e2e.sdk import Client, connected, is_installed
from tests.harness import ROOT

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.skipif(not is_installed(), reason="the MCP SDK is not installed"),
]
MODES = {"legacy": "2025-11-25", "2026-07-28": "2026-07-28", "auto": "2026-07-28"}
MOST_TOKENS = 1500
SOURCES = {
    "shop/basket.py": '''"""The basket of a customer."""


class Basket:
    """What somebody wants to buy."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, int]] = []

    def put(self, article: str, count: int = 1) -> None:
        """Put an article into the basket."""
        self.lines.append((article, count))

    def total(self, prices: dict[str, int]) -> int:
        """What the basket costs, in cents."""
        return sum(prices[article] * count for article, count in self.lines)
''',
    "shop/prices.py": '''"""Prices of articles."""


def discounted(cents: int, percent: int) -> int:
    """A price with a discount, rounded down."""
    return cents * (100 - percent) // 100
''',
    "README.md": "# Shop\n\nA basket, its prices, and a discount for good customers.\n",
}


class Place:
    """A tree under version control, and a home without a daemon."""

    def __init__(self, folder: Path) -> None:
        self.tree = folder / "tree"
        self.home = folder / "home"
        self.env = {
            "HOME": str(folder),
            "PATH": os.environ["PATH"],
            "FABRICD_HOME": str(self.home),
            "FABRICD_CONFIG": str(folder / "config.toml"),
            "PI_CODING_AGENT_DIR": str(folder / "agent"),
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]),
        }
        for name, text in SOURCES.items():
            (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
            (self.tree / name).write_text(text)
        for words in ("init -q", "add .", "-c user.name=a -c user.email=a@b commit -qm Begin"):
            subprocess.run(["git", *words.split()], cwd=self.tree, check=True, env=self.env)

    @property
    def daemon(self) -> int | None:
        held = holder(self.home / "fabricd.lock")
        return None if held is None else held.pid

    @asynccontextmanager
    async def client(self, mode: str) -> AsyncGenerator[Client]:
        command = [sys.executable, "-m", "fabricd", "mcp"]
        async with connected(command, self.env, self.tree / "errors.log", mode=mode) as client:
            yield client


@pytest.fixture
def place() -> Iterator[Place]:
    folder = Path(tempfile.mkdtemp(prefix="fd-", dir="/tmp"))
    found = Place(folder)
    yield found
    ends = time.monotonic() + 10
    while (pid := found.daemon) is not None and time.monotonic() < ends:
        os.kill(pid, signal.SIGTERM)
        time.sleep(0.1)
    shutil.rmtree(folder)


async def text(client: Client, tool: str, **arguments: object) -> tuple[bool, str]:
    """Whether a call succeeded, and the one text of its result."""
    answer = await client.call(tool, arguments)
    result: dict[str, Any] = json.loads(answer.text)["result"]
    (block,) = result["content"]
    assert block["type"] == "text" and "structuredContent" not in result
    return answer.is_success, block["text"]


async def _talk(client: Client, place: Place) -> None:
    assert len(await client.tools()) == 6
    well, answer = await text(client, "context_select", query="what the basket costs", budget=600)
    assert well and "## shop/basket.py" in answer and "def total" in answer
    found = re.search(r"^-- (cr_[0-9a-f]{16}) (\d+)/600 o200k", answer, re.MULTILINE)
    assert found is not None and int(found[2]) <= 600
    receipt = found[1]
    well, again = await text(client, "context_recover", handle=f"{receipt}#1")
    assert well and again.strip()
    well, shown = await text(client, "context_show", what="shop/prices.py:4-6")
    assert well and "def discounted" in shown
    well, why = await text(client, "context_explain", receipt=receipt, what="shop/basket.py")
    assert well and "basket.py" in why
    well, sound = await text(client, "context_receipt", receipt=receipt, verify=True)
    assert well and receipt in sound
    well, state = await text(client, "context_status")
    assert well and str(place.tree.resolve()) in state
    well, refused = await text(client, "context_recover", handle="cr_0000000000000000#1")
    assert not well and refused.endswith("(reason: unknown)")
    well, refused = await text(client, "context_select", query="basket", budget=3)
    assert not well and "budget" in refused


@pytest.mark.parametrize("mode", MODES)
def test_an_agent_asks_shows_recovers_and_explains(place: Place, mode: str) -> None:
    async def talk() -> None:
        async with place.client(mode) as client:
            assert client.protocol == MODES[mode]
            await _talk(client, place)

    anyio.run(talk)
    assert place.daemon is not None


def test_two_agents_at_the_same_moment_start_one_daemon(place: Place) -> None:
    async def talk() -> None:
        async with anyio.create_task_group() as group:
            for mode in ("legacy", "auto"):
                group.start_soon(ask, mode)

    async def ask(mode: str) -> None:
        async with place.client(mode) as client:
            assert len(await client.tools()) == 6
            assert (await text(client, "context_show", what="README.md"))[0]

    anyio.run(talk)
    log = (place.home / "state" / "fabricd.log").read_text()
    assert log.count("daemon_started") == 1
    assert log.count("context_worker_started") == 1


def test_the_tools_as_they_are_listed_cost_little(place: Place) -> None:
    from fabricd.core.context.counting import counter

    async def talk() -> str:
        async with place.client("legacy") as client:
            page = await client.own.list_tools()
            dumped = page.model_dump(mode="json", by_alias=True, exclude_none=True)
            return json.dumps(dumped, ensure_ascii=False)

    assert counter("o200k")(anyio.run(talk)) <= MOST_TOKENS
