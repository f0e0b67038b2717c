"""Laws of wrapping, over configurations of every layout."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fabricd.daemon.wrapping.agents import places_of
from fabricd.daemon.wrapping.forms import Form
from fabricd.daemon.wrapping.words import command_at, gateway_name

PROGRAM = "/opt/fabricd"
TEXTS = st.text(alphabet="ab -\"\\'é#[]{},=/*$🙂\t", max_size=8)
WORDS = st.lists(st.one_of(TEXTS, st.sampled_from(["--", "-y", "wrap", "fabricd"])), max_size=4)
NAMES = st.text(alphabet='ab ."é-_', min_size=1, max_size=5)
COMMANDS = TEXTS.filter(bool)


def form_of(agent: str) -> Form:
    return places_of(agent, {"HOME": "/home/me"}, Path("/repo"), None)[0].form


def holds(form: Form, text: str, name: str, words: tuple[str, ...], has_list: bool) -> None:
    """To wrap and to unwrap gives the very text back, and nothing else is touched on the way."""
    if command_at(words) is not None:
        return
    assert form.words(text, name) == words
    wrapped = form.wrapped(text, name, PROGRAM)
    assert form.words(wrapped, name) == (
        PROGRAM,
        "wrap",
        "--name",
        gateway_name(name),
        "--",
        *words,
    )
    again = form.repointed(form.repointed(wrapped, name, "/x/fabricd"), name, PROGRAM)
    assert again == wrapped
    back = form.unwrapped(wrapped, name, keeps_empty=has_list)
    assert form.words(back, name) == words
    assert back == text or (has_list and len(words) == 1)


@st.composite
def layouts(draw: st.DrawFn, value: dict[str, Any]) -> str:
    """A JSON text of a value in some layout, with a comment or two."""
    indent = draw(st.sampled_from([None, 2, "\t"]))
    tight = draw(st.booleans()) and indent is None
    text = json.dumps(
        value,
        indent=indent,
        ensure_ascii=draw(st.booleans()),
        separators=(",", ":") if tight else None,
    )
    if draw(st.booleans()):
        text = text.replace("[", "[ // first, 'a'\n", 1)
    if draw(st.booleans()):
        text = "/* { */" + text.replace("\n", "\r\n")
    return text + draw(st.sampled_from(["", "\n", " // end"]))


@given(st.data(), NAMES, COMMANDS, st.none() | WORDS, st.booleans())
def test_json_with_arguments(
    data: st.DataObject, name: str, command: str, arguments: list[str] | None, before: bool
) -> None:
    entry: dict[str, Any] = {"command": command, "env": {"command": "x", "args": ["y"]}}
    if arguments is not None:
        given_first = {"args": arguments}
        entry = {**given_first, **entry} if before else {**entry, **given_first}
    text = data.draw(
        layouts({"z": ["["], "mcpServers": {"other": {"url": ""}, name: entry}, "a": 1})
    )
    words = (command, *(arguments or []))
    holds(form_of("cursor"), text, name, words, arguments is not None)


@given(st.data(), NAMES, COMMANDS, WORDS, st.booleans())
def test_json_with_one_list(
    data: st.DataObject, name: str, command: str, arguments: list[str], newer: bool
) -> None:
    servers: dict[str, Any] = {name: {"type": "local", "command": [command, *arguments]}}
    text = data.draw(layouts({"mcp": {"servers": servers} if newer else servers}))
    holds(form_of("opencode"), text, name, (command, *arguments), has_list=False)


def spelled(text: str, literal: bool) -> str:
    """A TOML string: a literal one where that can be."""
    if literal and "'" not in text and "\t" not in text:
        return f"'{text}'"
    return json.dumps(text, ensure_ascii=False)


@given(
    NAMES,
    COMMANDS,
    st.none() | WORDS,
    st.booleans(),
    st.booleans(),
    st.sampled_from(["\n", "\r\n"]),
)
def test_toml(
    name: str,
    command: str,
    arguments: list[str] | None,
    literal: bool,
    inline: bool,
    newline: str,
) -> None:
    members = [f"command = {spelled(command, literal)}"]
    if arguments is not None:
        inside = ", ".join(spelled(word, not literal) for word in arguments)
        members.append(f"args = [{inside}]")
    members.append('env = { command = "no", args = ["no"] }')
    if inline:
        lines = ["[mcp_servers]", f"{spelled(name, literal)} = {{ {', '.join(members)} }} # x"]
    else:
        lines = [
            f"[mcp_servers.{spelled(name, literal)}] # x",
            *(f"  {each} # y" for each in members),
        ]
    text = newline.join(["top = 1", *lines, "[tail]", "n = nan", ""])
    words = (command, *(arguments or []))
    form = form_of("codex")
    if inline and arguments is None:
        # What is left of an inline table's arguments is an empty list, which says the same.
        wrapped = form.wrapped(text, name, PROGRAM)
        assert form.words(form.unwrapped(wrapped, name, keeps_empty=False), name) == words
    else:
        holds(form, text, name, words, arguments is not None)
