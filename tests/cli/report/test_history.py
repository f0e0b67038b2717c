"""`report` over the logs of six agents: equal to a naive count, whatever the order and the cuts."""

from __future__ import annotations

import json
import os
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
from fixtures.make_histories import make

from fabricd.daemon.cli.report import history as report_history
from tests.cli.running import Cli
from tests.oracle.naive_history import count

Json = dict[str, Any]
AGENTS = ["pi", "claude-code", "codex", "copilot-cli", "opencode", "gemini-cli"]


@pytest.fixture
def user(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with logs of every agent."""
    home = place / "user"
    make(home)
    monkeypatch.delenv("PI_CODING_AGENT_DIR")
    return home


def logs(home: Path) -> list[Path]:
    """Every log; the storage tree is one."""
    tree = home / ".local" / "share" / "opencode" / "storage"
    files = [p for p in home.rglob("*.json*") if p.is_file() and tree not in p.parents]
    return [*files, *([tree] if tree.is_dir() else [])]


def counted(value: Json) -> Json:
    """The members of a report that the oracle knows."""
    return {
        agent["agent"]: {
            "files": agent["files"],
            "calls": agent["calls"],
            "outcomes": agent["outcomes"],
            "tools": {row["tool"]: row["calls"] for row in agent["tools"]},
        }
        for agent in value["agents"]
    }


def report(cli: Cli, *more: str | Path) -> Json:
    """The report over all time."""
    found = cli("report", "--all", "--json", *more)
    assert found.code == 0, found.err
    value: Json = found.json
    return value


def test_every_agent_is_found_and_counted_like_the_plain_way(cli: Cli, user: Path) -> None:
    value = report(cli)
    assert [agent["agent"] for agent in value["agents"]] == AGENTS
    assert counted(value) == count(logs(user))
    assert value["losses"] == {"badLines": 0, "gluedLines": 1, "cutTails": 1, "overlongLines": 0}
    assert value["skipped"] == []


def test_a_folder_that_was_named_gives_the_same_agents(cli: Cli, user: Path) -> None:
    assert report(cli, "--path", user)["agents"] == report(cli)["agents"]


def test_again_and_in_any_order_it_is_the_same(
    cli: Cli, user: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = report(cli)
    assert report(cli) == first
    (place / "home" / "state" / "history.msgpack").unlink()
    list_stores = report_history.list_stores

    def shuffled(places: Any) -> Any:
        found = list_stores(places)
        files = list(found.files)
        random.Random(5).shuffle(files)
        return type(found)(tuple(files), found.databases, found.trees, found.skipped)

    monkeypatch.setattr(report_history, "list_stores", shuffled)
    assert report(cli) == first


def test_logs_that_grow_between_reports_come_to_the_same(cli: Cli, user: Path, place: Path) -> None:
    whole = report(cli)
    (place / "home" / "state" / "history.msgpack").unlink()
    rng = random.Random(3)
    grown = [path for path in logs(user) if path.suffix == ".jsonl"]
    contents = {path: path.read_bytes() for path in grown}
    cuts = {
        path: sorted(rng.randrange(len(data)) for _ in range(3)) for path, data in contents.items()
    }
    value: Json = {}
    for step in range(4):
        for path, data in contents.items():
            path.write_bytes(data[: ([*cuts[path], len(data)])[step]])
        value = report(cli)
    assert value == whole


def test_a_log_that_was_rewritten_archived_or_removed_is_noticed(cli: Cli, user: Path) -> None:
    before = counted(report(cli))
    rollout = next(user.rglob("rollout-x1.jsonl"))
    archived = user / ".codex" / "archived_sessions" / rollout.name
    archived.parent.mkdir()
    rollout.rename(archived)
    assert counted(report(cli)) == before
    chat = next(user.rglob("session-0.json"))
    chat.write_text(chat.read_text().replace('"cancelled"', '"error"'))
    assert counted(report(cli))["gemini-cli"]["outcomes"]["failed"] == 1
    chat.unlink()
    assert counted(report(cli)) == count(logs(user))


def test_a_compressed_rollout_is_the_same_rollout(cli: Cli, user: Path) -> None:
    import zstandard

    before = report(cli)["agents"]
    for rollout in list(user.rglob("rollout-*.jsonl")):
        packed = zstandard.ZstdCompressor().compress(rollout.read_bytes())
        rollout.with_suffix(".jsonl.zst").write_bytes(packed)
        rollout.unlink()
    assert report(cli)["agents"] == before
    damaged = next(user.rglob("*.zst"))
    packed = damaged.read_bytes()
    damaged.write_bytes(packed[: len(packed) // 2] + b"\xff" * 99)
    (skip,) = report(cli)["skipped"]
    assert skip["path"] == str(damaged) and "decompress" in skip["reason"]


def test_a_compressed_rollout_that_was_cut_off_says_so(cli: Cli, user: Path) -> None:
    import zstandard

    rollout = next(user.rglob("rollout-x2.jsonl"))
    packed = zstandard.ZstdCompressor().compress(rollout.read_bytes())
    two = zstandard.ZstdCompressor().compress(b'{"type": "event_msg", "payload": {}}\n')
    rollout.with_suffix(".jsonl.zst").write_bytes(two + packed[:-20])
    rollout.unlink()
    value = report(cli)
    assert (value["losses"]["cutTails"], value["skipped"]) == (2, [])


def test_what_is_no_log_is_skipped_with_the_reason(cli: Cli, user: Path) -> None:
    folder = user / ".claude" / "projects" / "-home-me-app"
    (folder / "notes.jsonl").write_text('{"name": "x"}\n')
    (folder / "empty.jsonl").touch()
    os.mkfifo(folder / "pipe.jsonl")
    reasons = {Path(skip["path"]).name: skip["reason"] for skip in report(cli)["skipped"]}
    assert reasons == {
        "notes.jsonl": "not a session log of a known agent",
        "empty.jsonl": "empty",
        "pipe.jsonl": "not a regular file",
    }


def test_the_checkpoint_is_written_only_where_something_is_new(
    cli: Cli, user: Path, place: Path
) -> None:
    folder = user / ".claude" / "projects" / "-home-me-app"
    (folder / "notes.jsonl").write_text('{"name": "x"}\n')
    path = place / "home" / "state" / "history.msgpack"
    for log in user.rglob("*"):
        # Older than a time stamp's doubt.
        os.utime(log, (10**9, 10**9))
    report(cli)
    first = path.stat().st_mtime_ns
    report(cli)
    assert path.stat().st_mtime_ns == first
    (folder / "c2.jsonl").unlink()
    report(cli)
    assert path.stat().st_mtime_ns != first


def test_a_log_in_another_agents_folder_is_its_writers(cli: Cli, user: Path) -> None:
    before = counted(report(cli))
    shutil.move(next(user.rglob("events.jsonl")), user / ".claude" / "projects" / "x.jsonl")
    assert counted(report(cli)) == before


def test_several_processes_read_the_same(
    cli: Cli, user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = report(cli, "--path", user, "--processes", "1")
    monkeypatch.setattr("fabricd.daemon.offline.history._WORTH_SHARING", 1)
    monkeypatch.setattr("fabricd.daemon.offline.history._BATCH", 20_000)
    assert report(cli, "--path", user, "--processes", "2") == alone


def test_who_does_not_get_the_lock_reads_without_keeping(cli: Cli, user: Path, place: Path) -> None:
    from fabricd.store.locks import hold

    state = place / "home" / "state"
    with_lock = hold(state / "history.lock")
    try:
        found = cli("report", "--all", "--json")
    finally:
        with_lock.close()
    assert found.code == 0 and "not kept" in found.err
    assert not (state / "history.msgpack").exists()
    assert counted(found.json) == count(logs(user))


@pytest.mark.parametrize("damage", [b"", b"\x00", b"\x84", b"not msgpack at all"])
def test_a_damaged_checkpoint_is_said_and_rebuilt(
    cli: Cli, user: Path, place: Path, damage: bytes
) -> None:
    first = report(cli)
    path = place / "home" / "state" / "history.msgpack"
    path.write_bytes(damage)
    found = cli("report", "--all", "--json")
    assert found.json == first and "read again" in found.err
    assert "damaged" not in cli("report", "--all", "--json").err


def test_filters(cli: Cli, user: Path) -> None:
    only = report(cli, "--agent", "codex", "--agent", "pi")
    assert [agent["agent"] for agent in only["agents"]] == ["pi", "codex"]
    assert only["filters"]["agent"] == ["codex", "pi"]
    model = report(cli, "--model", "claude-opus-5")
    assert {agent["agent"] for agent in model["agents"]} == {"pi", "opencode"}
    assert (
        report(cli, "--project", "app")["agents"] == report(cli, "--project", "/home/me")["agents"]
    )
    assert report(cli, "--project", "elsewhere")["agents"] == []
    since = cli("report", "--since", "2026-10-25", "--json").json
    assert [agent["agent"] for agent in since["agents"]] == ["pi", "gemini-cli"]
    assert since["filters"]["since"].startswith("2026-10-25T00:00:00")


@pytest.mark.parametrize("when", ["yesterday", "7", "2026-13-01", "", "99999999999d"])
def test_a_moment_that_is_none_is_said(cli: Cli, when: str) -> None:
    found = cli("report", "--since", when)
    assert found.code == 2 and "is no moment" in found.err
    assert "Traceback" not in found.err


def test_a_moment_to_come_is_said(cli: Cli) -> None:
    cli("report", "--since", "9000-01-01").complains(2, "lies in the future")


@pytest.mark.parametrize(
    "when", ["9999-12-31T23:59:59Z", 253402300799999, 1.9e15, 0, "0001-01-01T00:00:00+14:00"]
)
def test_a_time_at_the_end_of_all_calendars_is_no_trouble(
    cli: Cli, user: Path, place: Path, when: object
) -> None:
    log = place / "later" / "session.jsonl"
    log.parent.mkdir()
    item = {"type": "tool_use", "id": "later", "name": "Read", "input": {"a": "{{1}}"}}
    row = {"sessionId": "s", "type": "assistant", "timestamp": when, "message": {"content": [item]}}
    log.write_text(json.dumps(row) + "\n")
    assert report(cli, "--path", log.parent)["agents"][0]["calls"] == 1
    assert cli("report", "--all", "--path", log.parent).code == 0


def test_a_log_that_breaks_its_adapter_hides_no_other(
    cli: Cli, user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("fabricd.core.sessions.codex.Codex.enter", fail)
    value = report(cli)
    assert len(value["agents"]) == 5
    assert {skip["reason"] for skip in value["skipped"] if "rollout" in skip["path"]} == {
        "fabricd failed on it (ZeroDivisionError): please report this"
    }


def test_all_and_since_exclude_each_other(cli: Cli) -> None:
    assert cli("report", "--all", "--since", "7d").code == 2


def test_a_folder_that_is_not_there_is_said(cli: Cli, place: Path) -> None:
    found = cli("report", "--path", place / "nowhere")
    assert found.code == 2 and "does not exist" in found.err


def test_the_page_is_written_whole_and_private(cli: Cli, user: Path, place: Path) -> None:
    page = place / "report.html"
    found = cli("report", "--all", "--html", page)
    assert found.code == 0 and str(page) in found.err
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert page.stat().st_mode & 0o077 == 0
    (place / "file").touch()
    for target in (place / "file" / "page.html", place / "missing" / "page.html"):
        refused = cli("report", "--html", target)
        assert refused.code == 1 and "cannot be written" in refused.err
    assert not (place / "missing").exists()
    again = cli("report", "--all", "--html", page)
    assert again.code == 0
    whole = cli("report", "--all", "--html", "-").out
    assert whole.startswith(b"<!DOCTYPE html>")
    assert cli("report", "--html", "-", "--json").code == 2


def test_a_page_takes_the_place_of_nothing_else(cli: Cli, user: Path, place: Path) -> None:
    log = next(user.rglob("c1.jsonl"))
    before = log.read_bytes()
    found = cli("report", "--html", log)
    assert found.code == 2 and "is no page" in found.err
    assert log.read_bytes() == before
    os.symlink("page.html", place / "link")
    assert cli("report", "--html", place / "link").code == 0
    assert (place / "link").is_symlink() and (place / "page.html").is_file()


@pytest.mark.parametrize("option", ["--project", "--model"])
def test_an_empty_choice_is_said(cli: Cli, option: str) -> None:
    found = cli("report", option, "")
    assert found.code == 2 and "is empty" in found.err


def test_sources_lists_what_is_there(cli: Cli, user: Path) -> None:
    value = cli("sources", "--json").json
    found = {source["agent"]: source for source in value["sources"] if source["exists"]}
    assert set(found) == set(AGENTS)
    assert found["claude-code"]["files"] == 4 and found["claude-code"]["bytes"] > 1000
    assert found["opencode"]["stores"] and value["skipped"] == []
    words = cli("sources").out.decode()
    assert "4 logs" in words and "not there" in words
    shutil.copy(next(user.rglob("events.jsonl")), user / ".claude" / "projects" / "x.jsonl")
    assert "1 log is of copilot-cli" in cli("sources").out.decode()


def test_no_argument_value_is_kept(cli: Cli, user: Path, place: Path) -> None:
    report(cli)
    kept = (place / "home" / "state" / "history.msgpack").read_bytes()
    assert b"exec_command" in kept and b"pytest -k" not in kept and b"case_" not in kept


def test_json_is_one_line(cli: Cli, user: Path) -> None:
    out = cli("report", "--all", "--json").out
    assert out.count(b"\n") == 1 and json.loads(out)["version"] == 1
