from __future__ import annotations

from pathlib import Path

import pytest

from fabricd.daemon.hooks.agents import AGENTS, place_of
from fabricd.daemon.hooks.applying import carry_out, plan
from fabricd.daemon.hooks.program import words_for
from fabricd.daemon.hooks.survey import HookState, installed
from tests.daemon.hooks.placing import environment, installed_hook, present


def only(env: dict[str, str], name: str, project: Path | None = None) -> HookState:
    [state] = installed(env, project, [AGENTS[name]])
    return state


def test_where_no_agent_is_none_is_found_and_nothing_is_made(tmp_path: Path) -> None:
    env = environment(tmp_path)
    states = installed(env)
    assert [state.agent for state in states] == list(AGENTS)
    assert {state.state for state in states} == {"agent_not_found"}
    assert list((tmp_path / "home").iterdir()) == []


@pytest.mark.parametrize("name", AGENTS)
def test_a_hook_is_found_where_it_was_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    env = environment(tmp_path)
    [hook] = installed_hook(tmp_path, monkeypatch)
    _, place = present(name, env)
    assert only(env, name).state == "not_installed"
    carry_out(plan(place, words_for(hook, name)))
    state = only(env, name)
    assert (state.state, state.commands, state.note) == ("installed", (hook,), None)
    assert state.path == place.path
    installed_hook(tmp_path, monkeypatch, "another")
    assert (only(env, name).state, only(env, name).note) == ("another_path", None)
    Path(hook).unlink()
    state = only(env, name)
    assert (state.state, state.note) == ("another_path", f"{hook} cannot be run")
    assert only(env, name, tmp_path).state == "not_installed"


def test_an_agent_is_found_by_its_program_too(tmp_path: Path) -> None:
    env = environment(tmp_path)
    program = tmp_path / "path" / "codex"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert only(env, "codex").state == "not_installed"


def test_a_project_may_hold_a_hook_of_an_agent_that_is_not_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = environment(tmp_path)
    [hook] = installed_hook(tmp_path, monkeypatch)
    carry_out(plan(place_of(AGENTS["codex"], env, tmp_path), words_for(hook, "codex")))
    assert only(env, "codex", tmp_path).state == "installed"
    assert only(env, "codex").state == "agent_not_found"


@pytest.mark.parametrize("data", [b"{", b"\xff", b'{"hooks": 1}'])
def test_what_cannot_be_read_is_told(tmp_path: Path, data: bytes) -> None:
    env = environment(tmp_path)
    _, place = present("claude-code", env)
    place.path.write_bytes(data)
    state = only(env, "claude-code")
    assert state.state == "unreadable"
    assert state.note


def test_a_switch_that_cannot_be_read_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = environment(tmp_path)
    [hook] = installed_hook(tmp_path, monkeypatch)
    _, place = present("codex", env)
    carry_out(plan(place, words_for(hook, "codex")))
    (place.home / "config.toml").mkdir()
    assert only(env, "codex").note is None
    (place.home / "config.toml").rmdir()
    (place.home / "config.toml").write_text("[features]\nhooks = false\n")
    state = only(env, "codex")
    assert state.state == "installed"
    assert "turned off" in str(state.note)
