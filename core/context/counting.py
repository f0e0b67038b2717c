"""Tokens of a text, by vocabularies that ship inside packages: nothing is ever fetched."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Protocol, TypeAlias, cast

from fabricd.core.context.asking import Tokenizer

Count: TypeAlias = Callable[[str], int]

INSTALL = "pip install 'fabricd[context]'"

# What a vocabulary of Anthropic gives on source, over o200k, with room above it.
_CLAUDE_PERCENT = 115
_LONE = re.compile("[\ud800-\udfff]")


class NoTokenizer(Exception):
    """No package that counts tokens is installed; the message says how to get one."""


class _Counting(Protocol):
    """What rs-bpe gives for a vocabulary."""

    def count(self, text: str) -> int: ...


class _Encoding(Protocol):
    """What bpe-openai gives for a vocabulary."""

    def encode_ordinary(self, text: str) -> Sequence[int]: ...


class Counter:
    """Counts the tokens of a text.

    A lone surrogate counts as the replacement character; `<|endoftext|>` and its like are plain
    text. What is told is the vocabulary's own count, or that times a factor, rounded up.
    """

    def __init__(self, vocabulary: Count, percent: int = 100) -> None:
        self._vocabulary = vocabulary
        self._percent = percent

    def __call__(self, text: str) -> int:
        return self.told(self.plain(text))

    def plain(self, text: str) -> int:
        """What the vocabulary says.

        It adds up over texts that end with a line feed where the next one begins with `@`, `#`,
        `-`, a letter or a digit: no token reaches over such a place.
        """
        try:
            return self._vocabulary(text)
        except UnicodeEncodeError:
            return self._vocabulary(_LONE.sub("\ufffd", text))

    def told(self, plain: int) -> int:
        """What is told of so many tokens of the vocabulary."""
        return -(-plain * self._percent // 100)

    def within(self, told: int) -> int:
        """The most tokens of the vocabulary of which at most so many are told."""
        return told * 100 // self._percent


def is_estimated(name: Tokenizer) -> bool:
    """Whether counts by this name are an estimate from another vocabulary."""
    return name == "claude"


def counter(name: Tokenizer) -> Counter:
    """What counts by this name.

    Raises:
        NoTokenizer: neither rs-bpe nor bpe-openai is installed.
        ValueError: no tokenizer has this name.
    """
    match name:
        case "o200k" | "cl100k":
            return Counter(vocabulary(name))
        case "claude":
            return Counter(vocabulary("o200k"), _CLAUDE_PERCENT)
        case _:
            raise ValueError(f"no tokenizer is called {name!r}; there are o200k, cl100k, claude")


@cache
def vocabulary(name: str) -> Count:
    """Read when it is first asked for: that takes 60 ms and 40 MiB."""
    if (module := _installed("rs_bpe.bpe")) is not None:
        made = cast("Callable[[], _Counting]", getattr(module.openai, f"{name}_base"))
        return made().count
    if (module := _installed("bpe_openai")) is not None:
        get = cast("Callable[[str], _Encoding]", module.get_encoding)
        encode = get(f"{name}_base").encode_ordinary
        return lambda text: len(encode(text))
    raise NoTokenizer(f"no package that counts tokens is installed: {INSTALL}")


def _installed(name: str) -> ModuleType | None:
    try:
        return import_module(name)
    except ImportError:
        return None
