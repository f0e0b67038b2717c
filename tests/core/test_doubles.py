from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricd.core.documents import BadDocument
from fabricd.core.doubles import LEVELS, read_doubles
from fabricd.core.identity import canonical_text

_SHALLOW, _DEEP = 0, 150


def nested(text: bytes, levels: int) -> bytes:
    """A text in so many arrays."""
    return b"[" * levels + text + b"]" * levels


def unnested(value: Any, levels: int) -> Any:
    """What is in so many arrays."""
    for _ in range(levels):
        (value,) = value
    return value


@pytest.mark.parametrize("levels", [_SHALLOW, _DEEP])
@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b" \t\r\n1\n", 1),
        (b"-0", 0),
        (b"1e2", 100),
        (b"9007199254740993", 9007199254740992.0),
        (b"1e400", float("inf")),
        (b"-" + b"9" * 5000, float("-inf")),
        (b'{"a":1,"b":2,"a":3}', {"a": 3, "b": 2}),
        (b'"\\ud800"', "\ud800"),
        (b'"\\ud83d\\ude00"', "😀"),
        (b'"\\u0000\\/"', "\0/"),
        (b'"\xff\xed\xa0\x80"', "\ufffd" * 4),
        (b"[]", []),
        (b'{ "" : [ { } , null , true , false ] }', {"": [{}, None, True, False]}),
    ],
)
def test_what_is_read(text: bytes, value: Any, levels: int) -> None:
    found = unnested(read_doubles(nested(text, levels)), levels)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        assert float(found) == value
    else:
        assert found == value


@pytest.mark.parametrize("levels", [_SHALLOW, _DEEP])
@pytest.mark.parametrize(
    "text",
    [
        b"NaN", b"-Infinity", b"01", b"1.", b"+1", b".5", b"0x1", b"'a'", b'"\n"', b'"\\x"', b'"a',
        b"{", b'{"a"}', b'{"a":}', b'{"a":1,}', b"{1:1}", b"{,}", b"[,1]", b"[1,]", b"[1 2]", b"[}",
        b'{"a":1]', b"nul", b"nullx", b"\xef\xbb\xbf1", b"\xc2\xa01", b"1//x", b"tru",
        b'{"a":1 "b":2}',
    ],
)  # fmt: skip
def test_what_is_no_json(text: bytes, levels: int) -> None:
    with pytest.raises(BadDocument):
        read_doubles(nested(text, levels))


@pytest.mark.parametrize("text", [b"", b" ", b"1 2", b"]", b'"a"x'])
@pytest.mark.parametrize("before", [b"", nested(b"1", _DEEP)])
def test_one_document_and_nothing_else(text: bytes, before: bytes) -> None:
    data = before + text
    if not text.strip() and before:
        assert read_doubles(data)
    else:
        with pytest.raises(BadDocument):
            read_doubles(data)


def test_depth_has_a_limit() -> None:
    assert canonical_text(read_doubles(nested(b"1", LEVELS))) == nested(b"1", LEVELS).decode()
    for levels in (LEVELS + 1, 100_000):
        with pytest.raises(BadDocument, match="nested more than 2000 levels deep"):
            read_doubles(nested(b"1", levels))


_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.text(max_size=4), st.floats(allow_nan=False)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=10,
)


@settings(max_examples=60)
@given(_VALUES.filter(lambda value: "Infinity" not in json.dumps(value)), st.booleans())
def test_both_readers_agree(value: Any, ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only).encode()
    assert read_doubles(text) == value
    assert unnested(read_doubles(nested(text, _DEEP)), _DEEP) == value
