"""`fabricd trajectory from-session`: files, stores, the last session, and what is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import zstandard
from fixtures.make_histories import make

from tests.cli.running import Cli
from tests.core.trajectory.sessions.written import (
    claude_call,
    claude_result,
    oc_part,
    write,
)
from tests.oracle.naive_outputs import outputs_of, totals
from tests.store.opencode_stores import Database

SAY = ("trajectory", "from-session", "--arm", "a")


@pytest.fixture
def home(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with logs of every agent."""
    made = place / "user"
    make(made)
    monkeypatch.delenv("PI_CODING_AGENT_DIR")
    return made


def test_every_agents_logs(cli: Cli, home: Path) -> None:
    paths = [path for path in home.rglob("*.json*") if "storage" not in path.parts]
    paths.append(home / ".local/share/opencode/storage")
    agents = set[str]()
    for path in paths:
        found = cli(*SAY, path, "--task", "t")
        assert found.code == 0, found.err
        assert found.json["run"]["task_id"] == "t"
        agents.add(found.json["run"]["configuration_id"].split()[0])
        told = cli("trajectory", "profile", "--quiet", "-", stdin=found.out)
        assert told.code == 0
        if path.name == "rollout-x2.jsonl":
            # Its parent's log is found by its name, and what it repeats is left out.
            assert len(found.json["events"]) == 10
            continue
        if path.name.startswith("agent-") or path.name == "c2.jsonl":
            continue
        measured, naive = told.json["measurements"], totals(*outputs_of(path))
        assert len(measured["operations"]) == naive.results
        assert measured["initial_raw_available_bytes"] == naive.initial_raw
        assert measured["final_model_visible_bytes"] == naive.initial_visible
    assert len(agents) == 6


def test_the_last_session(cli: Cli, home: Path) -> None:
    for number, name in enumerate(("c1.jsonl", "agent-a1.jsonl", "agent-a2.jsonl")):
        (path,) = home.rglob(name)
        os.utime(path, (2_000_000_000 + number, 2_000_000_000 + number))
    found = cli(*SAY, "--last")
    assert (found.code, found.json["run"]["run_id"]) == (0, "c1")
    # The newest file is a sub-agent's: the session is read with its own log and all of theirs.
    assert len(found.json["events"]) == 44
    for agent, session in (("pi", "f"), ("codex", "x"), ("opencode", "ses_1"), ("gemini-cli", "g")):
        told = cli(*SAY, "--last", "--agent", agent)
        assert told.code == 0 and told.json["run"]["run_id"].startswith(session)


def test_what_is_told_is_valid_and_said(cli: Cli, tmp_path: Path) -> None:
    path = write(tmp_path / "c.jsonl", claude_call("a"), claude_result("a", "x"))
    found = cli(*SAY, path)
    assert found.out.count(b"\n") == 1
    assert cli("trajectory", "validate", "--quiet", "-", stdin=found.out).code == 0
    assert all(line.startswith("fabricd: ") for line in found.err.splitlines())
    assert cli(*SAY, "--quiet", path).err == ""
    packed = tmp_path / "c.jsonl.zst"
    packed.write_bytes(zstandard.compress(path.read_bytes()))
    assert cli(*SAY, packed).out == found.out
    packed.write_bytes(b"x" * 100)
    cli(*SAY, packed).complains(2, "decompressed")


def test_a_database(cli: Cli, tmp_path: Path) -> None:
    made = Database(tmp_path / "opencode.db")
    made.session("s", "m")
    made.part("p1", oc_part("a", output="whole", metadata={"truncated": False}))
    made.part("p2", {"type": "text", "text": "tool"})
    made.part("p3", '{"tool"')
    found = cli(*SAY, made.path)
    assert (found.code, len(found.json["events"])) == (0, 1)
    assert found.json["run"]["configuration_id"] == "opencode 1.2.3"
    assert "1 line" in found.err
    made.session("s2", "m2")
    cli(*SAY, made.path).complains(2, "2 sessions", "--session")
    assert cli(*SAY, made.path, "--session", "s").out == found.out
    cli(*SAY, made.path, "--session", "s3").complains(2, "no session s3")
    before = sorted(os.listdir(tmp_path))
    made.close()
    assert cli(*SAY, made.path, "--session", "s").out == found.out
    assert set(os.listdir(tmp_path)) < set(before)


def test_a_damaged_database(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    path.write_bytes(b"SQLite format 3\0" + b"x" * 100)
    cli(*SAY, path).complains(2, "database cannot be read")


def test_what_is_refused(cli: Cli, home: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "c.jsonl", claude_call("a"))
    cli("trajectory", "from-session", path).complains(2, "--arm")
    cli(*SAY).complains(2, "files or --last")
    cli(*SAY, path, "--last").complains(2, "files or --last")
    cli(*SAY, path, "--agent", "pi").complains(2, "--agent")
    cli("trajectory", "from-session", "--arm", "", path).complains(2, "a name")
    cli(*SAY, tmp_path / "gone").complains(2, "gone")
    cli(*SAY, tmp_path).complains(2, "directory")
    cli(*SAY, write(tmp_path / "x.jsonl", {"a": 1})).complains(2, "not a session log")
    cli(*SAY, path, *home.rglob("rollout-x1.jsonl")).complains(2, "several agents")
    cli(*SAY, *home.rglob("c[12].jsonl")).complains(2, "2 sessions", "--session")
    broken = tmp_path / "b.json"
    broken.write_text(json.dumps({"info": {"id": "s", "directory": "/"}, "messages": []}) + "}")
    assert cli(*SAY, broken).code == 2
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    cli(*SAY, fifo).complains(2, "cannot be read")


def test_nothing_to_be_last(cli: Cli, place: Path) -> None:
    cli(*SAY, "--last", "--agent", "codex").complains(1, "no session of codex")
