"""Messages that are no plain calls pass the gateway both ways while calls are repaired."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.e2e.playing import Records, wrapped
from tests.e2e.sdk import Client, connected
from tests.e2e.servers import server

pytestmark = pytest.mark.timeout(60)
_LONG = "trigger-long-running-operation"


class _Agent:
    """A client that answers what a server asks, and keeps it."""

    def __init__(self) -> None:
        self.types: Any = importlib.import_module("mcp.types")
        self.asked: list[int] = []
        self.progress: list[tuple[float, float | None]] = []

    async def sample(self, context: object, params: Any) -> Any:
        self.asked.append(params.max_tokens)
        said = self.types.TextContent(type="text", text="sampled")
        return self.types.CreateMessageResult(role="assistant", content=said, model="none")

    async def roots(self, context: object) -> Any:
        root = self.types.Root(uri="file:///nowhere", name="the only root")
        return self.types.ListRootsResult(roots=[root])

    async def step(self, progress: float, total: float | None, message: str | None) -> None:
        self.progress.append((progress, total))


def test_requests_of_the_server_progress_and_cancellation_pass(
    tmp_path: Path, npm: Path, url: str
) -> None:
    folder = tmp_path.resolve()
    asked = server("everything", folder, npm, url)
    agent = _Agent()
    env = {
        "HOME": str(folder),
        "PATH": os.environ["PATH"],
        "XDG_STATE_HOME": str(folder / "state"),
    }

    async def talk() -> list[str]:
        options: dict[str, Any] = {
            "sampling_callback": agent.sample,
            "list_roots_callback": agent.roots,
            "mode": "legacy",
        }
        command = wrapped(asked, folder)
        async with connected(command, env, folder / "stderr", **options) as client:
            return await _talk(client, agent)

    texts = anyio.run(talk)

    assert agent.progress == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert agent.asked == [7]
    assert "Duration: 0.2 seconds, Steps: 4" in texts[0]
    assert "sampled" in texts[1] and "the only root" in texts[2] and "still there" in texts[3]
    records = Records(folder)
    assert records.down("before") == records.down("behind")
    assert _changed(records) == ["0.2", "7"]
    assert b"notifications/cancelled" in b"".join(records.up("behind"))


async def _talk(client: Client, agent: _Agent) -> list[str]:
    await client.tools()
    call = client.own.call_tool
    results = [
        await call(_LONG, {"duration": "0.2", "steps": 4}, progress_callback=agent.step),
        await call("trigger-sampling-request", {"prompt": "say it", "maxTokens": "7"}),
        await call("get-roots-list", {}),
    ]
    with anyio.move_on_after(0.3):
        await call(_LONG, {"duration": 30, "steps": 1})
    results.append(await call("echo", {"message": "still there"}))
    return [_text(result.content) for result in results]


def _text(content: Sequence[Any]) -> str:
    return "\n".join(block.text for block in content)


def _changed(records: Records) -> list[object]:
    """What was sent as an argument where a line was changed."""
    changed: list[object] = []
    for sent, received in zip(records.up("before"), records.up("behind"), strict=True):
        if sent != received:
            before, after = (json.loads(line)["params"] for line in (sent, received))
            assert {**before, "arguments": after["arguments"]} == after
            changed += [
                value
                for key, value in before["arguments"].items()
                if after["arguments"][key] != value
            ]
    return changed
