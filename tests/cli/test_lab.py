"""`fabricd lab`: a study for people and for programs, and how little comes of it."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import Cli, Outcome, action, process, surface_of
from tests.core.entropy.studied import MODE, audited, call, modes, traced
from tests.core.making import Json, assistant, log

OLDER = [
    audited(*modes("a", ["fast"] * 6 + ["slow"] * 3)),
    traced(call("b", {}, "failed", "validate"), call("b", {}, "failed", "invoke"), call("b", {})),
]
NEWER = [
    audited(*modes("a", ["fast", "plain", "plain", "PLAIN"])),
    traced(call("b", {}), call("b", {}, "failed", "invoke")),
]
TABLE = {
    "version": 1,
    "catalogDigest": "of a catalog",
    "repairs": [{"kind": "keyAlias", "ref": "a", "from": "file", "to": "path"}],
}


class Bench:
    """A directory of sessions, oldest first, a surface, and the command on both."""

    def __init__(self, cli: Cli, place: Path) -> None:
        self.cli = cli
        self.place = place
        self.logs = place / "logs"
        self.surface = place / "surface.json"
        self.surface.write_bytes(surface_of(action("a", MODE), action("b", MODE)))
        (self.logs / "project").mkdir(parents=True)

    def session(self, name: str, age: int, records: Sequence[Json]) -> None:
        """A session log, so many seconds old."""
        path = self.logs / "project" / f"{name}.jsonl"
        path.write_bytes(log(assistant("p", "m"), *records))
        os.utime(path, (1_000_000 - age, 1_000_000 - age))

    def __call__(self, *more: str | Path) -> Outcome:
        return self.cli("lab", "--sessions", self.logs, "--surface", self.surface, *more)


@pytest.fixture
def lab(cli: Cli, place: Path) -> Bench:
    bench = Bench(cli, place)
    # Named against their age: what counts is when they were written.
    bench.session("z", 20, OLDER)
    bench.session("y", 10, NEWER)
    return bench


def test_a_study_says_what_restricting_would_cost(lab: Bench) -> None:
    found = lab()
    text = found.out.decode()
    assert (found.code, found.err) == (0, "")
    for words in (
        "Metric 2: ",
        "divided by 15 successes",
        "Proposals from 1 older session, held against 1 newer one",
        '1. tighten a, "mode": keep 2 of 3 declared members ("fast", "slow"), from 9 calls',
        "of 4 held-out calls 2 would be lost, and 0 that failed anyway refused sooner",
        "2. remove b: 2 of 3 calls failed, 1.00 bits of stages",
        "of 2 held-out calls 1 would be lost, and 1 that failed anyway refused sooner",
        "The gate of that design would refuse this",
        "removal: 1 succeeded calls would be refused (b)",
        "This gate is not enough: the score falls whenever the surface shrinks",
        "Held-out trial: costly",
        "Nothing is applied",
    ):
        assert words in text, words


def test_json_holds_the_whole_study(lab: Bench) -> None:
    found = lab("--json").json
    assert list(found) == [
        "metricVersion",
        "applied",
        "sessions",
        "report",
        "parts",
        "observedIn",
        "proposals",
        "gate",
        "trial",
        "artifact",
    ]
    assert (found["metricVersion"], found["applied"]) == (2, False)
    assert found["sessions"] == {"proposing": 1, "heldOut": 1}
    assert found["proposals"] == [
        {
            "kind": "enum-tighten",
            "ref": "a",
            "key": "mode",
            "values": ["fast", "slow"],
            "declared": 3,
            "calls": 9,
            "distinct": 2,
            "topShare": 0.666667,
            "heldOut": {"samples": 4, "wins": 0, "costs": 2},
        },
        {
            "kind": "noise-quarantine",
            "ref": "b",
            "calls": 3,
            "succeeded": 1,
            "failed": 2,
            "failureStageEntropyBits": 1,
            "heldOut": {"samples": 2, "wins": 1, "costs": 1},
        },
    ]
    assert found["gate"]["passed"] is False
    assert found["gate"]["breaches"] == [
        {"ref": "b", "removed": True, "audited": False, "calls": 1, "projected": 0}
    ]
    assert found["trial"]["divergences"] == [
        {"ref": "a", "trialClass": "tightening-cost", "count": 2},
        {"ref": "b", "trialClass": "quarantine-cost", "count": 1},
        {"ref": "b", "trialClass": "quarantine-win", "count": 1},
    ]
    assert found["artifact"]["writtenTo"] is None


def test_the_report_is_the_measured_one_in_metric_2(lab: Bench) -> None:
    found = lab("--json").json["report"]
    measured = lab.cli("measure", "--sessions", lab.logs, "--surface", lab.surface, "--json").json
    assert list(found) == list(measured)
    assert (found["metricVersion"], found["totals"]) == (2, measured["totals"])
    [model] = found["byModel"]
    # One model made every call: what is said of it is said of all.
    assert model["behavioralScore"] == found["behavioralScore"] != measured["behavioralScore"]


def test_repair_rows_count_and_a_rename_is_only_shown(lab: Bench, place: Path) -> None:
    (place / "repairs.json").write_text(json.dumps(TABLE))
    plain = lab("--json").json
    found = lab("--repairs", place / "repairs.json", "--json").json
    assert (plain["report"]["lexiconRows"], found["report"]["lexiconRows"]) == (0, 1)
    assert found["proposals"][2] == {
        "kind": "modal-rename",
        "ref": "a",
        "alias": "keyAlias",
        "from": "path",
        "to": "file",
        "heldOut": {"samples": 4, "wins": 0, "costs": 4},
    }
    assert found["artifact"]["overlays"] == plain["artifact"]["overlays"] == 1
    text = lab("--repairs", place / "repairs.json").out.decode()
    assert '3. rename "path" of a to "file"' in text
    assert "never part of an artifact" in text


# Which sessions propose, and which are held out.


def sizes(lab: Bench, *more: str) -> tuple[int, int]:
    found = lab("--json", *more).json["sessions"]
    return found["proposing"], found["heldOut"]


def test_the_newest_half_is_held_out(lab: Bench) -> None:
    lab.session("x", 30, OLDER[:1])
    assert sizes(lab) == (2, 1)
    lab.session("w", 40, OLDER[:1])
    assert sizes(lab) == (2, 2)


@pytest.mark.parametrize(
    ("given", "held_out"), [("0", 0), ("1", 1), ("3", 3), (".5", 2), ("0.25", 1), ("0.2", 0)]
)
def test_a_number_or_a_share_may_be_held_out(lab: Bench, given: str, held_out: int) -> None:
    lab.session("x", 30, OLDER[:1])
    lab.session("w", 40, OLDER[:1])
    assert sizes(lab, "--hold-out", given) == (4 - held_out, held_out)


def test_sessions_without_operations_are_none(lab: Bench) -> None:
    lab.session("empty", 0, [])
    assert sizes(lab) == (1, 1)


def test_of_equal_ages_the_first_path_is_the_newer(lab: Bench) -> None:
    lab.session("z", 10, OLDER)
    found = lab("--json").json
    assert [row["kind"] for row in found["proposals"]] == ["enum-tighten", "noise-quarantine"]


@pytest.mark.parametrize("given", ["-1", "1.5", "1.0", "half", "", "nan", "1e9", "0.0000001"])
def test_anything_else_cannot_be_held_out(lab: Bench, given: str) -> None:
    lab("--hold-out", given).complains(2, "--hold-out")


def test_something_must_be_left_to_propose_from(lab: Bench) -> None:
    lab("--hold-out", "2").complains(2, "--hold-out 2", "2 sessions")


def test_without_sessions_there_is_nothing_to_say(lab: Bench, place: Path) -> None:
    (place / "none").mkdir()
    found = lab.cli("lab", "--sessions", place / "none", "--surface", lab.surface)
    assert found.code == 0
    assert "Metric 2: 0.000000" in found.out.decode()
    assert "divided by 1\n" in found.out.decode()
    assert "Held-out trial: no evidence" in found.out.decode()


# What is written.


def test_the_artifact_is_of_version_1_and_private(lab: Bench, place: Path) -> None:
    target = place / "study.json"
    found = lab("--json", "--out", target)
    found.says("wrote", str(target), "no effect")
    artifact: Any = json.loads(target.read_bytes())
    assert (artifact["version"], artifact["metricVersion"]) == (1, 2)
    assert [row["ref"] for row in artifact["actions"]] == ["a"]
    assert artifact["actions"][0]["inputSchema"]["properties"]["mode"]["enum"] == ["fast", "slow"]
    assert [row["ref"] for row in artifact["quarantined"]] == ["b"]
    assert artifact["gate"]["passed"] is False
    assert artifact["evidenceDigest"] == found.json["artifact"]["evidenceDigest"]
    assert found.json["artifact"]["writtenTo"] == str(target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert lab("--out", target).code == 0
    assert json.loads(target.read_bytes()) == artifact


def test_what_is_written_has_no_effect(lab: Bench, place: Path) -> None:
    target = place / "study.json"
    lab("--out", target)
    inputs = ("--sessions", lab.logs, "--surface", lab.surface)
    compiled = lab.cli("compile", *inputs, "--artifact", target)
    assert (compiled.json["version"], compiled.json["actions"]) == (2, [])
    assert compiled.out == lab.cli("compile", *inputs).out
    tried = lab.cli("trial", *inputs, "--artifact", target, "--json").json
    assert (tried["verdict"], tried["totals"]["tighteningCost"]) == ("no-evidence", 0)


def refused(lab: Bench, target: Path) -> None:
    lab("--out", target).complains(2, str(target), "in force")


def test_nothing_is_written_among_the_files_in_force(lab: Bench, place: Path) -> None:
    entropy = place / "home" / "entropy"
    refused(lab, entropy / "compiled.json")
    assert not entropy.exists()
    entropy.mkdir(parents=True)
    (entropy / "compiled.json").write_text("as it was")
    (place / "link.json").symlink_to(entropy / "compiled.json")
    (place / "folder").symlink_to(entropy)
    for target in (
        entropy / "compiled.json",
        entropy / ".." / "entropy" / "surface.json",
        place / "link.json",
        place / "folder" / "compiled.json",
    ):
        refused(lab, target)
    assert [path.name for path in entropy.iterdir()] == ["compiled.json"]
    assert (entropy / "compiled.json").read_text() == "as it was"


def test_an_artifact_elsewhere_may_bear_any_name(lab: Bench, place: Path) -> None:
    assert lab("--out", place / "compiled.json").code == 0


def test_a_place_that_cannot_be_written_is_one_sentence(lab: Bench, place: Path) -> None:
    (place / "directory").mkdir()
    lab("--out", place / "directory").complains(1, "directory", "cannot be written")


# Bad input.


@pytest.mark.parametrize("metric", ["1", "3", "two"])
def test_only_metric_2_is_studied(lab: Bench, metric: str) -> None:
    lab("--metric", metric).complains(2, "--metric")
    assert lab("--metric", "2").code == 0


def test_what_cannot_be_read_is_one_sentence(lab: Bench, place: Path) -> None:
    (place / "bad.json").write_text("{")
    lab("--repairs", place / "bad.json").complains(2, "bad.json", "no repairs table")
    lab("--repairs", place / "gone.json").complains(2, "gone.json", "does not exist")
    lab("--surface", place / "bad.json").complains(2, "bad.json", "no surface")
    lab("--sessions", place / "gone").complains(2, "gone", "cannot be read")


def test_names_from_logs_do_not_reach_the_terminal_raw(lab: Bench) -> None:
    ref, key = "a\x1b[31m", "mo\nde"
    schema = {"type": "object", "properties": {key: {"enum": ["\x1b[1m", "b", "c"]}}}
    lab.surface.write_bytes(surface_of(action(ref, schema)))
    calls = [call(ref, {key: value}) for value in ["\x1b[1m"] * 6 + ["b"] * 3]
    lab.session("z", 20, [audited(*calls)])
    found = lab()
    text = found.out.decode()
    assert found.code == 0 and "tighten a\\x1b[31m" in text
    assert all(line.isprintable() for line in text.splitlines())


def test_the_bundled_sessions_are_studied_in_a_process_of_their_own(
    sessions: Path, surface: Path
) -> None:
    found = process("lab", "--sessions", sessions, "--surface", surface, "--json")
    again = process("lab", "--sessions", sessions, "--surface", surface, "--json")
    assert (found.code, found.err) == (0, "")
    assert found.out == again.out
    models = found.json["report"]["byModel"]
    assert len(models) == 3 and all(row["behavioralScore"] > 0 for row in models)
