from __future__ import annotations

import json
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from fabricd.daemon.hooks.agents import AGENTS
from fabricd.daemon.hooks.edits import Change, Form, Refused, Same, Unfit
from fabricd.daemon.hooks.program import words_for

NODE = shutil.which("node")
NAMES = ["opencode", "pi"]
WORDS = words_for("/opt/bin/fabricd-hook", "x")


def form_of(name: str) -> Form:
    return AGENTS[name].form


def source(name: str, program: str = "/opt/bin/fabricd-hook") -> str:
    edit = form_of(name).install(None, words_for(program, name))
    assert isinstance(edit, Change) and edit.text is not None
    assert edit.what == "installed"
    return edit.text


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_ours_comes_stays_changes_and_goes(name: str) -> None:
    form, text = form_of(name), source(name)
    words = words_for("/opt/bin/fabricd-hook", name)
    other = words_for("/another/fabricd-hook", name)
    assert form.commands(text) == (words,)
    assert form.install(text, words) == Same("already_installed")
    updated = form.install(text, other)
    assert isinstance(updated, Change) and updated.what == "updated"
    assert form.commands(updated.text) == (other,)
    assert form.uninstall(text) == Change(None, "uninstalled")
    assert form.uninstall(None) == Same("already_uninstalled")
    assert form.commands(None) == ()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", ["", "export default {};\n", "\n// fabricd-hook: written by\n"])
def test_a_file_without_our_mark_is_left_alone(name: str, text: str) -> None:
    form = form_of(name)
    for edit in (form.install(text, WORDS), form.uninstall(text)):
        assert isinstance(edit, Refused)
        assert "not written by fabricd" in edit.reason
    with pytest.raises(Unfit):
        form.commands(text)


@pytest.mark.parametrize(
    "command", ["const COMMAND = [];", "const COMMAND = [", 'const X = ["a"];']
)
def test_our_mark_over_another_command_is_ours_but_cannot_be_told(command: str) -> None:
    form, lines = form_of("pi"), source("pi").splitlines(keepends=True)
    text = "".join(f"{command}\n" if line.startswith("const COMMAND") else line for line in lines)
    with pytest.raises(Unfit, match="install it again"):
        form.commands(text)
    assert isinstance(form.install(text, WORDS), Change)
    assert form.uninstall(text) == Change(None, "uninstalled")


def test_an_editor_that_changed_line_ends_changed_no_owner() -> None:
    text = "\ufeff" + source("pi").replace("\n", "\r\n")
    assert form_of("pi").commands(text) == (words_for("/opt/bin/fabricd-hook", "pi"),)


@pytest.mark.parametrize("name", NAMES)
def test_no_path_can_break_out_of_its_string(name: str) -> None:
    program = "/a\"b\\c\u2028`${d}`'/fabricd-hook"
    text = source(name, program)
    assert form_of(name).commands(text) == (words_for(program, name),)
    assert text.isascii()


node = pytest.mark.skipif(NODE is None, reason="node is not on PATH")


