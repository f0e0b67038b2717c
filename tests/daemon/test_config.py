from __future__ import annotations

import itertools
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricd.daemon.config import BadConfig, Config, in_force, load, log_file, schema
from fabricd.daemon.settings.keys import BY_NAME, KEYS, PLACES, Key, mistaken
from fabricd.daemon.settings.layers import (
    Default,
    InEnvironment,
    InFile,
    InFlag,
    environment_layer,
    file_layer,
    flag_layer,
)

# Of each key a value for the file, the variable and the option, none of them the default.
VALUES: dict[str, tuple[Any, Any, Any]] = {
    "entropy.compile": (False, False, False),
    "watch.rescan_seconds": (1, 2.5, 3600),
    "watch.force_polling": (True, True, True),
    "daemon.grace_ms": (0, 1, 60_000),
    "log.level": ("debug", "warning", "error"),
    "log.file": ("/a", "/b", "/c"),
}


def written(value: object) -> str:
    """A value as a variable has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def flag_value(key: Key, value: object) -> str | bool:
    """A value as the command line gives it."""
    return value if isinstance(value, bool) else str(value)


def toml(values: dict[str, Any]) -> str:
    """Values by dotted key, as a file."""
    return "".join(
        f"{name} = {written(value) if not isinstance(value, str) else repr(value)}\n"
        for name, value in values.items()
    )


def value_of(config: Config, key: Key) -> Any:
    return config.model_dump()[key.section][key.name]


def test_the_keys_are_those_of_the_model() -> None:
    assert set(VALUES) == set(BY_NAME)
    for section, values in Config().model_dump().items():
        for name in values:
            assert f"{section}.{name}" in BY_NAME
    for key in KEYS:
        rule = schema()["properties"][key.section]["properties"][key.name]
        assert rule["description"] == key.purpose
        assert tuple(rule.get("enum", ())) == key.choices
        assert key.is_switch == (rule["type"] == "boolean")


def test_no_two_keys_share_a_name_anywhere() -> None:
    assert len({key.variable for key in KEYS} | set(PLACES)) == len(KEYS) + len(PLACES)
    assert len({name for key in KEYS for name in key.flag.split("/")}) == 2 * 2 + 4


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.dotted)
@pytest.mark.parametrize("sources", list(itertools.product([False, True], repeat=3)), ids=str)
def test_an_option_beats_a_variable_beats_the_file_beats_the_default(
    tmp_path: Path, key: Key, sources: tuple[bool, bool, bool]
) -> None:
    in_file, in_variable, in_flag = VALUES[key.dotted]
    path = tmp_path / "config.toml"
    env = {"FABRICD_CONFIG": str(path)}
    flags: dict[str, str | bool | None] = dict.fromkeys(BY_NAME)
    wanted, origin = value_of(Config(), key), str(Default())
    if sources[0]:
        path.write_text(f"# first\n[{key.section}]\n{key.name} = {written(in_file)!r}\n")
        if not isinstance(in_file, str):
            path.write_text(path.read_text().replace("'", ""))
        wanted, origin = in_file, f"file {path} line 3"
    if sources[1]:
        env[key.variable] = written(in_variable)
        wanted, origin = in_variable, f"environment {key.variable}"
    if sources[2]:
        flags[key.dotted] = flag_value(key, in_flag)
        name = key.flag.split("/")[-1] if in_flag is False else key.flag.split("/")[0]
        wanted, origin = in_flag, f"flag {name}"

    found = in_force(env, flags)

    assert value_of(found.config, key) == wanted
    assert str(found.origin((key.section, key.name))) == origin
    others = [other for other in KEYS if other is not key]
    assert all(value_of(found.config, o) == value_of(Config(), o) for o in others)
    assert all(found.origin((o.section, o.name)) == Default() for o in others)


@given(st.lists(st.sampled_from(list(BY_NAME)), unique=True), st.data())
@settings(max_examples=40, deadline=None)
def test_sources_mix_key_by_key(tmp_path_factory: Any, names: list[str], data: Any) -> None:
    sources = {name: data.draw(st.sampled_from(["file", "variable", "flag"])) for name in names}
    path = tmp_path_factory.mktemp("mix") / "config.toml"
    path.write_text(toml({n: VALUES[n][0] for n in names if sources[n] == "file"}))
    env = {BY_NAME[n].variable: written(VALUES[n][1]) for n in names if sources[n] == "variable"}
    flags: dict[str, str | bool | None] = {
        n: flag_value(BY_NAME[n], VALUES[n][2]) for n in names if sources[n] == "flag"
    }
    found = in_force({"FABRICD_CONFIG": str(path), **env}, flags)
    for key in KEYS:
        at = {"file": 0, "variable": 1, "flag": 2}.get(sources.get(key.dotted, ""))
        wanted = value_of(Config(), key) if at is None else VALUES[key.dotted][at]
        assert value_of(found.config, key) == wanted


@pytest.mark.parametrize("source", ["file", "variable", "flag"])
def test_each_source_is_judged_even_where_another_overrides_it(tmp_path: Path, source: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(f"[daemon]\ngrace_ms = {-1 if source == 'file' else 1}\n")
    env = {"FABRICD_CONFIG": str(path), "FABRICD_DAEMON_GRACE_MS": "2"}
    flags: dict[str, str | bool | None] = {"daemon.grace_ms": "3"}
    if source == "variable":
        env["FABRICD_DAEMON_GRACE_MS"] = "-1"
    if source == "flag":
        flags["daemon.grace_ms"] = "-1"
    subject = {
        "file": f"{path} line 2: daemon.grace_ms",
        "variable": "the environment variable FABRICD_DAEMON_GRACE_MS",
        "flag": "the option --grace-ms",
    }[source]
    with pytest.raises(BadConfig) as caught:
        in_force(env, flags)
    assert str(caught.value).startswith(
        f"{subject} is -1, expected a whole number from 0 to 60000; "
    )


def test_every_problem_is_told_in_the_order_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("[log]\nfile = 1\nlevel = 'loud'\nlevle = 'info'\n[watch]\nforce_polling = 1\n")
    env = {"FABRICD_CONFIG": str(path), "FABRICD_ENTROPY_COMPILE": "perhaps"}
    with pytest.raises(BadConfig) as caught:
        in_force(env, {})
    lines = [problem.partition(": ")[0] for problem in caught.value.problems[:4]]
    assert lines == [f"{path} line {n}" for n in (2, 3, 4, 6)]
    assert "'perhaps', expected true or false" in caught.value.problems[4]
    assert "(and 4 more" in str(caught.value)


def test_a_file_full_of_mistakes_holds_nobody_up(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("".join(f"a{n} = 1\n" for n in range(1500)))
    with pytest.raises(BadConfig) as caught:
        load(path)
    assert 1 < len(caught.value.problems) <= 20


@pytest.mark.parametrize(
    ("text", "place", "line"),
    [
        ("[log]\nlevel = 'info'", ("log", "level"), 2),
        ("\n\n[log]\n\n# level = 'x'\nlevel = 'info'\n", ("log", "level"), 6),
        ("log.level = 'info'\nlog.file = 'x'", ("log", "file"), 2),
        ("x = 1\nlog = {level = 'info', file = 'x'}", ("log", "file"), 2),
        ('[log]\nfile = """\na\nb"""\nlevel = "info"', ("log", "file"), 2),
        ('[log]\nfile = """\na\nlevel = 1"""\nlevel = "info"', ("log", "level"), 5),
        ("a = [\n1,\n2]\nb = 1", ("a",), 1),
        ("a = [\n1,\n2]\nb = 1", ("b",), 4),
        ('"l\\u006fg"."level" = 1', ("log", "level"), 1),
        ("[watch]\r\n[log]\r\nlevel = 1\r\n", ("log", "level"), 3),
        ("[watch]\n[[log]]\nlevel = 1\n", ("log",), 2),
        ("# \u2028 \x85 no line ends\n[log]\nlevel = 1\n", ("log", "level"), 3),
    ],
)
def test_the_line_is_where_a_key_is_set(text: str, place: tuple[str, ...], line: int) -> None:
    assert file_layer("c", text).origin(place) == InFile("c", line)


@given(st.lists(st.sampled_from(["plain", "blank", "comment", "text", "array"]), max_size=12))
def test_every_key_of_any_document_is_found_on_its_line(kinds: list[str]) -> None:
    lines: list[str] = []
    places: dict[str, int] = {}
    for number, kind in enumerate(kinds):
        name = f"k{number}"
        if kind in ("plain", "text", "array"):
            places[name] = len(lines) + 1
        lines += {
            "plain": [f"{name} = {number}"],
            "blank": [""],
            "comment": [f"# {name} = 1"],
            "text": [f"{name} = '''", "k0 = 5", "# [x]'''"],
            "array": [f"{name} = [", "  1, # k1 = 2", "]"],
        }[kind]
    layer = file_layer("c", "\n".join(lines))
    assert set(layer.values) == set(places)
    assert {name: layer.origin((name,)) for name in places} == {
        name: InFile("c", line) for name, line in places.items()
    }


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("entropy.compile", "FALSE", False),
        ("entropy.compile", "0", False),
        ("watch.force_polling", "1", True),
        ("watch.force_polling", "yes", "yes"),
        ("watch.rescan_seconds", "2.50", 2.5),
        ("watch.rescan_seconds", "7", 7),
        ("watch.rescan_seconds", "1e3", "1e3"),
        ("watch.rescan_seconds", "1_0", "1_0"),
        ("watch.rescan_seconds", "nan", "nan"),
        ("daemon.grace_ms", "\u0663", "\u0663"),
        ("daemon.grace_ms", " 3", " 3"),
        ("daemon.grace_ms", "9" * 5000, "9" * 5000),
        ("log.file", "7", "7"),
        ("log.level", "1", "1"),
    ],
)
def test_a_text_stands_for_a_value_or_for_itself(name: str, text: str, value: object) -> None:
    key = BY_NAME[name]
    for layer in (environment_layer({key.variable: text}), flag_layer({name: text})):
        found = layer.values[key.section][key.name]
        assert found == value and type(found) is type(value)


def test_what_is_empty_or_absent_sets_nothing() -> None:
    assert environment_layer({key.variable: "" for key in KEYS}).values == {}
    assert flag_layer(dict.fromkeys(BY_NAME)).values == {}


def test_origins_name_the_option_that_was_given() -> None:
    place = ("entropy", "compile")
    assert flag_layer({"entropy.compile": False}).origin(place) == InFlag("--no-compile")
    assert flag_layer({"entropy.compile": True}).origin(place) == InFlag("--compile")
    assert environment_layer({}).origin(place) == InEnvironment("FABRICD_ENTROPY_COMPILE")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("FABRICD_GRACE_MS", "FABRICD_DAEMON_GRACE_MS"),
        ("FABRICD_LOGLEVEL", "FABRICD_LOG_LEVEL"),
        ("FABRICD_LOG_LEVLE", "FABRICD_LOG_LEVEL"),
        ("FABRICD_RESCAN_SECONDS", "FABRICD_WATCH_RESCAN_SECONDS"),
        ("FABRICD_WATCH_POLLING", "FABRICD_WATCH_FORCE_POLLING"),
        ("FABRICD_COMPILE", "FABRICD_ENTROPY_COMPILE"),
        ("FABRICD_FILE", "FABRICD_LOG_FILE"),
        ("FABRICD_DAEMON_NICE", "FABRICD_DAEMON_GRACE_MS"),
    ],
)
def test_a_variable_that_looks_like_a_key_is_spoken_of(name: str, meant: str) -> None:
    [sentence] = mistaken({name: "1"})
    assert name in sentence and sentence.endswith(f"did you mean {meant}?")


def test_other_variables_are_nobody_s_business() -> None:
    ours = [key.variable for key in KEYS] + list(PLACES)
    others = ["FABRICD_TOKEN", "FABRICD_", "FABRICD_X", "_FABRICD_COMPLETE", "LOG_LEVEL", "HOME"]
    assert mistaken(dict.fromkeys(ours + others, "1")) == ()


@pytest.mark.parametrize(
    ("given", "found"),
    [(None, None), ("", None), ("-", None), ("~/x.log", "/h/x.log"), ("/y.log", "/y.log")],
)
def test_the_log_file_is_a_path_or_standard_error(given: str | None, found: str | None) -> None:
    config = Config.model_validate({"log": {} if given is None else {"file": given}})
    assert log_file(config, {"HOME": "/h"}) == (None if found is None else Path(found))


def test_the_schema_says_what_the_model_does() -> None:
    import jsonschema

    judge = jsonschema.Draft202012Validator(schema())
    for name, values in VALUES.items():
        for value in values:
            assert judge.is_valid(tomllib.loads(toml({name: value})))
    for text in (
        "colour = 1",
        "[log]\ncolour = 1",
        "log = 1",
        "[daemon]\ngrace_ms = 60001",
        "[daemon]\ngrace_ms = 1.5",
        "[watch]\nrescan_seconds = 0.5",
        "[log]\nlevel = 'loud'",
        "[log]\nfile = 1",
        "[entropy]\ncompile = 'true'",
    ):
        assert not judge.is_valid(tomllib.loads(text)), text
