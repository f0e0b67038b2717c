"""The hook that repairs beside the one that tells: each comes and goes alone."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from fabricd.daemon.hooks.agents import AGENTS, Place, place_of, repair_place_of
from fabricd.daemon.hooks.applying import carry_out, plan
from fabricd.daemon.hooks.edits import Change
from fabricd.daemon.hooks.program import words_for
from fabricd.daemon.hooks.survey import installed, repairing
from tests.daemon.hooks.placing import environment, installed_hook, present

PROGRAM = "/opt/bin/fabricd-hook"
NODE = shutil.which("node")
SETTINGS = ["claude-code", "gemini"]
PLUGINS = ["opencode", "pi"]
ORIGINALS = [
    "{}",
    "",
    '{\n  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo"}]}]}\n}\n',
    '{\n  "hooks": {\n    "PreToolUse": [\n      { "matcher": "Bash" }\n    ]\n  }\n}\n',
]


def places(tmp_path: Path, name: str) -> tuple[Place, Place]:
    """Where each of the two hooks stands."""
    env = environment(tmp_path)
    present(name, env)
    repair = repair_place_of(AGENTS[name], env, None)
    assert repair is not None
    return place_of(AGENTS[name], env, None), repair


def do(place: Place, install: bool) -> str:
    verb = "turn-end" if place.own is None else "repair"
    words = words_for(PROGRAM, place.agent.name, verb) if install else None
    planned = plan(place, words)
    if planned.changes:
        carry_out(planned)
    return planned.what


def test_codex_has_none() -> None:
    assert repair_place_of(AGENTS["codex"], {"HOME": "/home/me"}, None) is None


@pytest.mark.parametrize("name", [*SETTINGS, *PLUGINS])
def test_it_is_installed_once(tmp_path: Path, name: str) -> None:
    _, repair = places(tmp_path, name)
    assert [do(repair, install) for install in (True, True, False, False)] == [
        "installed",
        "already_installed",
        "uninstalled",
        "already_uninstalled",
    ]
    assert not repair.path.exists()


@pytest.mark.parametrize("original", ORIGINALS)
@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("gone", [0, 1])
def test_each_goes_alone_and_the_last_leaves_the_very_bytes(
    tmp_path: Path, name: str, original: str, first: int, gone: int
) -> None:
    both = places(tmp_path, name)
    both[0].path.write_text(original)
    alone = []
    for place in both:
        do(place, True)
        alone.append(place.path.read_text())
        do(place, False)
        assert place.path.read_text() == original
    do(both[first], True)
    do(both[1 - first], True)
    text = both[0].path.read_text()
    assert text.count("turn-end") == text.count(" repair ") == 1
    if gone == 1:
        assert do(both[1], False) == "uninstalled"
        assert json.loads(both[0].path.read_text()) == json.loads(alone[0])
    assert do(both[0], False) == "uninstalled"
    # Without --repair everything of ours goes.
    assert both[0].path.read_text() == original
    assert do(both[1], False) == "already_uninstalled"


@pytest.mark.parametrize("name", SETTINGS)
def test_handlers_of_others_stay(tmp_path: Path, name: str) -> None:
    _, repair = places(tmp_path, name)
    event = "PreToolUse" if name == "claude-code" else "BeforeTool"
    other = {"matcher": "mcp__.*", "hooks": [{"type": "command", "command": "theirs"}]}
    repair.path.write_text(json.dumps({"hooks": {event: [other]}}))
    do(repair, True)
    groups = json.loads(repair.path.read_text())["hooks"][event]
    assert groups[0] == other and groups[1]["matcher"] in ("mcp__.*", ".*")
    assert groups[1]["hooks"][0]["command"] == f"{PROGRAM} repair --agent {name}"
    # What somebody adds later does not bring us back.
    repair.path.write_text(repair.path.read_text().replace("theirs", "changed"))
    do(repair, False)
    other["hooks"] = [{"type": "command", "command": "changed"}]
    assert json.loads(repair.path.read_text()) == {"hooks": {event: [other]}}


@pytest.mark.parametrize("name", PLUGINS)
def test_a_plugin_of_its_own_leaves_the_other_alone(tmp_path: Path, name: str) -> None:
    turn, repair = places(tmp_path, name)
    assert turn.path != repair.path and turn.path.parent == repair.path.parent
    do(turn, True)
    do(repair, True)
    do(repair, False)
    assert turn.path.exists() and not repair.path.exists()
    repair.path.write_text("export default {};\n")
    with pytest.raises(ValueError, match="not written by fabricd"):
        do(repair, True)


@pytest.mark.parametrize("name", [*SETTINGS, *PLUGINS])
def test_a_survey_tells_of_it_where_it_is(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    [hook] = installed_hook(tmp_path, monkeypatch)
    env = environment(tmp_path)
    _, repair = places(tmp_path, name)
    assert repairing(env) == []
    carry_out(plan(repair, words_for(hook, name, "repair")))
    [state] = repairing(env)
    assert (state.agent, state.hook, state.state) == (name, "repair", "installed")
    assert state.commands == (hook,)
    turn = next(each for each in installed(env) if each.agent == name)
    assert (turn.hook, turn.state) == ("turn-end", "not_installed")


node = pytest.mark.skipif(NODE is None, reason="node is not on PATH")
# A hook that answers by what it is asked: the repair that its input names.
HOOK = """\
#!/bin/sh
input=$(cat)
printf '%s' "$input" > "$0.input"
case "$input" in
  *slow*) sleep 20 ;;
  *broken*) printf '{"arguments": ' ;;
  *list*) printf '{"arguments": [1]}' ;;
  *proto*) printf '{"arguments": {"__proto__": {"x": 1}, "n": 1}}' ;;
  *silent*) ;;
  *) printf '{"arguments": {"n": 5, "kept": [true]}}' ;;
