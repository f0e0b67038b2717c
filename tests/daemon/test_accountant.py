"""What the gateway repaired becomes receipts, each once, whatever becomes of daemon and logs."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fabricd.core.mcp.conversation import Conversation
from fabricd.core.mcp.records import call_record, moment, session_record
from fabricd.daemon.accountant import Accountant
from fabricd.daemon.health import Health
from fabricd.store.gateway_logs import folder_of
from fabricd.store.homes import Homes
from fabricd.store.value import load, receipts_path, record_path
from tests.daemon.recording import Recording
from tests.harness import daemon
from tests.ipc.gateway.wrapped import wrapped

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


AT = 1_790_000_000_000


def calls(*arguments: Any, mode: Any = "repair", at: int = AT) -> bytes:
    """The records of calls through the gateway, numbered from 10."""
    events: list[Any] = []
    talk = Conversation("s", mode, "extended", events.append, lambda: at)
    talk.asked(b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n')
    page = {"tools": [{"name": "t", "inputSchema": SCHEMA}]}
    talk.heard(json.dumps({"jsonrpc": "2.0", "id": 1, "result": page}).encode() + b"\n")
    for number, args in enumerate(arguments, start=10):
        asked = {"jsonrpc": "2.0", "id": number, "method": "tools/call"}
        params = {"name": "t", "arguments": args}
        talk.asked(json.dumps({**asked, "params": params}).encode() + b"\n")
        talk.heard(json.dumps({"jsonrpc": "2.0", "id": number, "result": {}}).encode() + b"\n")
    return b"".join(call_record(each, "s", "projected") for each in events[1:])


HEAD = session_record("run-1", AT, {"conventions": "extended", "fabricd": "1.2.3"})
GOOD, BENT = {"n": 1}, {"n": "1"}


def turns(*numbers: int, at: int = AT) -> list[str]:
    """The operations of calls."""
    return [f"run-1/{number}@{moment(at)}" for number in numbers]


class Bench:
    """A home, a gateway's log, and an accountant."""

    def __init__(self, folder: Path) -> None:
        self.homes = Homes(folder / "home", folder / "state", folder / "agent", is_pi_home=False)
        self.log = folder_of(self.homes.state) / "s" / "run-1.jsonl"
        self.log.parent.mkdir(parents=True)
        self.health = Health(Recording())
        self.accountant = Accountant(self.homes, self.health)

    async def look(self, accountant: Accountant | None = None) -> list[str]:
        """One look; gives the operations that have receipts."""
        await (accountant or self.accountant).look()
        return [each["operation"]["id"] for each in load(self.homes.home).receipts.values()]

    async def again(self) -> list[str]:
        """The look of the next daemon."""
        self.end()
        self.accountant = Accountant(self.homes, self.health)
        return await self.look()

    def end(self) -> None:
        """What the end of a process does."""
        if self.accountant._ledger is not None:
            self.accountant._ledger.close()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """A bench."""
    made = Bench(tmp_path)
    yield made
    made.end()


@pytest.mark.asyncio
async def test_each_repaired_call_has_a_receipt(bench: Bench) -> None:
    bench.log.write_bytes(HEAD + calls(GOOD, BENT, {"n": "x"}))
    assert await bench.look() == turns(11)
    (receipt,) = load(bench.homes.home).receipts.values()
    assert receipt["mechanism"]["version"] == "1.2.3"
    assert receipt["operation"]["configuration_id"] == "extended"
    assert receipt["observed_at"].startswith("2026-")
    assert [entry["locator"] for entry in receipt["evidence"]][1] == "run-1.jsonl#11"
    assert json.loads(record_path(bench.homes.home, "run-1").read_bytes())["run"] == {"id": "run-1"}


