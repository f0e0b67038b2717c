from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from fabricd.core.compiling import trial as trying
from fabricd.core.normalform.apply import Applied, Normalizer
from fabricd.daemon.offline import recorded as walking
from tests.cli.running import SCHEMA, Cli, Outcome, action, process, surface_of
from tests.core.making import log, operation, record, trace
from tests.harness import SURFACE, trace_line
from tests.oracle import naive

GOOD = trace_line(random.Random(1), 3)
SLIP: dict[str, Any] = {"query": "x", "MAX_RESULTS": "5"}


@pytest.fixture
def logs(place: Path) -> Path:
    """An empty directory for session logs."""
    folder = place / "agent" / "sessions"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def declared(place: Path) -> Path:
    """A surface of one action."""
    path = place / "surface.json"
    path.write_bytes(surface_of(action("a")))
    return path


def write(folder: Path, *calls: tuple[str, dict[str, Any]], name: str = "s.jsonl") -> None:
    """A session log whose one trace has these audits."""
    audits = [{"ref": ref, "args": args} for ref, args in calls]
    (folder / name).write_bytes(log(record(trace(operation()), audits)))


def tried(cli: Cli, sessions: Path, surface: Path, *more: str | Path) -> Outcome:
    return cli("trial", "--sessions", sessions, "--surface", surface, *more)


# --- what it says


def test_bundled_sessions_are_clean(cli: Cli, sessions: Path, surface: Path) -> None:
    found = tried(cli, sessions, surface, "--json")
    value = found.json
    gate = cli("compile", "--sessions", sessions, "--surface", surface)
    score = naive.measure(sessions, surface)["score"]
    assert (found.code, found.err, value["verdict"]) == (0, "", "clean")
    assert value["declaredScore"] == value["effectiveScore"] == score
    totals, plans = value["totals"], value["plans"]
    assert plans["proven"] == len(gate.json["normalizations"])
    gate.says(f"{plans['operations']} audit calls replayed, {totals['normalizationWin']} would be")
    wins = sum(row["count"] for row in value["divergences"])
    assert wins == totals["normalizationWin"] > 0
    parts = ("bothAccept", "bothReject", "normalizationWin")
    assert sum(totals[name] for name in parts) == totals["operations"]
    assert value["costs"] == []
    assert [row["ref"] for row in value["notJudged"]] == ["mcp.regex.extract"]


def test_the_artifact_of_the_same_surface_says_the_same(
    cli: Cli, sessions: Path, surface: Path, place: Path
) -> None:
    artifact = place / "compiled.json"
    artifact.write_bytes(cli("compile", "--sessions", sessions, "--surface", surface).out)
    plain = tried(cli, sessions, surface, "--json")
    assert tried(cli, sessions, surface, "--json", "--artifact", artifact) == plain


def test_words_put_numbers_first(cli: Cli, logs: Path, declared: Path) -> None:
    write(logs, ("a", {"query": "x"}), ("a", SLIP), ("a", SLIP), ("a", {}), ("b", {}))
    found = tried(cli, logs, declared)
    assert found.code == 0 and found.err == ""
    assert found.out.decode().splitlines() == [
        "clean: 4 calls tried, 2 repaired; nothing that the schemas accept would change",
        "  1  accepted as they are",
        "  2  refused as they are, repaired by a plan",
        "  1  refused before and after",
        "",
        "1 of 1 proven plans met 4 calls",
        "0.00 % of the calls were refused when they were made; a trial changes no history",
        "",
        "Repaired",
        "  2  a",
    ]


def test_words_name_what_could_not_be_replayed(cli: Cli, logs: Path, declared: Path) -> None:
    calls = [operation(number, "a") for number in range(1200)]
    audits = [{"ref": "a", "args": {"query": "x"}}]
    (logs / "s.jsonl").write_bytes(log(record(trace(*calls), audits)))
    found = tried(cli, logs, declared)
    assert found.out.decode().splitlines()[-3:] == [
        "Not replayable: trace operations without an audit in their place",
        "  1,199  of 1,200 in all",
        "  1,199  of 1,200 of a",
    ]
    assert tried(cli, logs, declared, "--json").json["coverage"] == {
        "replacedOperations": 1200,
        "notReplayable": 1199,
        "refs": [{"ref": "a", "operations": 1200, "audits": 1, "notReplayable": 1199}],
    }


