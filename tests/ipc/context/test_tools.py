from __future__ import annotations

import importlib.util
import json
from typing import Any

import pytest

from fabricd.core.context import asking
from fabricd.core.context.asking import Refused
from fabricd.ipc.context.tools import TOOLS, UnknownTool, asked, error_words, listing

MOST_TOKENS = 700


def ask(name: str, **arguments: object) -> tuple[str, dict[str, Any]]:
    method, params = asked(name, json.dumps(arguments).encode(), "/cwd")
    return method, json.loads(params)


def test_there_are_six() -> None:
    assert sorted(TOOLS) == [
        "context_explain",
        "context_receipt",
        "context_recover",
        "context_select",
        "context_show",
        "context_status",
    ]


@pytest.mark.skipif(importlib.util.find_spec("rs_bpe") is None, reason="the extra is not installed")
def test_the_schema_costs_few_tokens() -> None:
    from fabricd.core.context.counting import counter

    text = json.dumps(listing(False), separators=(",", ":"), ensure_ascii=False)
    assert counter("o200k")(text) <= MOST_TOKENS


def test_each_declares_what_it_takes() -> None:
    for tool in TOOLS.values():
        fields = set(tool.shape.__struct_fields__)
        assert set(tool.properties) <= fields
        assert fields - set(tool.properties) <= {"root"}
        assert set(tool.required) <= set(tool.properties)


def test_arguments_become_what_the_engine_takes() -> None:
    import msgspec

    shapes = {
        "select": asking.Select,
        "show": asking.Show,
        "recover": asking.Recover,
        "explain": asking.Explain,
        "receipt": asking.Receipt,
        "status": asking.Stats,
    }
    least: dict[str, dict[str, object]] = {
        "context_select": {"query": "q"},
        "context_show": {"what": "w"},
        "context_recover": {"handle": "h"},
        "context_explain": {"receipt": "r", "what": "w"},
        "context_receipt": {"receipt": "r"},
        "context_status": {},
    }
    for name, arguments in least.items():
        method, params = asked(name, json.dumps(arguments).encode(), "/cwd")
        found = msgspec.json.decode(params, type=shapes[method])
        assert found.root == "/cwd"


def test_the_root_is_the_agents_unless_it_is_named() -> None:
    assert ask("context_status", root="/other")[1]["root"] == "/other"
    assert ask("context_status", root="sub/tree")[1]["root"] == "/cwd/sub/tree"
    assert ask("context_status", root=None)[1]["root"] == "/cwd"


def test_numbers_and_lists_that_models_write_as_text() -> None:
    method, params = ask("context_select", query="q", budget="500", paths="src/")
    assert (method, params["budget"], params["paths"]) == ("select", 500, ["src/"])
    assert ask("context_receipt", receipt="cr", verify="true")[1]["verify"] is True


@pytest.mark.parametrize(
    "arguments", [b"{}", b"[]", b"null", b'{"query":1}', b'{"query":"q","more":1}', b"\xff", b"{"]
)
def test_what_does_not_fit_is_refused_in_a_sentence(arguments: bytes) -> None:
    with pytest.raises(Refused, match="do not fit") as caught:
        asked("context_select", arguments, "/cwd")
    assert caught.value.reason == "usage"


def test_an_unknown_tool() -> None:
    with pytest.raises(UnknownTool):
        asked("context_nothing", b"{}", "/cwd")


def test_a_refusal_is_one_sentence_with_its_reason() -> None:
    assert error_words(Refused("gone", "it is gone")) == "it is gone (reason: gone)"
    assert "smallest: 180" in error_words(Refused("budget-too-small", "too small", 180))