esac
"""


def driver(tmp_path: Path, name: str, calls: str, program: str | None = None) -> None:
    """Runs JavaScript with `call(tool, args)`, which goes through the plugin's handler."""
    hook = tmp_path / "a 'b" / "fabricd-hook"
    hook.parent.mkdir()
    hook.write_text(HOOK)
    hook.chmod(0o755)
    form = AGENTS[name].repair
    assert form is not None
    edit = form.install(None, words_for(program or str(hook), name, "repair"))
    assert isinstance(edit, Change) and edit.text is not None
    (tmp_path / "plugin.mjs").write_text(edit.text)
    handler = {
        "opencode": 'const handler = (await entry.server({}))["tool.execute.before"];'
        "const call = (tool, args) => handler({ tool, sessionID: 's' }, { args });"
        "await entry.setup({}); await handler(); await handler({}, {});",
        "pi": "let handler; entry({ on: (event, f) => { "
        "if (event !== 'tool_call') throw new Error(event); handler = f; } });"
        "const call = (toolName, input) => handler({ toolName, input }); await handler();",
    }[name]
    script = tmp_path / "driver.mjs"
    script.write_text(
        'import assert from "node:assert/strict";\nimport entry from "./plugin.mjs";\n'
        f"{handler}\n{calls}\n"
    )
    done = subprocess.run(
        [str(NODE), str(script)], capture_output=True, text=True, timeout=20, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@node
@pytest.mark.parametrize("name", PLUGINS)
def test_a_plugin_changes_the_arguments_in_their_place(tmp_path: Path, name: str) -> None:
    driver(
        tmp_path,
        name,
        """
        const args = { N: "5", kept: [true] };
        // A busy machine may take longer than a call waits.
        for (let i = 0; i < 5 && "N" in args; i++) assert.equal(await call("x_t", args), undefined);
        assert.deepEqual(args, { kept: [true], n: 5 });
        """,
    )
    told = json.loads((tmp_path / "a 'b" / "fabricd-hook.input").read_text())
    assert told == {"tool_name": "x_t", "tool_input": {"N": "5", "kept": [True]}}


@node
@pytest.mark.parametrize("name", PLUGINS)
def test_a_plugin_leaves_a_call_alone_on_any_doubt(tmp_path: Path, name: str) -> None:
    driver(
        tmp_path,
        name,
        """
        for (const word of ["slow", "broken", "list", "proto", "silent"]) {
          const args = { word, N: "5" };
          assert.equal(await call("x_t", args), undefined);
          assert.deepEqual(args, { word, N: "5" });
        }
        const list = ["a"];
        for (const args of [null, undefined, "text", list, 5]) await call("x_t", args);
        assert.deepEqual(list, ["a"]);
        const ring = {};
        ring.ring = ring;
        await call("x_t", ring);
        await call(undefined, { n: 1 });
        """,
    )


@node
@pytest.mark.parametrize("name", PLUGINS)
def test_a_hook_that_is_gone_changes_nothing(tmp_path: Path, name: str) -> None:
    calls = 'const args = { n: "5" }; await call("x", args); assert.deepEqual(args, { n: "5" });'
    driver(tmp_path, name, calls, program="/no/such/fabricd-hook")
