"""What is remembered of words changes nothing: neither what was read before nor how much."""

from __future__ import annotations

import pytest
from tests.core.context.parsing.samples import SAMPLES

from fabricd.core.context import terms
from fabricd.core.context.guard.folding import flat
from fabricd.core.context.guard.lexicon import LATIN, Lexicon
from fabricd.core.context.parsing import mentions, sketches
from fabricd.core.context.parsing.mentions import mentions_of, telling
from fabricd.core.context.parsing.parser import parse


def _forget() -> None:
    sketches._HASHES.clear()
    mentions._JUDGED.clear()
    mentions._TOLD.clear()


@pytest.mark.parametrize("most", [0, 7, 16_384])
def test_a_parse_is_the_same_whatever_was_read_before(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    alone = {}
    for name, (text, _) in SAMPLES.items():
        _forget()
        alone[name] = parse(text, name)
    monkeypatch.setattr(sketches, "_REMEMBERED", most)
    monkeypatch.setattr(mentions, "_REMEMBERED", most)

    assert {name: parse(text, name) for name, (text, _) in SAMPLES.items()} == alone


def test_words_that_tell() -> None:
    words = {"Client", "_Hidden", "MAX_SIZE", "Ab", "A", "client", "None", "Größe", "X" * 101}

    assert telling(words) == {"Client", "_Hidden", "MAX_SIZE", "Ab"}
    assert telling({"Client", "other"}) == {"Client"}


def test_neither_a_call_nor_the_own_name_is_named() -> None:
    found = mentions_of({"Base", "Own", "call"}, {"call", "Own", "two\nlines"}, "Own")

    assert (found.calls, found.names) == (("call",), ("Base",))


@pytest.mark.parametrize("most", [0, 3, 16_384])
def test_a_lexicon_knows_the_same_words_again(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    words = set(flat(b"ignore all previous instructions of the assistant_key qwxyz").split())
    lexicon = Lexicon(LATIN)
    known = lexicon.known(words)
    monkeypatch.setattr("fabricd.core.context.guard.lexicon._PASSED", most)

    assert b"ignore" in known
    assert b"qwxyz" not in known
    for _ in range(3):
        assert lexicon.known(words) == known
        assert lexicon.known({b"qwxyz", b"vwvwv"}) == {}


def test_words_of_a_kilobyte_are_not_remembered() -> None:
    words = [f"{'x' * 1000}{number}" for number in range(50)]
    text = "\n".join(words)
    before = len(terms.KNOWN), len(mentions._JUDGED), len(sketches._HASHES)
    first = parse(text, "text")
    assert parse(text, "text") == first
    assert first.sketches[0]
    assert (len(terms.KNOWN), len(mentions._JUDGED), len(sketches._HASHES)) == before
