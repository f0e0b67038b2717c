"""Bytes that are no text are told of before anybody is asked."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricd.core.context.asking import Refused
from fabricd.daemon.context.library import Context
from fabricd.daemon.context.utf8 import require_utf8


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"query": "ä\udcff price"}, "the query is not UTF-8: byte 2 of it is 0xff; expected is"),
        ({"what": "\udc80"}, "what is named is not UTF-8: byte 0 of it is 0x80"),
        ({"paths": ["a", "b\udcfe"]}, "a path is not UTF-8: byte 1 of it is 0xfe"),
        ({"root": "/x\ud800"}, "the root is not UTF-8: character 2 of it is half a surrogate"),
    ],
)
def test_what_is_not_utf8_is_named(params: dict[str, object], words: str) -> None:
    with pytest.raises(Refused) as found:
        require_utf8(params)
    assert found.value.reason == "usage" and found.value.message.startswith(words)


@given(st.binary(max_size=12))
def test_bytes_are_text_or_the_first_that_is_none_is_told(data: bytes) -> None:
    query = data.decode("utf-8", "surrogateescape")
    try:
        data.decode()
    except UnicodeDecodeError as error:
        with pytest.raises(Refused) as found:
            require_utf8({"query": query, "budget": 1})
        assert f"byte {error.start} of it is 0x{data[error.start]:02x}" in found.value.message
    else:
        require_utf8({"query": query, "paths": [query], "budget": 1, "root": None})


def test_the_library_asks_nobody_either(tmp_path: Path) -> None:
    said: list[str] = []
    context = Context(tmp_path, env={"FABRICD_HOME": str(tmp_path / "home")}, say=said.append)
    for ask in (context.select, context.show, context.recover):
        with pytest.raises(Refused) as found:
            ask(os.fsdecode(b"a\xff"))
        assert found.value.reason == "usage"
    assert said == [] and list(tmp_path.iterdir()) == []
