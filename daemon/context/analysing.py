"""A file's bytes into what is kept of it: guarded first, so that nothing else sees a secret."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from itertools import count as counting
from unicodedata import unidata_version

from fabricd.core.context.analysing import analyse
from fabricd.core.context.counting import counter
from fabricd.core.context.guard.guarding import GUARD, clean, guarded
from fabricd.core.context.languages import HEAD, is_minified, language_of
from fabricd.core.context.model import Analysed, Skip
from fabricd.core.context.parsing.tables import TABLES
from fabricd.store.context.perils import Perils
from fabricd.store.context.refreshing import Analyser

# How often a parse asks before its file is cut in blocks instead. A megabyte of ordinary source
# asks 6,000 times; so many are 2 to 5 s, and the same number whatever the machine is doing.
_PATIENCE = 20_000


def text_of(data: bytes) -> str:
    """A file as text: what is no UTF-8 is replaced, here and wherever it is shown."""
    return data.decode("utf-8", "replace")


def analyser(perils: Perils) -> Analyser:
    """What the index is built with. A text that processes died over is cut in blocks.

    Raises:
        NoTokenizer: no package that counts tokens is installed.
    """
    count = counter("o200k").plain

    def analysed(data: bytes, path: str) -> Analysed | Skip:
        text = text_of(data)
        language = language_of(path, data[:HEAD])
        if language is None or is_minified(text):
            return "unsupported"
        digest = sha256(data).digest()
        if perils.is_dreaded(digest):
            language = "text"
        with perils.holding(digest):
            try:
                return analyse(guarded(text, language), language, count, _patience())
            except Exception as error:
                # One file that this version cannot cope with must not hide all others. What the
                # error says may quote the file; its kind and place do not.
                _say_where(error)
                return "unsupported"

    return Analyser(language_of, analysed, _version(), clean)


def _version() -> str:
    """Of all that an analysis goes by: the guard, the vocabulary, the grammars, Unicode."""
    names = ["rs-bpe", "bpe-openai", "tree-sitter"]
    names += sorted({table.package.replace("_", "-") for table in TABLES.values()})
    versions = [f"{name} {_version_of(name)}" for name in names]
    return ", ".join((GUARD, f"unicode {unidata_version}", *versions))


def _version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


def _patience() -> Callable[[], bool]:
    asked = counting()
    return lambda: next(asked) >= _PATIENCE


def _say_where(error: Exception) -> None:
    *_, place = traceback.extract_tb(error.__traceback__)
    words = f"a file was left out: {type(error).__name__} at {place.name}:{place.lineno}"
    print(words, file=sys.stderr, flush=True)
