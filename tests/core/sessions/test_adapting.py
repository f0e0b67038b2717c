"""Decoding what other readers refuse: text that was cut inside a pair of surrogates."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from fabricd.core.sessions.adapting import struct_of
from fabricd.core.sessions.records import Malformed


class Known(Struct):
    """A record of which one member is known."""

    text: str = ""


DECODER = msgspec.json.Decoder(Known)
halves = st.text(st.sampled_from('a\\"\n\U0001f600\ud83d\ude00é'), max_size=12)


@given(halves, halves)
def test_half_a_pair_costs_a_character_and_nothing_else(known: str, other: str) -> None:
    raw = json.dumps({"other": other, "text": known}).encode()
    # Python joins nothing: what stands side by side in the text is a pair in JSON.
    paired = json.loads(raw)["text"]
    expected = "".join("\ufffd" if "\ud800" <= each <= "\udfff" else each for each in paired)
    found = struct_of(DECODER, raw)
    assert found is not None and found.text == expected


@pytest.mark.parametrize("raw", [b'{"text":"\\ud83d"', b'{"text":"\\ud8"}', b"\\ud83d", b""])
def test_damage_stays_damage(raw: bytes) -> None:
    with pytest.raises(Malformed):
        struct_of(DECODER, raw)


def test_another_shape_is_none_with_half_a_pair_in_it_too() -> None:
    assert struct_of(DECODER, b'{"text":1,"other":"\\udc00"}') is None
