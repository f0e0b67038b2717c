from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from fabricd.daemon.cli.root import cli as root
from tests.cli.running import Cli
from tests.harness import ROOT

# What no prompt may wait for.
HEAVY = ("pydantic", "anyio", "structlog", "rich", "jsonschema_rs", "watchfiles", "orjson")

bash = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")


def every_command(
    group: click.Group = root, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from every_command(command, (*path, name))


Commands = dict[tuple[str, ...], click.Command]


@pytest.fixture(scope="module")
def commands() -> Commands:
    """Every command there is, by its path."""
    return dict(every_command())


@pytest.fixture
def installed(place: Path) -> dict[str, str]:
    """An environment in which `fabricd` is on the path."""
    script = place / "bin" / "fabricd"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m fabricd "$@"\n')
    script.chmod(0o755)
    path = f"{script.parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT / "src")}


def answers(environment: dict[str, str], *words: str, protocol: str = "bash_complete") -> list[str]:
    """What completing the last of the words offers."""
    done = subprocess.run(
        ["fabricd"],
        env={
            **environment,
            "_FABRICD_COMPLETE": protocol,
            "COMP_WORDS": " ".join(["fabricd", *words]),
            # fish names the word itself.
            "COMP_CWORD": words[-1] if protocol.startswith("fish") else str(len(words)),
        },
        executable=shutil.which("fabricd", path=environment["PATH"]),
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script_that_asks_fabricd(cli: Cli, shell: str) -> None:
    found = cli("completions", shell)
    assert (found.code, found.err) == (0, "")
    assert f"_FABRICD_COMPLETE={shell}_complete".encode() in found.out
    assert found.out.endswith(b"\n") and b"%(" not in found.out


def test_fish_is_told_the_whole_description(cli: Cli) -> None:
    assert b'(string split --max 1 "," $completion)' in cli("completions", "fish").out


def test_other_shells_are_refused(cli: Cli) -> None:
    cli("completions", "csh").complains(2, "csh", "bash", "zsh", "fish")
    cli("completions").complains(2, "SHELL", "bash, zsh, fish")


def test_the_script_needs_no_bash_to_be_written(place: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "fabricd", "completions", "bash"],
        env={**os.environ, "PATH": str(place), "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        timeout=20,
        check=True,
    )
    assert done.stderr == b"" and b"complete -o nosort" in done.stdout


@bash
@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["re"], {"report", "repairs"}),
        (["config", ""], {"check", "path", "schema", "show"}),
        (["config", "s"], {"schema", "show"}),
        (["report", "--pro"], {"--project", "--processes"}),
        (["config", "show", "--no-"], {"--no-compile", "--no-force-polling"}),
        (["run", "--log-level", "w"], {"warning"}),
        (["completions", ""], {"bash", "zsh", "fish"}),
        (["lab", "--metric", ""], {"2"}),
        # A directory, a file: the shell's business.
        (["measure", "--sessions", "x"], {"<dirnames>"}),
        (["measure", "--surface", "x"], {"<default>"}),
        (["run", "--log-file", "x"], {"<default>"}),
        (["digest", "x"], {"<default>"}),
        (["import", "a.json", "x"], {"<default>"}),
        (["report", "--project", "x"], {"<dirnames>"}),
    ],
    # Sets have no order, and ids must be the same in every process.
    ids=lambda value: " ".join(sorted(value) if isinstance(value, set) else value),
)
def test_the_function_that_bash_calls_offers_what_fits(
    installed: dict[str, str], words: list[str], wanted: set[str]
) -> None:
    script = """
        source <(fabricd completions bash) || exit 1
        complete -p fabricd >/dev/null || exit 1
        compopt() { COMPREPLY+=("<$2>"); }
        COMP_WORDS=(fabricd "$@"); COMP_CWORD=$#
        _fabricd_completion fabricd
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    done = subprocess.run(
        ["bash", "--norc", "-c", script, "bash", *words],
        env=installed,
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    assert done.stderr == ""
    found = set(done.stdout.split())
    assert found >= wanted if words == ["re"] else found == wanted


def test_the_other_protocols_tell_what_a_command_is_for(installed: dict[str, str]) -> None:
    zsh = answers(installed, "statu", protocol="zsh_complete")
    assert zsh == ["plain", "status", "Ask the running daemon how it is."]
    fish = answers(installed, "statu", protocol="fish_complete")
    assert fish == ["plain,status\tAsk the running daemon how it is."]


def test_every_command_is_offered(installed: dict[str, str], commands: Commands) -> None:
    assert answers(installed, "") == [f"plain,{name}" for (name, *rest) in commands if not rest]
    for path, command in commands.items():
        if isinstance(command, click.Group):
            inner = sorted(p[-1] for p in commands if p[:-1] == path)
            assert sorted(answers(installed, *path, "")) == [f"plain,{name}" for name in inner]


def test_completing_never_pays_for_what_only_running_needs(commands: Commands) -> None:
    paths = [" ".join(path) for path in commands]
    script = (
        "import sys\n"
        "from click.shell_completion import get_completion_class\n"
        "from fabricd.daemon.cli.root import cli\n"
        "asked = get_completion_class('bash')(cli, {}, 'fabricd', '_FABRICD_COMPLETE')\n"
        f"for path in {paths!r}:\n"
        "    assert asked.get_completions(path.split(), '--'), path\n"
        f"    loaded = [name for name in {HEAVY!r} if name in sys.modules]\n"
        "    assert not loaded, (path, loaded)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert done.returncode == 0, done.stderr
