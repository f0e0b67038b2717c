from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricd.daemon.hooks.agents import AGENTS
from fabricd.daemon.hooks.edits import Change, Edit, Refused, Same, Unfit
from fabricd.daemon.hooks.program import line_of, ours, words_for
from fabricd.daemon.hooks.settings import Settings, is_set
from tests.core.jsontext.written import OBJECTS, VALUES, texts

SETTINGS = Settings("Stop", {"timeout": 5})
COMMENTED = Settings("Stop", {"timeout": 5}, comments=True)
WORDS = words_for("/opt/bin/fabricd-hook", "claude-code")
OLD = words_for("/old/bin/fabricd-hook", "claude-code")
OURS = {"type": "command", "command": line_of(WORDS), "timeout": 5}


def handlers(mine: bool) -> st.SearchStrategy[Any]:
    commands = ["echo", "fabricd-hook", "env fabricd-hook turn-end"]
    theirs = st.fixed_dictionaries(
        {"type": st.just("command"), "command": st.sampled_from(commands)},
        optional={"timeout": st.integers(1, 9)},
    )
    lines = st.sampled_from([line_of(WORDS), line_of(OLD), "fabricd-hook turn-end"])
    own = st.fixed_dictionaries({"type": st.just("command"), "command": lines})
    return st.one_of(theirs, VALUES, own) if mine else st.one_of(theirs, VALUES.filter(is_theirs))


def is_theirs(value: object) -> bool:
    return "turn-end" not in json.dumps(value)


def files(mine: bool) -> st.SearchStrategy[dict[str, Any]]:
    groups = st.fixed_dictionaries(
        {"hooks": st.lists(handlers(mine), max_size=3)},
        optional={"matcher": st.text(max_size=2), "note": st.just("theirs")},
    )
    events = st.lists(groups | st.sampled_from([None, "text", []]), max_size=3)
    hooks = st.dictionaries(st.sampled_from(["Stop", "Start", "é"]), events, max_size=3)
    return st.tuples(OBJECTS, st.none() | hooks).map(
        lambda pair: {
            **{name: value for name, value in pair[0].items() if name != "hooks"},
            **({} if pair[1] is None else {"hooks": pair[1]}),
        }
    )


def parsed(text: str | None) -> Any:
    assert text is not None
    return json.loads(text.removeprefix("\ufeff"))


def changed(edit: Edit, what: str) -> str:
    assert isinstance(edit, Change), edit
    assert edit.what == what
    assert edit.text is not None
    return edit.text


def stripped(value: dict[str, Any]) -> dict[str, Any]:
    """What a file says apart from us, told in another way than by the code under test."""
    value = copy.deepcopy(value)
    hooks = value.get("hooks", {})
    for event in list(hooks):
        for group in list(hooks[event]):
            if not isinstance(group, dict):
                continue
            group["hooks"] = [
                handler
                for handler in group["hooks"]
                if not (isinstance(handler, dict) and is_own(handler.get("command")))
            ]
            if not group["hooks"] and "note" not in group:
                hooks[event].remove(group)
        hooks[event] = [group for group in hooks[event] if group != []]
        if not hooks[event]:
            del hooks[event]
    if not hooks:
        value.pop("hooks", None)
    return value


def is_own(command: object) -> bool:
    return isinstance(command, str) and ours(command) is not None


def own(value: dict[str, Any]) -> list[Any]:
    return [
        handler
        for group in value["hooks"]["Stop"]
        if isinstance(group, dict)
        for handler in group["hooks"]
        if isinstance(handler, dict) and is_own(handler.get("command"))
    ]


@settings(max_examples=100)
@given(texts(files(mine=True)))
def test_others_keep_what_they_wrote_and_there_is_one_of_ours(text: str) -> None:
    edit = SETTINGS.install(text, WORDS)
    after = text if isinstance(edit, Same) else getattr(edit, "text", None)
    assert stripped(parsed(after)) == stripped(parsed(text))
    assert list(parsed(after)) == list(parsed(text)) + ["hooks"] * ("hooks" not in parsed(text))
    assert [handler["command"] for handler in own(parsed(after))] == [line_of(WORDS)]
    assert SETTINGS.install(after, WORDS) == Same("already_installed")


@settings(max_examples=100)
@given(texts(files(mine=True)))
def test_uninstalling_leaves_what_others_wrote_and_none_of_ours(text: str) -> None:
    edit = SETTINGS.uninstall(text)
    after = text if isinstance(edit, Same) else getattr(edit, "text", None)
    assert stripped(parsed(after)) == stripped(parsed(text))
    assert SETTINGS.commands(after) == ()
    assert SETTINGS.uninstall(after) == Same("already_uninstalled")


@settings(max_examples=100)
@given(texts(files(mine=False)))
def test_installing_and_uninstalling_gives_the_bytes_back(text: str) -> None:
    with_ours = changed(SETTINGS.install(text, WORDS), "installed")
    without = changed(SETTINGS.uninstall(with_ours), "uninstalled")
    value = parsed(text)
    # An empty container that our entry was put into goes with it.
    if value and value.get("hooks") != {} and value.get("hooks", {}).get("Stop") != []:
        assert without == text


