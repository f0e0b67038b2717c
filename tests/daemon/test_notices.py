"""What a compile tells: once, and only where it is news."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fabricd.core.normalform.apply import Applied, Normalizer
from fabricd.daemon.compiling.compiler import Finished
from tests.core.making import line, operation, record, trace
from tests.daemon.bench import Bench, lines
from tests.daemon.pooling import entries, header
from tests.harness import SURFACE

pytestmark = pytest.mark.asyncio

SEARCH = "mcp.demo.search"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def calls(*outcomes: str, ref: str = SEARCH, args: dict[str, Any] | None = None) -> bytes:
    """One trace; a call that is not `ok` was refused at this stage."""
    made = [
        operation(n, ref, args=args or {})
        if outcome == "ok"
        else operation(n, ref, outcome="failed", failureStage=outcome)
        for n, outcome in enumerate(outcomes)
    ]
    return line(record(trace(*made))) + b"\n"


def described(text: str) -> dict[str, Any]:
    """The surface with other words in it, so that its plans have another digest."""
    changed: dict[str, Any] = json.loads(json.dumps(SURFACE))
    changed["actions"][0]["inputSchema"]["description"] = text
    return changed


async def test_a_first_artifact_is_told_with_its_targets(bench: Bench) -> None:
    bench.declare()
    bench.append(calls("ok", "ok", "ok", "validate"))
    assert await bench.compile() == "written"
    (told,) = bench.telemetry.all("compiled")
    assert told["targets"] == [SEARCH]
    assert (told["before"], told["after"]) == (None, 0.25)
    assert 0 < told["seconds"] < 30
    assert told["notice"].startswith("compiled in ")
    assert "1 normal-form plan · score 0.250000 · safety checks passed" in told["notice"]


async def test_a_better_score_is_told_and_a_worse_or_equal_one_is_not(bench: Bench) -> None:
    bench.declare()
    bench.append(calls("ok", "validate"))
    await bench.compile()
    bench.append(calls("validate", "validate"))
    assert await bench.compile() == "written"
    assert len(bench.telemetry.all("compiled")) == 1
    assert await bench.compile() == "already_written"
    bench.append(calls("ok", "ok", "ok", "ok"))
    assert await bench.compile() == "written"
    _, told = bench.telemetry.all("compiled")
    assert (told["before"], told["after"]) == (0.75, 0.375)
    assert "score improved 0.750000 → 0.375000 (\u22120.375000; lower is better)" in told["notice"]


async def test_other_plans_are_told_whatever_the_score(bench: Bench) -> None:
    bench.declare()
    bench.append(calls("ok", "validate"))
    await bench.compile()
    bench.declare(described("other"))
    await bench.compile()
    bench.append(calls("validate"))
    bench.declare(described("again"))
    await bench.compile()
    _, same, worse = bench.telemetry.all("compiled")
    assert "score unchanged at 0.500000 (lower is better)" in same["notice"]
    assert "score changed 0.500000 → 0.666667 (+0.166667; lower is better)" in worse["notice"]


async def test_a_restart_tells_nothing_that_was_told(bench: Bench) -> None:
    bench.declare()
    bench.append(calls("ok", "validate"))
    await bench.compile()
    later = Bench(bench.homes.home.parent)
    await later.start()
    assert await later.compile() == "already_written"
    later.append(calls("ok"))
    assert await later.compile() == "written"
    (told,) = later.telemetry.all("compiled")
    assert (told["before"], told["after"]) == (0.5, 0.333333)


async def test_nothing_is_told_of_what_could_not_be_kept(bench: Bench) -> None:
    bench.declare()
    bench.append(calls("ok", "validate"))
    bench.homes.compiled.write_bytes(b"{")
    assert await bench.compile() == "artifact_damaged"
    assert bench.telemetry.all("compiled") == []
    bench.homes.compiled.unlink()
    assert await bench.compile() == "written"
    assert len(bench.telemetry.all("compiled")) == 1


def spoiled(self: Normalizer, args: dict[str, Any]) -> Applied:
    """An application that changes accepted calls."""
    if self.plan is None:
        return Applied(args)
    return Applied({**args, "query": "other"}, self.plan.rules[:1])


def audited(ref: str, args: dict[str, Any]) -> bytes:
    return line(record(trace(operation(0, ref)), [{"ref": ref, "args": args}])) + b"\n"


async def test_a_refusal_is_told_once_for_each_set_of_reasons(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.append(lines(4, 30))
    other = json.loads(json.dumps(SURFACE).replace("mcp.demo.open", "mcp.demo.other"))
    other["actions"][1]["inputSchema"] = other["actions"][0]["inputSchema"]
    told: list[int] = []
    with monkeypatch.context() as patch:
        patch.setattr(Normalizer, "apply", spoiled)
        bench.declare()
        for seed in (5, 6, 7):
            assert await bench.compile() == "refused"
            # More calls of the same action: other counts, and still the same reasons.
            bench.append(lines(seed, 5))
            told.append(len(bench.telemetry.all("gate_rejected")))
        bench.declare(other)
        bench.append(calls("ok") + audited("mcp.demo.other", {"query": "x"}))
        assert await bench.compile() == "refused"
        told.append(len(bench.telemetry.all("gate_rejected")))
        bench.declare()
        assert await bench.compile() == "refused"
        told.append(len(bench.telemetry.all("gate_rejected")))
    assert told == [1, 1, 1, 2, 2]
    reasons, more = bench.telemetry.all("gate_rejected")
    assert all(SEARCH in reason for reason in reasons) and reasons[0].startswith("acceptance: ")
    assert [reason for reason in more if "mcp.demo.other" in reason]
    assert await bench.compile() == "written"


# --- the author's review


async def test_a_review_is_told_once_although_its_evidence_grows(bench: Bench) -> None:
    bench.declare()
    for _ in range(4):
        bench.append(calls("ok", ref="mcp.demo.unheard"))
        await bench.compile()
    (told,) = bench.telemetry.all("review")
    assert told["suggestions"] == ["not-on-surface mcp.demo.unheard"]
    assert told["notice"] == "1 suggestion to review · 1 action called but not declared"
    bench.append(calls("ok", ref="mcp.demo.other"))
    await bench.compile()
    assert len(bench.telemetry.all("review")) == 2


async def test_a_review_that_comes_back_is_no_news(bench: Bench) -> None:
    bench.declare()
    path = bench.append(calls("ok", ref="mcp.demo.unheard"))
    await bench.compile()
    held = path.read_bytes()
    path.write_bytes(calls("ok"))
    await bench.compile()
    path.write_bytes(held)
    await bench.compile()
    (first,) = bench.telemetry.all("review")
    path.write_bytes(held + calls("ok", ref="mcp.demo.other"))
    await bench.compile()
    path.write_bytes(held)
    await bench.compile()
    assert len(bench.telemetry.all("review")) == 2
    assert len(first["key"]) == 64


async def test_many_suggestions_are_counted_and_the_first_are_named(bench: Bench) -> None:
    bench.declare({"version": 1, "actions": []})
    bench.append(b"".join(calls("ok", ref=f"mcp.many.a{n:03}") for n in range(150)))
    await bench.compile()
    (told,) = bench.telemetry.all("review")
    assert told["notice"].startswith("150 suggestions to review")
    assert len(told["suggestions"]) == 64


async def test_the_review_goes_by_what_the_pool_knows_of_all_sessions(bench: Bench) -> None:
    surface: dict[str, Any] = json.loads(json.dumps(SURFACE))
    surface["actions"][0]["inputSchema"]["properties"]["shared"] = {
        "type": "string",
        "x-fabric-enum-candidate": True,
    }
    bench.declare(surface)
    path = bench.append(header("s") + entries([0, 3, 6, 9, 12]))
    await bench.compile()
    assert bench.telemetry.all("review") == []
    path.unlink()
    bench.append(header("t") + entries([30, 33, 31, 32]), "b.jsonl")
    await bench.compile()
    (told,) = bench.telemetry.all("review")
    assert told["suggestions"] == [f"declare-enum {SEARCH}.shared (v0, v1, v2)"]


async def test_a_review_is_told_with_the_artifact(bench: Bench) -> None:
    bench.declare()
    bench.append(calls("ok", ref="mcp.demo.unheard") + calls("ok"))
    await bench.compile()
    (told,) = bench.telemetry.all("compiled")
    assert told["suggestions"] == 1
    assert told["notice"].endswith(" · 1 suggestion to review (fabricd report)")


# --- switched off


async def test_switched_off_nothing_is_written_and_nothing_told(tmp_path: Path) -> None:
    bench = Bench(tmp_path, enabled=False)
    await bench.start()
    bench.declare()
    bench.append(header("s") + entries(range(4)) + calls("ok", ref="mcp.demo.unheard"))
    for _ in range(2):
        assert await bench.compile() == "disabled"
    assert bench.compiler.last == Finished("disabled", "entropy.compile is false")
    assert {name for name, _ in bench.telemetry.told} == {"compile_finished"}
    assert [path.name for path in bench.homes.entropy.iterdir()] == ["surface.json"]
    assert not bench.homes.state.exists()
    assert [fields["operations"] for fields in bench.telemetry.all("compile_finished")] == [5, 5]