def run(folder: Path, script: str) -> None:
    path = folder / "driver.mjs"
    path.write_text(script)
    done = subprocess.run(
        [str(NODE), str(path)], capture_output=True, text=True, timeout=20, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def installed(folder: Path, name: str, program: str | None = None) -> tuple[str, Path]:
    """The module and where the calls of the program it runs are recorded."""
    calls, hook = folder / "calls", folder / "a 'b" / "fabricd-hook"
    hook.parent.mkdir()
    # One write a call: several may run at once.
    hook.write_text(f'#!/bin/sh\nprintf \'%s\\n\' "$*" >> "{calls}"\n')
    hook.chmod(0o755)
    (folder / "plugin.mjs").write_text(source(name, program or str(hook)))
    return "./plugin.mjs", calls


def recorded(calls: Path, count: int) -> list[str]:
    ends = time.monotonic() + 10
    while time.monotonic() < ends:
        lines = calls.read_text().splitlines() if calls.exists() else []
        if len(lines) >= count:
            return sorted(lines)
        time.sleep(0.01)
    raise AssertionError(f"{calls} never held {count} lines")


@node
@pytest.mark.parametrize("name", NAMES)
def test_it_is_javascript(tmp_path: Path, name: str) -> None:
    path = tmp_path / "plugin.mjs"
    path.write_text(source(name, "/a\"b\\c\u2028`${d}`'/fabricd-hook"))
    subprocess.run([str(NODE), "--check", str(path)], timeout=20, check=True)


@node
def test_opencode_1_tells_when_a_session_is_idle(tmp_path: Path) -> None:
    module, calls = installed(tmp_path, "opencode")
    run(
        tmp_path,
        f"""
        import plugin from {json.dumps(module)};
        if (typeof plugin.id !== "string") throw new Error("no id");
        const hooks = await plugin.server({{ directory: "/repo" }});
        const idle = {{ type: "session.idle", properties: {{ sessionID: "s 1" }} }};
        await hooks.event({{ event: idle }});
        await hooks.event({{ event: {{ type: "session.updated", properties: {{}} }} }});
        await hooks.event(undefined);
        await hooks.event({{}});
        """,
    )
    assert recorded(calls, 1) == ["turn-end --agent opencode --session=s 1 --cwd=/repo"]


@node
def test_opencode_2_tells_when_an_execution_ends(tmp_path: Path) -> None:
    module, calls = installed(tmp_path, "opencode")
    run(
        tmp_path,
        f"""
        import plugin from {json.dumps(module)};
        async function* events() {{
          yield {{ type: "session.idle", data: {{ sessionID: "no" }} }};
          yield {{ type: "session.execution.succeeded", data: {{ sessionID: "a" }} }};
          yield {{ type: "session.execution.failed", data: {{ sessionID: "b" }},
                   location: {{ directory: "/its" }} }};
          yield undefined;
          yield {{ type: "session.execution.interrupted" }};
          throw new Error("the stream broke");
        }}
        const host = {{ event: {{ subscribe: events }}, location: {{ directory: "/repo" }} }};
        const end = await plugin.setup(host);
        await new Promise((resolve) => setTimeout(resolve, 50));
        await end();
        """,
    )
    assert recorded(calls, 3) == [
        "turn-end --agent opencode --cwd=/repo",
        "turn-end --agent opencode --session=a --cwd=/repo",
        "turn-end --agent opencode --session=b --cwd=/its",
    ]


@node
def test_a_host_without_events_is_no_reason_to_fail(tmp_path: Path) -> None:
    module, _ = installed(tmp_path, "opencode")
    run(
        tmp_path,
        f"""
        import plugin from {json.dumps(module)};
        const broken = {{ subscribe() {{ throw new Error("broken"); }} }};
        const hosts = [undefined, {{}}, {{ event: {{}} }}, {{ event: broken }},
                       {{ event: {{ subscribe: () => undefined }} }}];
        for (const host of hosts) await plugin.setup(host);
        await (await plugin.server(undefined)).event({{ event: {{ type: "session.idle" }} }});
        """,
    )


@node
def test_pi_tells_the_session_and_its_file(tmp_path: Path) -> None:
    module, calls = installed(tmp_path, "pi")
    run(
        tmp_path,
        f"""
        import extension from {json.dumps(module)};
        const handlers = {{}};
        extension({{ on: (name, handler) => {{ handlers[name] = handler; }} }});
        const context = {{
          cwd: "/repo",
          sessionManager: {{ getSessionId: () => "s", getSessionFile: () => "/log.jsonl" }},
        }};
        handlers.turn_end({{ turnIndex: 0 }}, context);
        handlers.turn_end({{}}, {{ sessionManager: {{ getSessionFile: () => undefined }} }});
        handlers.turn_end({{}}, {{ get cwd() {{ throw new Error("gone"); }} }});
        handlers.turn_end();
        """,
    )
    assert recorded(calls, 3) == [
        "turn-end --agent pi",
        "turn-end --agent pi",
        "turn-end --agent pi --session=s --transcript=/log.jsonl --cwd=/repo",
    ]


@node
@pytest.mark.parametrize("name", NAMES)
def test_a_hook_that_is_gone_is_no_reason_to_fail(tmp_path: Path, name: str) -> None:
    module, _ = installed(tmp_path, name, program="/no/such/fabricd-hook")
    calls: dict[str, Any] = {
        "opencode": '(await entry.server({})).event({ event: { type: "session.idle" } });',
        "pi": "entry({ on: (_, handler) => handler({}, { cwd: 'a\\0b' }) });"
        "entry({ on: (_, handler) => handler({}, {}) });",
    }
    run(tmp_path, f"import entry from {json.dumps(module)};\n{calls[name]}\n")
