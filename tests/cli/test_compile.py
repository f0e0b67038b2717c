from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fabricd.core.model import Rule
from fabricd.core.normalform.apply import Applied, Normalizer
from tests.cli.running import SCHEMA, Cli, Outcome, action, surface_of
from tests.oracle import naive


def compiled(cli: Cli, sessions: Path, surface: Path, *more: str | Path) -> Outcome:
    return cli("compile", "--sessions", sessions, "--surface", surface, *more)


def test_the_artifact_holds_the_derived_plans_and_the_measured_score(
    cli: Cli, sessions: Path, surface: Path
) -> None:
    found = compiled(cli, sessions, surface)
    derived = cli("derive", surface).json
    score = naive.measure(sessions, surface)["score"]
    artifact = found.json
    assert found.code == 0
    assert artifact["normalizations"] == derived["plans"]
    assert artifact["gate"] == {
        "passed": True,
        "beforeScore": score,
        "afterScore": score,
        "reasons": [],
    }
    assert (artifact["version"], artifact["metricVersion"]) == (2, 3)
    assert artifact["actions"] == artifact["quarantined"] == []
    assert [row["ref"] for row in artifact["applied"]] == [plan["ref"] for plan in derived["plans"]]
    evidence = {"surface": derived["surfaceDigest"], "plans": derived["plans"]}
    digest = cli("digest", stdin=json.dumps(evidence).encode()).out.decode().strip()
    assert artifact["evidenceDigest"] == digest


def test_its_bytes_are_those_of_the_durable_file(cli: Cli, sessions: Path, surface: Path) -> None:
    found = compiled(cli, sessions, surface)
    plain = json.dumps(found.json, indent=2, ensure_ascii=False) + "\n"
    assert found.out.decode() == plain
    assert compiled(cli, sessions, surface).out == found.out


def test_without_a_previous_artifact_it_is_compiled_and_counted_on_stderr(
    cli: Cli, sessions: Path, surface: Path
) -> None:
    found = compiled(cli, sessions, surface)
    plans = found.json["normalizations"]
    rules = sum(len(plan["rules"]) for plan in plans)
    found.says("compiled", f"{len(plans)} plans", f"{rules} rules", "audit calls replayed")


def test_equal_plans_converge_and_the_fresh_artifact_is_printed(
    cli: Cli, sessions: Path, surface: Path, place: Path
) -> None:
    first = compiled(cli, sessions, surface)
    previous = {**first.json, "evidenceDigest": "of another surface"}
    (place / "previous.json").write_text(json.dumps(previous))
    again = compiled(cli, sessions, surface, "--artifact", place / "previous.json")
    assert (again.code, again.out) == (0, first.out)
    again.says("converged")


def test_other_plans_are_compiled_anew(
    cli: Cli, sessions: Path, surface: Path, place: Path
) -> None:
    first = compiled(cli, sessions, surface)
    previous = {**first.json, "normalizations": first.json["normalizations"][1:]}
    (place / "previous.json").write_text(json.dumps(previous))
    again = compiled(cli, sessions, surface, "--artifact", place / "previous.json")
    assert (again.code, again.out) == (0, first.out)
    again.says("compiled")


def test_a_surface_without_plans_converges_on_an_empty_artifact(
    cli: Cli, sessions: Path, place: Path
) -> None:
    (place / "surface.json").write_bytes(surface_of())
    found = compiled(cli, sessions, place / "surface.json")
    assert found.code == 0 and found.json["normalizations"] == []
    found.says("converged", "0 plans")


def test_a_window_decides_the_score_alone(cli: Cli, sessions: Path, surface: Path) -> None:
    whole = compiled(cli, sessions, surface).json
    newest = compiled(cli, sessions, surface, "--window", "1").json
    measured = cli(
        "measure", "--sessions", sessions, "--surface", surface, "--window", "1", "--json"
    ).json
    assert newest["gate"]["beforeScore"] == measured["score"] != whole["gate"]["beforeScore"]
    assert newest["normalizations"] == whole["normalizations"]


def sabotage(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plans that change what their schema accepts."""

    def apply(self: Normalizer, args: dict[str, Any]) -> Applied:
        return Applied({**args, "limit": 1}, (Rule("numeric-string", "limit"),))

    monkeypatch.setattr(Normalizer, "apply", apply)


def test_a_refused_gate_prints_the_previous_artifact_and_exits_1(
    cli: Cli, sessions: Path, surface: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = compiled(cli, sessions, surface)
    previous = {**first.json, "evidenceDigest": "the one before"}
    (place / "previous.json").write_text(json.dumps(previous, indent=2) + "\n")
    sabotage(monkeypatch)
    refused = compiled(cli, sessions, surface, "--artifact", place / "previous.json")
    assert refused.code == 1
    assert refused.out == (place / "previous.json").read_bytes()
    refused.says("refused", "identity", "accepted calls would change", "pi.bash")


def test_a_refused_gate_without_a_previous_artifact_prints_none(
    cli: Cli, sessions: Path, surface: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sabotage(monkeypatch)
    compiled(cli, sessions, surface).complains(1, "refused", "identity")


def test_a_ref_with_control_characters_does_not_reach_the_terminal(
    cli: Cli, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ref = "mcp.\x1b[31m\nred"
    (place / "logs").mkdir()
    (place / "surface.json").write_bytes(surface_of(action(ref)))
    (place / "logs" / "a.jsonl").write_bytes(_audited(ref, {"query": "a"}))
    sabotage(monkeypatch)
    compiled(cli, place / "logs", place / "surface.json").complains(1, "refused", "red")


def _audited(ref: str, args: dict[str, Any]) -> bytes:
    call = {"type": "call", "sequence": 0, "ref": ref, "args": args, "outcome": "succeeded"}
    counts = ("droppedValues", "truncatedValues", "redactedValues", "droppedOperations")
    trace = {
        "kind": "pi-fabric.execution",
        "version": 1,
        "outcome": "succeeded",
        "phases": [],
        "operations": [call],
        "counts": dict.fromkeys(counts, 0),
    }
    details = {"trace": trace, "audits": [{"ref": ref, "args": args}]}
    return json.dumps({"type": "custom", "details": details}).encode() + b"\n"


def test_actions_beyond_the_first_1000_are_said(cli: Cli, place: Path) -> None:
    (place / "logs").mkdir()
    actions = [action(f"a{number:04}") for number in range(1001)]
    (place / "surface.json").write_bytes(surface_of(*actions))
    found = compiled(cli, place / "logs", place / "surface.json")
    assert len(found.json["normalizations"]) == 1000
    assert "1,000" in found.err and "1 action" in found.err


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not JSON"),
        (b"\xff", "not UTF-8"),
        (b"[]", "artifact"),
        (b'{"version":3}', "artifact"),
        (surface_of(action("a", SCHEMA)), "artifact"),
        (b"[" * 1000, "64"),
    ],
)
def test_a_previous_artifact_that_is_none_is_one_sentence(
    cli: Cli, sessions: Path, surface: Path, place: Path, data: bytes, words: str
) -> None:
    (place / "previous.json").write_bytes(data)
    compiled(cli, sessions, surface, "--artifact", place / "previous.json").complains(
        2, str(place / "previous.json"), words
    )
    compiled(cli, sessions, surface, "--artifact", place / "no.json").complains(2, "no.json")
