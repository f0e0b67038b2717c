"""Pieces of the page: nothing but `shown` turns a text from a log into a part of HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from unicodedata import category

from fabricd.core.history.phrases import middle
from fabricd.core.history.tables import Column, Table
from fabricd.core.plain import printable

_LONGEST = 240
_PARAGRAPH = 2_000
_PER_CENT = re.compile(r"(?<=\d) (?=%)")


def shown(text: str, longest: int = _LONGEST) -> str:
    """Any text as HTML text or attribute value.

    Control characters, marks that turn the direction of writing and lone surrogates are spelled
    out; a text of more than `longest` characters loses its middle.
    """
    plain = middle(printable(text), longest)
    # A combining mark would join the `>` before it where somebody normalizes the file.
    if plain and category(plain[0]).startswith("M"):
        plain = f"◌{plain}"
    return escape(plain, quote=True)


def table(content: Table) -> str:
    """A table with its caption."""
    columns = content.columns
    heads = "".join(
        f'<th scope="col"{_style(column)}>{shown(column.title)}</th>' for column in columns
    )
    rows = "".join(
        f"<tr>{''.join(_cells(columns, index))}</tr>\n" for index in range(len(columns[0].cells))
    )
    label = shown(content.caption)
    return (
        f'<div class="wide" role="region" tabindex="0" aria-label="{label}">\n<table>\n'
        f"<caption>{label}</caption>\n<thead><tr>{heads}</tr></thead>\n"
        f"<tbody>\n{rows}</tbody>\n</table>\n</div>\n{quiet(content.more)}"
    )


def _cells(columns: Sequence[Column], index: int) -> Iterator[str]:
    yield f'<th scope="row" class="words">{shown(columns[0].cells[index])}</th>'
    for column in columns[1:]:
        yield f"<td{_style(column)}>{shown(column.cells[index])}</td>"


def _style(column: Column) -> str:
    return ' class="words"' if column.is_words else ""


def pairs(rows: Iterable[tuple[str, str]], style: str) -> str:
    """Terms and what is said of them; a row without a term goes on with the one before."""
    body = "".join(
        f"{f'<dt>{shown(term)}</dt>' if term else ''}<dd>{_sentence(words)}</dd>\n"
        for term, words in rows
    )
    return f'<dl class="{style}">\n{body}</dl>\n'


def _sentence(words: str) -> str:
    return _PER_CENT.sub("&nbsp;", shown(words, _PARAGRAPH))


def quiet(words: str) -> str:
    """A line in small print, or nothing."""
    return f'<p class="quiet">{shown(words, _PARAGRAPH)}</p>\n' if words else ""


def section(title: str, body: str) -> str:
    """A part of the page."""
    return f"<section>\n<h2>{shown(title)}</h2>\n{body}</section>\n"
