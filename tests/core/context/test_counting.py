"""Counts of tokens by vocabularies that never change."""

from __future__ import annotations

import sys

import pytest

from fabricd.core.context.counting import INSTALL, NoTokenizer, counter, is_estimated

_SOURCE = 'def greet(name: str) -> str:\n    """Say hello."""\n    return f"Hello, {name}!"\n'

_GOLDEN = [
    ("", 0, 0),
    ("hello world", 2, 2),
    (_SOURCE, 24, 24),
    ("größer als «Überlauf» 数え上げ 🙂\n", 12, 16),
    ("<|endoftext|>", 7, 7),
    ("\n\n\n    \t}\r\n", 4, 4),
    ("1234567890", 4, 4),
]


@pytest.mark.parametrize(("text", "o200k", "cl100k"), _GOLDEN)
def test_counts_are_those_of_the_published_vocabularies(text: str, o200k: int, cl100k: int) -> None:
    assert counter("o200k")(text) == o200k
    assert counter("cl100k")(text) == cl100k


def test_a_long_text_is_counted_as_published() -> None:
    text = "".join(f"{_SOURCE}# {number}\n" for number in range(1000))
    assert counter("o200k")(text) == 28_000


def test_claude_is_an_estimate_of_fifteen_percent_more_rounded_up() -> None:
    count = counter("claude")
    assert is_estimated("claude")
    assert not is_estimated("o200k")
    assert not is_estimated("cl100k")
    assert count("") == 0
    assert count("hello") == 2
    assert count("hello world") == 3
    assert count(_SOURCE) == 28
    for plain in range(400):
        told = count.told(plain)
        assert count.within(told) >= plain > count.within(told - 1)


def test_a_lone_surrogate_counts_as_the_replacement_character() -> None:
    count = counter("o200k")
    assert count("a\ud800b") == count("a\ufffdb")
    # Two halves that a text holds one after the other are two, not a character.
    assert count("\ud83d\ude42") == count("\ufffd\ufffd")


def test_no_tokenizer_has_another_name() -> None:
    with pytest.raises(ValueError, match="p50k"):
        counter("p50k")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_without_a_package_the_way_to_get_one_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("rs_bpe", "rs_bpe.bpe", "bpe_openai"):
        monkeypatch.setitem(sys.modules, name, None)
    from fabricd.core.context import counting

    counting.vocabulary.cache_clear()
    try:
        with pytest.raises(NoTokenizer, match=r"fabricd\[context\]"):
            counter("o200k")
    finally:
        counting.vocabulary.cache_clear()
    assert INSTALL == "pip install 'fabricd[context]'"


def test_the_second_package_serves_where_the_first_is_not_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from types import ModuleType, SimpleNamespace

    from fabricd.core.context import counting

    asked: list[str] = []

    def encoding(name: str) -> SimpleNamespace:
        asked.append(name)
        return SimpleNamespace(encode_ordinary=lambda text: text.split())

    stand_in = ModuleType("bpe_openai")
    monkeypatch.setattr(stand_in, "get_encoding", encoding, raising=False)
    monkeypatch.setitem(sys.modules, "rs_bpe.bpe", None)
    monkeypatch.setitem(sys.modules, "bpe_openai", stand_in)
    counting.vocabulary.cache_clear()
    try:
        assert counter("cl100k")("three words here") == 3
    finally:
        counting.vocabulary.cache_clear()
    assert asked == ["cl100k_base"]
