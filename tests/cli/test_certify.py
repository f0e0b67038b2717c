"""`fabricd certify`: the laws, a recorded corpus, and a certificate that is the same everywhere."""

from __future__ import annotations

import json
import os
import random
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fabricd.core.certifying.certify import FIXED, ON_A_CORPUS
from fabricd.core.certifying.claims import Check, Claim, Claims
from fabricd.core.certifying.laws import Laws
from tests.cli.running import Cli, Outcome, action, process, surface_of
from tests.cli.test_compile import compiled, sabotage
from tests.harness import ROOT, SURFACE, prose_line, trace_line


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of the fixed checks, where a test is about a corpus or about the command."""

    def holds() -> Claims:
        yield Claim("one", 1, 1)

    def checks(_: Laws) -> tuple[Check, ...]:
        return Check("cut-invariance", "cuts", holds), Check("metric-v3-exact", "figures", holds)

    monkeypatch.setattr("fabricd.daemon.offline.certifying.fixed_checks", checks)


def findings(outcome: Outcome) -> dict[str, Any]:
    """Passed or not, by id."""
    return {row["id"]: row["passed"] for row in outcome.json["evaluation"]["checks"]}


def test_all_laws_hold(cli: Cli) -> None:
    found = cli("certify")
    lines = found.out.decode().splitlines()
    assert (found.code, found.err) == (0, "")
    assert [line.split()[:2] for line in lines[:-2]] == [["ok", name] for name in FIXED]
    assert lines[-2:] == ["", f"all {len(FIXED)} checks passed"]


def test_a_certificate_is_the_same_in_another_place_and_process(
    sessions: Path, surface: Path, place: Path
) -> None:
    options = ("--sessions", sessions, "--surface", surface, "--trial", "--json")
    first = process("certify", *options, "-", PYTHONHASHSEED="1", LC_ALL="C")
    assert (first.code, first.err) == (0, "")
    second = process("certify", *options, place / "c.json", PYTHONHASHSEED="2", TZ="Asia/Tokyo")
    assert second.code == 0 and second.out.endswith(b"all 34 checks passed\n")
    second.says("wrote", "c.json")
    assert (place / "c.json").read_bytes() == first.out
    for path in (str(sessions), str(place), os.getcwd(), str(Path.home())):
        assert path not in first.out.decode()


def test_the_certificate_of_a_corpus(cli: Cli, quick: None, sessions: Path, surface: Path) -> None:
    found = cli("certify", "--sessions", sessions, "--surface", surface, "--trial", "--json", "-")
    value = found.json
    assert (found.code, found.err) == (0, "")
    assert found.out.decode() == json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    members = ["kind", "version", "metricVersion", "fabricd", "fixtures"]
    assert list(value) == [*members, "corpus", "surface", "trial", "evaluation"]
    assert (value["kind"], value["version"]) == ("fabricd.certification", 1)
    measured = cli("measure", "--sessions", sessions, "--surface", surface, "--json").json
    assert value["corpus"]["score"] == measured["score"]
    assert value["corpus"]["operations"] == measured["totals"]["operations"]
    derived = cli("derive", surface).json
    assert value["surface"]["digest"] == derived["surfaceDigest"]
    assert value["surface"]["plans"] == len(derived["plans"])
    assert value["surface"]["withoutPlan"] == len(derived["withoutPlan"])
    tried = cli("trial", "--sessions", sessions, "--surface", surface, "--json").json
    assert value["trial"] == tried
    names = ["metric-v3-exact", "cut-invariance", "corpus-mode", "trial-mode", "trial-costs"]
    assert list(findings(found)) == names
    assert value["evaluation"]["passed"] is True and value["evaluation"]["failed"] == []


def test_less_of_a_corpus_is_less_of_a_certificate(
    cli: Cli, quick: None, sessions: Path, surface: Path
) -> None:
    bare = cli("certify", "--json", "-").json
    assert not {"corpus", "surface", "trial"} & set(bare)
    alone = cli("certify", "--sessions", sessions, "--json", "-")
    assert "corpus" in alone.json and not {"surface", "trial"} & set(alone.json)
    assert list(findings(alone))[2:] == ["corpus-mode"]
    declared = cli("certify", "--sessions", sessions, "--surface", surface, "--json", "-")
    assert "surface" in declared.json and "trial" not in declared.json
    assert list(findings(declared))[2:] == ["corpus-mode"]


def test_an_artifact_is_held_against_the_live_surface(
    cli: Cli, quick: None, sessions: Path, surface: Path, place: Path
) -> None:
    theirs = place / "artifact.json"
    options = ("--sessions", sessions, "--surface", surface, "--trial", "--artifact", theirs)
    made = compiled(cli, sessions, surface).json
    theirs.write_text(json.dumps(made))
    found = cli("certify", *options, "--json", "-")
    assert found.code == 0 and findings(found)["artifact-mode"]
    assert found.json["artifact"]["plans"] == len(made["normalizations"])
    made["normalizations"][0]["ref"] = "mcp.\x1b[31m"
    theirs.write_text(json.dumps(made))
    found = cli("certify", *options)
    assert found.code == 1 and b"\x1b" not in found.out
    line = next(row for row in found.out.decode().splitlines() if "artifact-mode" in row)
    assert line.startswith("FAILED  artifact-mode") and 'found ["mcp.\\u001b[31m"]' in line


def test_a_corpus_without_operations_fails(cli: Cli, quick: None, place: Path) -> None:
    (place / "logs").mkdir()
    found = cli("certify", "--sessions", place / "logs")
    assert (found.code, found.err) == (1, "")
    text = found.out.decode()
    assert "FAILED  corpus-mode" in text and "expected true, found false" in text
    assert text.endswith("1 of 3 checks failed: corpus-mode\n")
    silent = cli("certify", "--sessions", place / "logs", "--json", "-")
    assert silent.code == 1 and silent.json["evaluation"]["failed"] == ["corpus-mode"]
    silent.says("1 of 3 checks failed: corpus-mode")


def test_a_log_that_cannot_be_read_fails(
    cli: Cli, quick: None, sessions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fabricd.daemon.offline import measuring as offline

    scan = offline.scan
    first: list[bytes] = []

    def scan_but_one(path: bytes, progress: offline.Progress | None = None) -> offline.Evidence:
        first.append(path)
        if path == first[0]:
            raise PermissionError(13, "Permission denied")
        return scan(path, progress)

    monkeypatch.setattr(offline, "scan", scan_but_one)
    found = cli("certify", "--sessions", sessions, "--json", "-")
    assert found.code == 1 and found.json["corpus"]["unread"] == 1
    assert "Permission denied" in found.err and "corpus-mode" in found.err


def test_a_log_that_vanishes_meanwhile_is_one_sentence(
    cli: Cli, quick: None, sessions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(_: bytes) -> None:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr("fabricd.daemon.offline.certifying.recorded", gone)
    cli("certify", "--sessions", sessions).complains(2, "cannot be read again", "No such file")


def test_plans_that_cost_something_fail(
    cli: Cli, sessions: Path, surface: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sabotage(monkeypatch)
    options = ("--sessions", sessions, "--surface", surface, "--trial")
    found = cli("certify", *options, "--json", "-")
    assert found.code == 1
    failed = set(found.json["evaluation"]["failed"])
    assert {"trial-costs", "canonical-identity", "static-preservation"} <= failed
    assert not {"metric-v3-exact", "corpus-mode", "cut-invariance"} & failed


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--surface"], "--surface needs --sessions"),
        (["--trial"], "--trial needs"),
        (["--sessions", "--trial"], "--trial needs"),
        (["--surface", "--trial"], "--surface needs"),
        (["--artifact"], "--artifact needs --trial"),
        (["--sessions", "--surface", "--artifact"], "--artifact needs --trial"),
    ],
)
def test_options_that_need_others_are_a_usage_error(
    cli: Cli, sessions: Path, surface: Path, options: list[str], words: str
) -> None:
    values = {"--sessions": [sessions], "--surface": [surface], "--artifact": [surface]}
    given = [part for name in options for part in (name, *values.get(name, []))]
    cli("certify", *given).complains(2, words)


def test_input_that_is_unusable_is_one_sentence(
    cli: Cli, quick: None, sessions: Path, surface: Path, place: Path
) -> None:
    (place / "no.json").write_text("{")
    cli("certify", "--sessions", place / "none").complains(2, "none", "cannot be read")
    both = ("certify", "--sessions", sessions, "--surface")
    cli(*both, place / "no.json").complains(2, "no.json is no surface")
    cli(*both, place / "none.json").complains(2, "none.json does not exist")
    tried = (*both, surface, "--trial", "--artifact")
    cli(*tried, place / "no.json").complains(2, "no.json is no artifact")


def test_a_certificate_that_cannot_be_written_is_said(cli: Cli, quick: None, place: Path) -> None:
    (place / "file").write_text("")
    found = cli("certify", "--json", place / "file" / "c.json")
    assert found.code == 1 and b"all 2 checks passed" in found.out
    found.says("cannot be written")
    assert cli("certify", "--json", place).code == 1


def test_a_device_is_written_to_and_not_replaced(cli: Cli, quick: None) -> None:
    assert cli("certify", "--json", "/dev/null").code == 0
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_certificate_makes_no_directory_and_replaces_nothing_in_force(
    cli: Cli, quick: None, place: Path
) -> None:
    found = cli("certify", "--json", place / "x" / "y" / "z.json")
    assert found.code == 1
    found.says("cannot be written", f"there is no directory {place / 'x' / 'y'}")
    assert not (place / "x").exists()
    compiled = place / "home" / "entropy" / "compiled.json"
    cli("certify", "--json", compiled).complains(2, str(compiled), "in force")


def test_what_lies_in_the_current_directory_is_not_run(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("json.py", "locale.py"):
        (place / name).write_text("raise SystemExit(9)\n")
    from fabricd.core.certifying.claims import finding_steps
    from fabricd.core.steps import finish
    from fabricd.daemon.offline.certifying import fixed_checks

    monkeypatch.chdir(place)
    check = next(check for check in fixed_checks() if check.id == "locale-invariance")
    assert finish(finding_steps(check)).passed


def test_a_surface_that_none_of_the_calls_is_on_cannot_be_tried(
    cli: Cli, quick: None, sessions: Path, place: Path
) -> None:
    (place / "surface.json").write_bytes(surface_of(action("mcp.nobody.calls")))
    options = ("--sessions", sessions, "--surface", place / "surface.json", "--trial")
    found = cli("certify", *options, "--json", "-")
    assert found.code == 1 and found.json["evaluation"]["failed"] == ["trial-mode"]


# --- the page about CI


PAGE = (ROOT / "docs" / "ci.md").read_text()


def block(language: str) -> str:
    """The one code block of a language on the page."""
    found = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert len(found) == 1
    return str(found[0])


def test_the_page_explains_every_check() -> None:
    explained = re.findall(r"`([a-z0-9-]+)`", PAGE.split("## What the checks mean")[1])
    assert set(explained) >= {*FIXED, *ON_A_CORPUS}


def test_the_commands_of_the_workflow_run(
    cli: Cli,
    quick: None,
    sessions: Path,
    surface: Path,
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (place / "corpus").mkdir()
    (place / "corpus" / "sessions").symlink_to(sessions)
    (place / "corpus" / "surface.json").symlink_to(surface)
    monkeypatch.chdir(place)
    workflow = block("yaml")
    commands = re.findall(r"^ +run: fabricd (.*)$", workflow, re.MULTILINE)
    assert [command.split()[0] for command in commands] == ["certify", "trial"]
    for command in commands:
        assert cli(*command.split()).code == 0
    kept = re.search(r"path: (.*)$", workflow, re.MULTILINE)
    assert kept is not None and (place / kept[1]).is_file()


def test_a_reduced_corpus_says_the_same_and_holds_no_prose(cli: Cli, place: Path) -> None:
    rng = random.Random(7)
    full, kept = place / "full" / "project", place / "kept"
    full.mkdir(parents=True)
    lines = [line for _ in range(30) for line in (prose_line(rng), trace_line(rng))]
    (full / "a.jsonl").write_bytes(b"\n".join(lines) + b"\nno JSON\n")
    (place / "surface.json").write_text(json.dumps(SURFACE))
    (place / "keep.py").write_text(block("python"))
    tool = (sys.executable, place / "keep.py", full.parent)
    subprocess.run([*tool, kept], check=True)
    assert b"words" in (full / "a.jsonl").read_bytes()
    assert b"words" not in (kept / "a.jsonl").read_bytes()
    found = [
        cli(name, "--sessions", folder, "--surface", place / "surface.json", "--json").json
        for name in ("measure", "trial")
        for folder in (full.parent, kept)
    ]
    assert found[0] == found[1] and found[0]["totals"]["traces"] == 30
    assert found[2] == found[3] and found[2]["totals"]["normalizationWin"] > 0
    subprocess.run([*tool, place / "mine", "mcp.demo.search"], check=True)
    mine = cli("measure", "--sessions", place / "mine", "--json").json
    assert [row["ref"] for row in mine["refs"]] == ["mcp.demo.search"]
    assert not mine.get("skipped") and mine["totals"]["traces"] == 30
