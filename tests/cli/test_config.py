from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from fabricd.daemon.settings.keys import KEYS
from fabricd.daemon.settings.sentences import expected
from tests.cli.running import Cli, process
from tests.harness import ROOT, daemon

DEFAULTS: dict[str, dict[str, Any]] = {
    "entropy": {"compile": True},
    "watch": {"rescan_seconds": 10, "force_polling": False},
    "daemon": {"grace_ms": 250},
    "log": {"level": "info", "file": None},
}


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test meets the settings of whoever runs it."""
    for key in KEYS:
        monkeypatch.delenv(key.variable, raising=False)


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


def test_origins_stand_behind_the_values_and_leave_it_toml(
    cli: Cli, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(place, "[log]\nlevel = 'error'\n")
    monkeypatch.setenv("FABRICD_DAEMON_GRACE_MS", "7")
    found = cli("config", "show", "--origin", "--no-compile")
    text = found.out.decode()
    assert found.code == 0 and found.err == ""
    assert f'level = "error"  # file {place / "config.toml"} line 2\n' in text
    assert "grace_ms = 7  # environment FABRICD_DAEMON_GRACE_MS\n" in text
    assert "compile = false  # flag --no-compile\n" in text
    assert "rescan_seconds = 10  # default\n" in text
    assert "# file is not set  # default\n" in text
    plain = cli("config", "show", "--no-compile").out.decode()
    assert tomllib.loads(text) == tomllib.loads(plain)
    assert [line.partition("  # ")[0] for line in text.splitlines()] == plain.splitlines()


def test_origins_are_added_to_the_json(
    cli: Cli, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(place, "[log]\nlevel = 'error'\n")
    monkeypatch.setenv("FABRICD_DAEMON_GRACE_MS", "7")
    plain = cli("config", "show", "--json", "--force-polling").json
    found = cli("config", "show", "--json", "--force-polling", "--origin").json
    assert found.pop("origins") == {
        "entropy.compile": {"from": "default"},
        "watch.rescan_seconds": {"from": "default"},
        "watch.force_polling": {"from": "flag", "name": "--force-polling"},
        "daemon.grace_ms": {"from": "environment", "name": "FABRICD_DAEMON_GRACE_MS"},
        "log.level": {"from": "file", "path": str(place / "config.toml"), "line": 2},
        "log.file": {"from": "default"},
    }
    assert found == plain


def test_a_hostile_path_cannot_break_out_of_its_comment(
    cli: Cli, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = place / "a\nlevel = 1\x1b[31m.toml"
    path.write_text("[log]\nlevel = 'error'\n")
    monkeypatch.setenv("FABRICD_CONFIG", str(path))
    found = cli("config", "show", "--origin")
    assert tomllib.loads(found.out.decode())["log"] == {"level": "error"}
    assert b"\x1b" not in found.out


def test_a_path_that_is_no_text_is_shown_and_leaves_it_toml(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FABRICD_LOG_FILE", "/tmp/\udcff.log")
    found = cli("config", "show", "--origin")
    assert found.code == 0
    assert tomllib.loads(found.out.decode())["log"] == {"level": "info"}
    assert b"# file is /tmp/\\udcff.log, which" in found.out
    assert cli("config", "show", "--json").json["log"]["file"] == "/tmp/\udcff.log"


@pytest.mark.parametrize("command", [["config", "show"], ["run"]])
@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--grace-ms", "soon", ["'soon'", "a whole number from 0 to 60000"]),
        ("--rescan-seconds", "0", ["is 0,", "a number from 1 to 3600"]),
        ("--log-level", "loud", ["'loud'", "debug, info, warning or error"]),
        ("--log-level", "", ["''", "debug, info, warning or error"]),
    ],
)
def test_a_wrong_option_is_one_sentence_and_exit_78(
    cli: Cli, place: Path, command: list[str], option: str, value: str, words: list[str]
) -> None:
    cli(*command, option, value).complains(78, f"the option {option} is", *words, "leave the")
    assert not (place / "home").exists()


@pytest.mark.parametrize("command", [["config", "show"], ["config", "check"], ["run"]])
def test_a_wrong_variable_is_one_sentence_and_exit_78(
    cli: Cli, place: Path, command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FABRICD_WATCH_FORCE_POLLING", "maybe\x1b[31m")
    cli(*command).complains(
        78, "variable FABRICD_WATCH_FORCE_POLLING is 'maybe", "expected true or false", "unset it"
    )
    assert not (place / "home").exists()


@pytest.mark.parametrize("command", ["show", "check"])
def test_a_variable_that_is_no_key_is_spoken_of_and_does_no_harm(
    cli: Cli, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FABRICD_LOGLEVEL", "loud")
    found = cli("config", command)
    assert found.code == 0
    assert found.err.startswith(
        "fabricd: the environment variable FABRICD_LOGLEVEL sets nothing; "
        "did you mean FABRICD_LOG_LEVEL?\n"
    )


def test_check_says_that_all_is_well(cli: Cli, place: Path) -> None:
    found = cli("config", "check")
    assert (found.code, found.out) == (0, b"")
    found.says(str(place / "config.toml"), "does not exist", "defaults")
    configure(place, "[log]\nlevel = 'info'\n")
    found = cli("config", "check")
    assert (found.code, found.out) == (0, b"")
    found.says(str(place / "config.toml"), "sound")


def test_check_tells_everything_that_is_wrong(
    cli: Cli, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(place, "[log]\nlevel = 'loud'\ncolour = 1\n")
    monkeypatch.setenv("FABRICD_ENTROPY_COMPILE", "no")
    found = cli("config", "check")
    path = place / "config.toml"
    assert (found.code, found.out) == (78, b"")
    assert [line[:40] for line in found.err.splitlines()] == [
        line[:40]
        for line in (
            f"fabricd: {path} line 2: log.level is 'loud'",
            f"fabricd: {path} line 3: unknown key log.colour",
            "fabricd: the environment variable FABRICD_ENTROPY_COMPILE",
        )
    ]


def test_check_of_a_named_file_looks_at_that_file_alone(
    cli: Cli, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(place, "nonsense")
    monkeypatch.setenv("FABRICD_ENTROPY_COMPILE", "no")
    other = place / "other.toml"
    cli("config", "check", other).complains(78, str(other), "does not exist")
    other.write_text("[log]\nlevel = 'debug'\n")
    found = cli("config", "check", other)
    assert found.code == 0
    found.says(str(other), "sound")
    other.write_text("[log]\nlevel = 'loud'\n")
    cli("config", "check", other).complains(78, f"{other} line 2", "loud")
    monkeypatch.delenv("FABRICD_ENTROPY_COMPILE")
    cli("config", "check").complains(78, str(place / "config.toml"), "not TOML")


def test_the_published_schema_is_the_one_that_is_printed(cli: Cli) -> None:
    published = ROOT / "docs" / "config.schema.json"
    assert cli("config", "schema").out == published.read_bytes(), "run make docs"


def test_the_page_names_every_key_with_all_that_belongs_to_it(cli: Cli) -> None:
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    rows = [
        [cell.strip() for cell in line.strip("| ").split("|")]
        for line in page.splitlines()
        if line.startswith("| `")
    ]
    sections = cli("config", "schema").json["properties"]
    assert [row[0] for row in rows] == [f"`{key.dotted}`" for key in KEYS]
    for key, (_, variable, option, default, admitted, purpose) in zip(KEYS, rows, strict=True):
        rule = sections[key.section]["properties"][key.name]
        assert variable == f"`{key.variable}`"
        assert option == " ".join(f"`{name}`" for name in key.flag.split("/"))
        wanted = json.dumps(rule["default"]).strip('"') if "default" in rule else ""
        assert default.strip("`") == wanted
        assert admitted == expected(rule)
        assert purpose.endswith(".")


def test_a_daemon_obeys_its_options_before_its_environment(tmp_path: Path) -> None:
    log = tmp_path / "chosen.log"
    words = ["--log-file", str(log), "--no-compile", "--log-level", "info"]
    with daemon(tmp_path, FABRICD_LOG_LEVEL="error", FABRICD_ENTROPY_COMPILE="true") as subject:
        subject.declare()
        subject.process = subprocess.Popen(
            [sys.executable, "-m", "fabricd", "run", *words],
            env=subject.env,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        subject.until(lambda: subject.status().get("lastCompile") is not None)
        assert subject.status()["lastCompile"]["outcome"] == "disabled"
        assert not subject.compiled.exists()
    assert b'"level": "info"' in log.read_bytes()
