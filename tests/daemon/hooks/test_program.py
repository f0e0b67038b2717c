from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fabricd.daemon.hooks.program import NoHook, find, is_ours, line_of, ours, words_for

WORDS = ("/opt/my tools/fabricd-hook", "turn-end", "--agent", "pi")


def executable(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_the_one_beside_the_interpreter_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "here" / "python"))
    env = {"PATH": str(tmp_path / "there")}
    with pytest.raises(NoHook, match=r"neither beside .* nor on PATH"):
        find(env)
    there = executable(tmp_path / "there" / "fabricd-hook")
    assert find(env) == there
    here = executable(tmp_path / "here" / "fabricd-hook")
    assert find(env) == here
    Path(here).chmod(0o644)
    assert find(env) == there


def test_a_path_that_no_configuration_can_hold_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "\udcff" / "python"))
    executable(tmp_path / "\udcff" / "fabricd-hook")
    with pytest.raises(NoHook, match="UTF-8"):
        find({})


def test_a_line_that_was_written_is_known_again() -> None:
    assert words_for("/x/fabricd-hook", "codex") == (
        "/x/fabricd-hook",
        "turn-end",
        "--agent",
        "codex",
    )
    assert line_of(WORDS) == "'/opt/my tools/fabricd-hook' turn-end --agent pi"
    assert ours(line_of(WORDS)) == WORDS


@pytest.mark.parametrize(
    "line",
    [
        "",
        "'unclosed",
        "fabricd-hook",
        "fabricd-hook codex-notify",
        "/x/fabricd-hooks turn-end",
        "/x/my-fabricd-hook turn-end",
        "echo fabricd-hook turn-end",
        "env A=b fabricd-hook turn-end",
        "fabricd-hook; turn-end",
    ],
)
def test_what_others_wrote_is_not_ours(line: str) -> None:
    assert ours(line) is None


def test_ours_is_ours_wherever_it_is_installed() -> None:
    for path in ("fabricd-hook", "/old/bin/fabricd-hook", "~/x/fabricd-hook"):
        assert is_ours((path, "turn-end"))
        assert ours(f"{path} turn-end --more") is not None
    assert not is_ours(())
