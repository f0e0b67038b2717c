"""How an entry is wrapped, and comes back as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabricd.daemon.cli.wrap.run import _NAME, is_wrapping
from fabricd.daemon.wrapping.agents import NAMES, places_of
from fabricd.daemon.wrapping.forms import Form, NoEntry, Unfit
from fabricd.daemon.wrapping.words import gateway_name
from tests.daemon.wrapping.texts import TEXTS

PROGRAM = "/opt/a b/fabricd"


def form_of(name: str) -> Form:
    agent = name.removesuffix("-2")
    return places_of(agent, {"HOME": "/home/me"}, Path("/repo"), None)[0].form


@pytest.mark.parametrize("server", ["files", "bare"])
@pytest.mark.parametrize("name", TEXTS)
def test_words_are_put_behind_the_gateway_and_come_back_to_the_byte(name: str, server: str) -> None:
    form, text = form_of(name), TEXTS[name]
    words = form.words(text, server)
    wrapped = form.wrapped(text, server, PROGRAM)
    assert form.words(wrapped, server) == (PROGRAM, "wrap", "--name", server, "--", *words)
    assert form.wrapped_names(wrapped) == (server,)
    moved = form.repointed(wrapped, server, "/new/fabricd")
    assert form.words(moved, server)[0] == "/new/fabricd"
    assert form.unwrapped(wrapped, server, keeps_empty=False) == text
    assert form.unwrapped(moved, server, keeps_empty=False) == text


@pytest.mark.parametrize("name", TEXTS)
def test_nothing_else_changes(name: str) -> None:
    form, text = form_of(name), TEXTS[name]
    wrapped = form.wrapped(text, "files", PROGRAM)
    before, after = text.splitlines(), wrapped.splitlines()
    assert len([line for line in before if line not in after]) <= 3
    for remark in ("s3cret", "// here", "# the tree", "/* local */", "// asked for", "# here"):
        assert (remark in wrapped) == (remark in text)


@pytest.mark.parametrize("name", TEXTS)
def test_a_server_at_an_address_is_not_wrapped(name: str) -> None:
    with pytest.raises(Unfit, match="URL"):
        form_of(name).words(TEXTS[name], "web")


@pytest.mark.parametrize("name", TEXTS)
def test_a_server_that_is_not_there_is_told_with_those_that_are(name: str) -> None:
    with pytest.raises(NoEntry) as caught:
        form_of(name).words(TEXTS[name], "nobody")
    assert caught.value.names[:3] == ("files", "bare", "web")


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("5", "not an object"),
        ("{}", "names no command"),
        ('{"command": 5}', "not a text"),
        ('{"command": ""}', "not a text"),
        ('{"command": "x", "args": "y"}', "list of texts"),
        ('{"command": "x", "args": [1]}', "list of texts"),
        ('{"command": "x", "type": "magic"}', "unknown type"),
        ('{"command": "x", "url": "https://x"}', "URL"),
        ('{"command": "x", "command": "y"}', "twice"),
    ],
)
def test_an_entry_of_another_shape_is_refused(entry: str, words: str) -> None:
    with pytest.raises(Unfit, match=words):
        form_of("cursor").words(f'{{"mcpServers": {{"a": {entry}}}}}', "a")


@pytest.mark.parametrize("text", ["", "[", '{"mcpServers": {"a": {"command": "x"},}}'])
def test_a_file_of_another_kind_is_refused(text: str) -> None:
    with pytest.raises(Unfit, match="not JSON"):
        form_of("cursor").words(text, "a")


@pytest.mark.parametrize(
    "entry",
    [
        'command = "x"',
        'command = "x" # remark',
        'command = "x"\r\nenv = {}',
        "command = 'x'\nargs = []",
        'command = """x"""\nargs = [ ]',
        'args = [\n  # first\n  "a"\n]\ncommand = "x"',
    ],
)
def test_toml_tables_of_every_kind_come_back(entry: str) -> None:
    form = form_of("codex")
    for text in (f"[mcp_servers.a]\n{entry}", f"[mcp_servers.'a']\n{entry}\n[b]\n"):
        words = form.words(text, "a")
        wrapped = form.wrapped(text, "a", PROGRAM)
        assert form.words(wrapped, "a")[5:] == words
        back = form.unwrapped(wrapped, "a", keeps_empty="args" in entry)
        assert back.replace("[]", "[ ]") == text.replace("[]", "[ ]")


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers.a.command = "x"\n',
        'mcp_servers = { a = { command = "x" } }\n',
        '[mcp_servers]\na = { command = "x", env = { b = "c" } }\n',
        '[mcp_servers]\na.command = "x"\n',
    ],
)
def test_toml_written_in_other_ways_says_the_same_afterwards(text: str) -> None:
    form = form_of("codex")
    wrapped = form.wrapped(text, "a", PROGRAM)
    assert form.words(wrapped, "a") == (PROGRAM, "wrap", "--name", "a", "--", "x")
    assert form.words(form.unwrapped(wrapped, "a", keeps_empty=False), "a") == ("x",)


def test_every_agent_has_files_for_the_user_and_for_a_project() -> None:
    for name in NAMES:
        for project in (None, Path("/repo")):
            found = places_of(name, {"HOME": "/home/me"}, Path("/repo"), project)
            assert found and all(place.is_shared == (project is not None) for place in found)


def test_claude_code_keeps_servers_of_one_directory_in_the_users_file() -> None:
    assert form_of("claude-code").words(TEXTS["claude-code"], "mine") == ("mine",)
    elsewhere = places_of("claude-code", {"HOME": "/home/me"}, Path("/other"), None)[0].form
    with pytest.raises(NoEntry):
        elsewhere.words(TEXTS["claude-code"], "mine")


@pytest.mark.parametrize(
    ("server", "name"),
    [
        ("files", "files"),
        ("my server/é", "my-server-"),
        ("..", "server"),
        ("--", "server"),
        ("-x", "x"),
        ("", "server"),
        ("x" * 99, "x" * 64),
        ("a.b_c-D9", "a.b_c-D9"),
    ],
)
def test_the_gateway_is_given_a_name_that_it_takes(server: str, name: str) -> None:
    assert gateway_name(server) == name
    assert is_wrapping(["wrap", "--name", name, "--", "x"])
    assert _NAME.match(name)