def test_no_evidence_is_no_finding(cli: Cli, logs: Path, declared: Path) -> None:
    found = tried(cli, logs, declared)
    assert found.code == 0
    assert found.out.decode().startswith("no evidence: 0 calls tried, none of them met a proven")
    write(logs, ("b", {}))
    assert tried(cli, logs, declared, "--json").json["verdict"] == "no-evidence"


class Meddler(Normalizer):
    """Changes accepted calls, and repairs the others into nothing."""

    def apply(self, args: dict[str, Any]) -> Applied:
        return Applied({}, () if self.plan is None else self.plan.rules[:1])


def test_any_cost_is_a_finding(
    cli: Cli, logs: Path, declared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trying, "Normalizer", Meddler)
    write(logs, ("a", {"query": "x"}), ("a", SLIP))
    words, value = tried(cli, logs, declared), tried(cli, logs, declared, "--json")
    assert (words.code, value.code, value.json["verdict"]) == (1, 1, "costly")
    text = words.out.decode()
    assert text.startswith("costly: 2 calls tried, 0 repaired; 5 findings against the plans\n")
    assert "  1  accepted as they are, refused after a plan\n" in text
    assert [(row["cost"], row["count"]) for row in value.json["costs"]] == [
        ("acceptance", 1),
        ("idempotence", 2),
        ("identity", 1),
        ("tightening", 1),
    ]
    assert "\nCosts\n  1  repaired calls would still be rejected: a\n" in text


def test_names_of_logs_do_not_reach_the_terminal_as_they_are(
    cli: Cli, logs: Path, place: Path
) -> None:
    ref = "\x1b[31m\n\ud800" + "x" * 300
    (place / "odd.json").write_bytes(surface_of(action(ref), action("b", {"type": "\x07"})))
    write(logs, (ref, SLIP), ("b", {}))
    found = tried(cli, logs, place / "odd.json")
    text = found.out.decode()
    assert found.code == 0 and "\\x1b[31m\\n\\ud800xxx" in text
    assert all(char.isprintable() or char == "\n" for char in text)
    assert max(map(len, text.splitlines())) < 250
    value = tried(cli, logs, place / "odd.json", "--json").json
    assert value["divergences"][0]["ref"] == ref


def test_many_rows_are_cut(cli: Cli, logs: Path, place: Path) -> None:
    refs = [f"a{number:02}" for number in range(11)]
    (place / "many.json").write_bytes(surface_of(*map(action, refs)))
    write(logs, *[(ref, SLIP) for ref in refs])
    lines = tried(cli, logs, place / "many.json").out.decode().splitlines()
    assert lines[-2:] == ["  1  a07", "  and 3 more"]


# --- artifacts


def test_a_stale_plan_is_left_out_and_named(
    cli: Cli, logs: Path, declared: Path, place: Path
) -> None:
    artifact, drifted = place / "compiled.json", place / "drifted.json"
    artifact.write_bytes(cli("compile", "--sessions", logs, "--surface", declared).out)
    drifted.write_bytes(surface_of(action("a", {**SCHEMA, "title": "drifted"})))
    write(logs, ("a", SLIP))
    found = tried(cli, logs, drifted, "--artifact", artifact)
    assert found.code == 0
    text = found.out.decode()
    assert text.startswith("no evidence: 1 call tried")
    assert "Plans left out, with the calls they would have met\n  1  a: the plan is not" in text
    value = tried(cli, logs, drifted, "--artifact", artifact, "--json").json
    assert [row["ref"] for row in value["plans"]["unproven"]] == ["a"]
    assert (value["totals"]["normalizationWin"], value["totals"]["bothReject"]) == (0, 1)


def test_an_artifact_of_version_1_has_no_plans(
    cli: Cli, logs: Path, declared: Path, place: Path
) -> None:
    write(logs, ("a", SLIP))
    gate = {"passed": True, "beforeScore": 0, "afterScore": 0, "reasons": []}
    old = {"version": 1, "metricVersion": 2, "actions": [], "quarantined": [], "applied": []}
    path = place / "old.json"
    path.write_text(json.dumps({**old, "gate": gate, "evidenceDigest": "x"}))
    value = tried(cli, logs, declared, "--artifact", path, "--json").json
    assert (value["verdict"], value["plans"]["proven"]) == ("no-evidence", 0)


