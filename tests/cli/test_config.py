from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import Cli, process

DEFAULTS: dict[str, dict[str, Any]] = {
    "entropy": {"compile": True},
    "watch": {"rescan_seconds": 10, "force_polling": False},
    "daemon": {"grace_ms": 250},
    "log": {"level": "info", "file": None},
}


def configure(place: Path, text: str | bytes) -> None:
    data = text.encode() if isinstance(text, str) else text
    (place / "config.toml").write_bytes(data)


def test_without_a_file_the_defaults_are_in_force(cli: Cli, place: Path) -> None:
    assert cli("config", "show", "--json").json == DEFAULTS
    configure(place, "")
    assert cli("config", "show", "--json").json == DEFAULTS


def test_path_is_printed_whether_it_exists_or_not(
    cli: Cli, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli("config", "path").out.decode() == f"{place / 'config.toml'}\n"
    monkeypatch.delenv("FABRICD_CONFIG")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(place / "xdg"))
    monkeypatch.setenv("HOME", str(place))
    default = Path(cli("config", "path").out.decode().rstrip("\n"))
    assert default.name == "config.toml" and default.parent.name == "fabricd"
    assert default.is_relative_to(place) and not default.exists()


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        ("entropy", "compile", False),
        ("watch", "rescan_seconds", 1),
        ("watch", "rescan_seconds", 3600),
        ("watch", "rescan_seconds", 2.5),
        ("watch", "force_polling", True),
        ("daemon", "grace_ms", 0),
        ("daemon", "grace_ms", 60_000),
        ("log", "level", "debug"),
        ("log", "level", "error"),
        ("log", "file", "~/fabricd.log"),
    ],
)
def test_every_key_can_be_set_alone(
    cli: Cli, place: Path, section: str, key: str, value: object
) -> None:
    configure(place, f"[{section}]\n{key} = {json.dumps(value)}\n")
    found = cli("config", "show", "--json").json
    assert found[section][key] == value
    found[section][key] = DEFAULTS[section][key]
    assert found == DEFAULTS


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[log]\nlevel = 'error'\nfile = '/tmp/a \"b\" \\ c.log'",
        "[log]\nfile = '/tmp/é 😀.log'",
        "[watch]\nrescan_seconds = 1234.5678\nforce_polling = true",
        "[daemon]\ngrace_ms = 0\n[entropy]\ncompile = false",
    ],
)
def test_what_is_shown_can_be_saved_and_means_the_same(cli: Cli, place: Path, text: str) -> None:
    configure(place, text)
    in_force = cli("config", "show", "--json").json
    shown = cli("config", "show")
    assert shown.code == 0
    written = tomllib.loads(shown.out.decode())
    assert set(written) == set(DEFAULTS)
    configure(place, shown.out)
    assert cli("config", "show", "--json").json == in_force


def test_every_key_is_explained_where_it_is_shown(cli: Cli) -> None:
    lines = cli("config", "show").out.decode().splitlines()
    for name in ("compile", "rescan_seconds", "force_polling", "grace_ms", "level", "file"):
        [at] = [n for n, line in enumerate(lines) if line.lstrip("# ").startswith(f"{name} ")]
        assert lines[at - 1].startswith("# ") and lines[at - 1].endswith(".")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[entropy]\ncompil = true", ["unknown", "entropy.compil", "entropy.compile?"]),
        ("[watch]\nrescan = 5", ["unknown", "watch.rescan", "watch.rescan_seconds?"]),
        ("[logs]\nlevel = 'info'", ["unknown", "logs"]),
        ("colour = 1", ["unknown", "colour", "entropy.compile", "log.file"]),
        ('"a\\nb\\u001b[31m" = 1', ["unknown"]),
        ("[entropy]\ncompile = 1", ["entropy.compile", "1"]),
        ("[entropy]\ncompile = 'yes'", ["entropy.compile", "yes"]),
        ("[watch]\nrescan_seconds = true", ["watch.rescan_seconds"]),
        ("[watch]\nrescan_seconds = '20'", ["watch.rescan_seconds", "20"]),
        ("[watch]\nrescan_seconds = 0.5", ["watch.rescan_seconds", "0.5", "1"]),
        ("[watch]\nrescan_seconds = 3601", ["watch.rescan_seconds", "3600"]),
        ("[watch]\nrescan_seconds = nan", ["watch.rescan_seconds", "nan"]),
        ("[watch]\nrescan_seconds = inf", ["watch.rescan_seconds", "inf"]),
        ("[daemon]\ngrace_ms = -1", ["daemon.grace_ms", "-1", "0"]),
        ("[daemon]\ngrace_ms = 60001", ["daemon.grace_ms", "60000"]),
        ("[daemon]\ngrace_ms = 1.5", ["daemon.grace_ms", "1.5"]),
        ("[daemon]\ngrace_ms = true", ["daemon.grace_ms"]),
        ("[log]\nlevel = 'loud'", ["log.level", "loud", "warning"]),
        ("[log]\nfile = 7", ["log.file", "7"]),
        ("[log]\nlevel = [1]", ["log.level"]),
        ("entropy = 5", ["entropy", "5"]),
        ("[[log]]\nlevel = 'info'", ["log"]),
        ("x = \n", ["not TOML", "line 1"]),
        ("[log]\n[log]\n", ["not TOML"]),
        (b"\xff\xfe", ["not UTF-8"]),
        (b"# caf\xe9", ["not UTF-8"]),
        ("a = " + "[" * 20_000 + "]" * 20_000, []),
    ],
    ids=lambda value: repr(value[:40]) if isinstance(value, str | bytes) else None,
)
def test_a_file_that_cannot_be_used_is_one_sentence_and_exit_78(
    cli: Cli, place: Path, text: str | bytes, words: list[str]
) -> None:
    configure(place, text)
    cli("config", "show").complains(78, str(place / "config.toml"), *words)


def test_a_directory_in_its_place_is_exit_78(cli: Cli, place: Path) -> None:
    (place / "config.toml").mkdir()
    cli("config", "show").complains(78, str(place / "config.toml"))


@pytest.mark.skipif(os.getuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_exit_78(cli: Cli, place: Path) -> None:
    configure(place, "")
    (place / "config.toml").chmod(0)
    cli("config", "show").complains(78, "Permission denied")


def test_a_fifo_in_its_place_holds_nobody_up(place: Path) -> None:
    os.mkfifo(place / "config.toml")
    process("config", "show", seconds=15).complains(78, str(place / "config.toml"))


@pytest.mark.parametrize("text", ["nonsense", "[log]\nlevel = 'loud'"])
def test_the_daemon_refuses_to_start_on_a_bad_file(cli: Cli, place: Path, text: str) -> None:
    configure(place, text)
    cli("run").complains(78, str(place / "config.toml"))
    assert not (place / "home").exists()
