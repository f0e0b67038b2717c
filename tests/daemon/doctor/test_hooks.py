from __future__ import annotations

from pathlib import Path

import pytest

from fabricd.daemon.doctor.hooks import judge, look
from fabricd.daemon.doctor.subject import subject
from fabricd.daemon.hooks.agents import AGENTS, repair_place_of
from fabricd.daemon.hooks.applying import carry_out, plan
from fabricd.daemon.hooks.program import words_for
from fabricd.daemon.hooks.survey import HookState, State

WHERE = Path("/home/me/.pi/agent/extensions/fabricd.ts")


def state(state: State, note: str | None = None) -> HookState:
    return HookState("pi", "Pi", "user", WHERE, state, (), note)


@pytest.mark.parametrize(
    ("found", "expected", "words"),
    [
        (state("installed"), "ok", str(WHERE)),
        (state("installed", "hooks are switched off"), "warning", "switched off"),
        (state("not_installed"), "ok", "fabricd hook install pi"),
        (state("another_path"), "warning", "another installation"),
        (state("another_path", "/gone cannot be run"), "warning", "/gone"),
        (state("unreadable", "it is not JSON"), "warning", "not JSON"),
    ],
)
def test_a_hook_is_judged_by_whether_it_would_run(
    found: HookState, expected: str, words: str
) -> None:
    check = judge(found)
    assert check is not None
    assert (check.id, check.state) == ("hook-pi", expected) and words in check.found
    assert (check.cure is None) == (expected == "ok")


def test_an_agent_that_is_not_here_is_not_worth_a_line() -> None:
    assert judge(state("agent_not_found")) is None


def test_agents_of_a_home_are_looked_for_there(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "FABRICD_SOCKET": "/tmp/no-such-socket-of-ours", "PATH": ""}
    assert [*look(subject(env, "0.1.0", 0.1))] == []
    (tmp_path / ".pi" / "agent").mkdir(parents=True)
    assert [check.id for check in look(subject(env, "0.1.0", 0.1))] == ["hook-pi"]


def test_the_hook_that_repairs_has_a_line_of_its_own_where_it_is(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "FABRICD_SOCKET": "/tmp/no-such-socket-of-ours", "PATH": ""}
    place = repair_place_of(AGENTS["pi"], env, None)
    assert place is not None
    carry_out(plan(place, words_for("/gone/fabricd-hook", "pi", "repair")))
    checks = {check.id: check for check in look(subject(env, "0.1.0", 0.1))}
    assert list(checks) == ["hook-pi", "hook-pi-repair"]
    found = checks["hook-pi-repair"]
    assert found.state == "warning" and "--repair" in str(found.cure)