# --- input


def test_a_window_takes_the_newest_logs(cli: Cli, logs: Path, declared: Path) -> None:
    for number in range(3):
        name = f"{number}.jsonl"
        write(logs, *[("a", SLIP)] * (number + 1), name=name)
        os.utime(logs / name, (number, number))
    for window, wins in (("1", 3), ("2", 5), ("9", 6)):
        value = tried(cli, logs, declared, "--json", "--window", window).json
        assert value["totals"]["normalizationWin"] == wins
    tried(cli, logs, declared, "--window", "0").complains(2, "window")


@pytest.mark.parametrize("option", ["--sessions", "--surface"])
def test_both_places_must_be_named(cli: Cli, logs: Path, declared: Path, option: str) -> None:
    given = {"--sessions": logs, "--surface": declared}
    del given[option]
    [(name, path)] = given.items()
    cli("trial", name, path).complains(2, option)


@pytest.mark.parametrize("text", [None, "{", "[]", '{"version": 2, "actions": []}', "\0"])
def test_unusable_files_are_one_sentence(
    cli: Cli, logs: Path, declared: Path, place: Path, text: str | None
) -> None:
    bad = place / "bad\x1b.json"
    if text is not None:
        bad.write_text(text)
    tried(cli, logs, bad).complains(2, "bad\\x1b.json")
    tried(cli, logs, declared, "--artifact", bad).complains(2, "bad\\x1b.json")
    tried(cli, bad, declared).complains(2, "bad\\x1b.json", "cannot be read")


@pytest.mark.parametrize(
    "data",
    [
        GOOD[:-10],
        GOOD + b"]",
        GOOD.replace(b'"version": 1', b'"version": 3', 1),
        GOOD[:-1] + b',"deep":' + b"[" * 10_000 + b"]" * 10_000 + b"}",
        GOOD[:-1] + b',"image":"' + b"x" * 40_000_000 + b'"}',
        b"pi-fabric.execution",
        b"\xff\x00pi-fabric.execution",
        b"",
    ],
    ids=["cut", "trailing", "version", "deep", "overlong", "no record", "bytes", "empty"],
)
def test_a_bad_line_is_passed_over(cli: Cli, logs: Path, place: Path, data: bytes) -> None:
    surface = place / "surface.json"
    surface.write_text(json.dumps(SURFACE))
    (logs / "s.jsonl").write_bytes(GOOD + b"\n")
    alone = tried(cli, logs, surface, "--json")
    (logs / "s.jsonl").write_bytes(data + b"\n" + GOOD + b"\n" + data)
    assert tried(cli, logs, surface, "--json") == alone
    assert alone.json["totals"]["operations"] > 0


def test_a_log_that_cannot_be_read_is_named_and_the_others_are_tried(
    cli: Cli, logs: Path, declared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(logs, ("a", SLIP), name="a.jsonl")
    write(logs, ("a", SLIP), name="b.jsonl")
    opened = walking.OpenLog

    def refusing(path: bytes) -> walking.OpenLog:
        if path.endswith(b"a.jsonl"):
            raise PermissionError(13, "Permission denied")
        return opened(path)

    monkeypatch.setattr(walking, "OpenLog", refusing)
    found = tried(cli, logs, declared, "--json")
    assert (found.code, found.json["totals"]["normalizationWin"]) == (0, 1)
    found.says("skipped", "a.jsonl", "Permission denied")


def test_a_directory_is_tried_the_same_twice_and_left_as_it_was(
    cli: Cli, sessions: Path, surface: Path
) -> None:
    before = [(path, path.stat().st_mtime_ns) for path in sorted(sessions.rglob("*"))]
    first = tried(cli, sessions, surface, "--json")
    assert tried(cli, sessions, surface, "--json") == first
    assert [(path, path.stat().st_mtime_ns) for path in sorted(sessions.rglob("*"))] == before


def test_a_process_of_its_own_says_the_same(cli: Cli, sessions: Path, surface: Path) -> None:
    arguments = ("trial", "--sessions", sessions, "--surface", surface, "--json")
    assert process(*arguments) == cli(*arguments)