def test_without_a_file_the_whole_is_ours() -> None:
    for nothing in (None, "", "\ufeff", " \n"):
        text = changed(SETTINGS.install(nothing, WORDS), "installed")
        assert parsed(text) == {"hooks": {"Stop": [{"hooks": [OURS]}]}}
        assert text.endswith("}\n")


def test_another_path_is_updated_where_it_stands() -> None:
    text = changed(SETTINGS.install('{\n  "a": 1\n}', OLD), "installed")
    text = text.replace('"timeout": 5', '"timeout": 9').replace('"a"', '"b"')
    updated = changed(SETTINGS.install(text, WORDS), "updated")
    assert updated == text.replace("/old/bin", "/opt/bin")


def test_of_several_the_first_stays() -> None:
    text = json.dumps({"hooks": {"Stop": [{"matcher": "x", "hooks": [OURS, OURS, {"a": 1}]}]}})
    updated = parsed(changed(SETTINGS.install(text, OLD), "updated"))
    assert updated == {
        "hooks": {
            "Stop": [{"matcher": "x", "hooks": [{**OURS, "command": line_of(OLD)}, {"a": 1}]}]
        }
    }


def test_ours_in_another_event_is_no_hook_but_goes() -> None:
    text = json.dumps({"hooks": {"Start": [{"hooks": [OURS]}], "Stop": []}})
    assert SETTINGS.commands(text) == ()
    changed(SETTINGS.install(text, WORDS), "installed")
    assert parsed(changed(SETTINGS.uninstall(text), "uninstalled")) == {"hooks": {"Stop": []}}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not JSON: line 1 column 2"),
        ('{"a": 1,}', 'a comma before "}"'),
        ('// why\n{"a": 1}', "line 1 column 1: a comment"),
        ("[]", "the document is not an object"),
        ('{"hooks": []}', '"hooks" is not an object'),
        ('{"hooks": null}', '"hooks" is not an object'),
        ('{"hooks": {"Stop": {}}}', '"Stop" is not an array'),
        ('{"hooks": {}, "hooks": {}}', '"hooks" stands twice'),
        ('{"hooks": {"Stop": [], "Stop": []}}', '"Stop" stands twice'),
        ("[" * 100, "nested more than 64 levels"),
    ],
)
def test_what_cannot_be_edited_is_refused_with_a_reason(text: str, words: str) -> None:
    edit = SETTINGS.install(text, WORDS)
    assert isinstance(edit, Refused)
    assert words in edit.reason
    if "not an array" not in words and '"Stop"' not in words:
        assert isinstance(SETTINGS.uninstall(text), Refused)
        with pytest.raises(Unfit):
            SETTINGS.commands(text)


THEIRS = """\
{
  // theirs
  "hooks": {
    "Stop": [
      // before
      { "hooks": [{ "type": "command", "command": "echo" }] } // behind
      /* last */
    ]
  }
}
"""


def test_comments_are_kept_where_the_agent_reads_them() -> None:
    text = changed(COMMENTED.install(THEIRS, WORDS), "installed")
    assert changed(COMMENTED.uninstall(text), "uninstalled") == THEIRS
    for comment in ("// theirs", "// before", "// behind", "/* last */"):
        assert comment in text
    assert COMMENTED.install(text, WORDS) == Same("already_installed")


def test_a_comment_around_ours_outlives_it() -> None:
    text = '{"hooks": {"Stop": [/* mine */ {"hooks": [{"command": "fabricd-hook turn-end"}]}]}}'
    assert changed(COMMENTED.uninstall(text), "uninstalled") == (
        '{"hooks": {"Stop": [/* mine */]}}'
    )
    inner = (
        '{"hooks": {"Stop": [{"hooks": [{"command": "fabricd-hook turn-end" /* x */}]}]}, "a": 1}'
    )
    assert changed(COMMENTED.uninstall(inner), "uninstalled") == '{"a": 1}'


def test_a_switch_is_read_and_nothing_is_guessed() -> None:
    assert is_set(SETTINGS, '{"a": {"b": true}}', True, "a", "b")
    for text in (None, "", "{", '{"a": {"b": 1}}', '{"a": []}', '{"a": {"b": true, "b": true}}'):
        assert not is_set(SETTINGS, text, True, "a", "b")


def test_each_agent_has_its_own_event_and_unit() -> None:
    made = {
        name: parsed(changed(AGENTS[name].form.install(None, WORDS), "installed"))["hooks"]
        for name in ("claude-code", "codex", "gemini")
    }
    [[claude], [codex]] = [made[name]["Stop"][0]["hooks"] for name in ("claude-code", "codex")]
    [gemini] = made["gemini"]["AfterAgent"][0]["hooks"]
    assert claude == codex == OURS
    assert gemini == {**OURS, "name": "fabricd", "timeout": 5000}


@pytest.mark.parametrize("text", ['{"hooks": {"Stop": []}}', '{"a": 2, "hooks": {}}', "{", "[]"])
def test_an_edit_that_would_touch_others_is_not_made(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    with_ours = changed(SETTINGS.install('{"a": 1}', WORDS), "installed")
    for name in ("add", "remove", "replace"):
        monkeypatch.setattr(f"fabricd.daemon.hooks.settings.{name}", lambda *_: text)
    for edit in (
        SETTINGS.install('{"a": 1}', WORDS),
        SETTINGS.install(with_ours, OLD),
        SETTINGS.uninstall(with_ours),
    ):
        assert isinstance(edit, Refused)