@pytest.mark.asyncio
async def test_a_log_that_grows_in_any_pieces_is_counted_once(bench: Bench) -> None:
    whole = HEAD + calls(BENT, GOOD, BENT)
    for end in range(0, len(whole), 97):
        bench.log.write_bytes(whole[:end])
        await (bench.again() if end % 2 else bench.look())
    bench.log.write_bytes(whole)
    assert await bench.look() == await bench.again() == turns(10, 12)
    bench.homes.value_cursors.unlink()
    assert len(await bench.again()) == 2


@pytest.mark.asyncio
async def test_an_id_that_is_used_again_is_another_call(bench: Bench) -> None:
    later = AT + 1
    bench.log.write_bytes(HEAD + calls(BENT) + calls(BENT, at=later))
    assert await bench.look() == await bench.again() == turns(10) + turns(10, at=later)
    (record,) = load(bench.homes.home).records()
    assert len(record["value_receipts"]) == 2


@pytest.mark.asyncio
async def test_where_nothing_was_repaired_nothing_is_written(bench: Bench) -> None:
    await bench.look()
    bench.log.write_bytes(HEAD + calls(GOOD) + calls(BENT, mode="observe") + b"garbage\n{}\n")
    assert await bench.look() == []
    assert not receipts_path(bench.homes.home).exists()


@pytest.mark.asyncio
async def test_what_cannot_be_kept_is_said_and_tried_again(bench: Bench) -> None:
    bench.log.write_bytes(HEAD + calls(BENT))
    place = receipts_path(bench.homes.home)
    place.mkdir(parents=True)
    await bench.accountant.look()
    assert [ailment.what for ailment in bench.health.ailments] == ["value"]
    place.rmdir()
    assert await bench.look() == turns(10) and bench.health.ailments == []


@pytest.mark.asyncio
async def test_a_log_that_is_gone_leaves_its_receipts(bench: Bench) -> None:
    bench.log.write_bytes(HEAD + calls(BENT))
    await bench.look()
    bench.log.unlink()
    assert await bench.look() == turns(10)
    assert json.loads(bench.homes.value_cursors.read_bytes()) == {}


def test_a_daemon_beside_a_gateway(tmp_path: Path) -> None:
    with wrapped(tmp_path, "tools", str(tmp_path / "seen")) as subject:
        subject.ask("tools/list")
        subject.call({"query": "x", "maxResults": "5"})
        assert subject.end() == 0
    with daemon(tmp_path) as running:
        running.start()
        running.until(lambda: len(load(running.home).receipts) == 1)
        summary = json.loads(running.run("value", "summary", "--since", "7d").stdout)
    assert "calls_repaired" in json.dumps(summary), summary


@pytest.mark.asyncio
async def test_a_log_whose_name_is_no_text_has_its_receipts_too(bench: Bench) -> None:
    odd = bench.log.parent / os.fsdecode(b"odd-\xff.jsonl")
    odd.write_bytes(HEAD + calls(BENT))
    assert await bench.look() == await bench.again() == turns(10)
    assert bench.health.ailments == []


@pytest.mark.asyncio
async def test_receipts_that_were_removed_under_it_are_kept_anew(bench: Bench) -> None:
    bench.log.write_bytes(HEAD + calls(BENT))
    assert await bench.look() == turns(10)
    shutil.rmtree(receipts_path(bench.homes.home).parent)
    bench.log.write_bytes(HEAD + calls(BENT, GOOD, BENT))
    await bench.look()
    assert await bench.look() == turns(12)
    assert bench.health.ailments == []


@pytest.mark.asyncio
async def test_whatever_breaks_it_is_told_and_ends_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(_: Path) -> list[Path]:
        raise RuntimeError("can't start new thread")

    bench.log.write_bytes(HEAD + calls(BENT))
    with monkeypatch.context() as patch:
        patch.setattr("fabricd.daemon.accountant.newest_first", breaks)
        assert await bench.look() == []
        assert "RuntimeError" in bench.health.ailments[0].why
    assert await bench.look() == turns(10)
    assert bench.health.ailments == []
