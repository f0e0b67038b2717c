"""The guard: what every text passes on its way out."""

# Placeholders are written as they are shown.

from __future__ import annotations

from collections.abc import Iterator

from fabricd.core.context.guard.assignments import assignments
from fabricd.core.context.guard.finding import Found, replaced, settled, spans_of
from fabricd.core.context.guard.keyblocks import key_blocks
from fabricd.core.context.guard.shapes import prefixed_tokens, runs_of, vendor_tokens
from fabricd.core.context.guard.signals import signals_of
from fabricd.core.context.guard.structures import structures
from fabricd.core.context.model import Guarded, Span

# The version of the rules, in every receipt.
GUARD = "guard/1"
# A placeholder may leave what stood beside a secret in a shape of its own. Rounds end when one
# finds nothing; text in the wild needs two.
_ROUNDS = 8


def guarded(text: str, language: str | None) -> Guarded:
    """A text without its secrets, and where it addresses an assistant.

    Spans are places in `text`; signals count lines from 1. The k-th secret of the text, from its
    beginning, is `‹secret:KIND:k›`; one that stands there twice is two; each line of a secret of
    several lines has a placeholder with the same k.
    """
    spans = _spans(text, language)
    clear = replaced(text, spans) if spans else text
    return Guarded(clear, spans, signals_of(clear, language))


def clean(text: str) -> str:
    """A query, path, name or receipt string without its secrets."""
    spans = _spans(text, None)
    return replaced(text, spans) if spans else text


def _spans(text: str, language: str | None) -> tuple[Span, ...]:
    found = settled(_found(text, language), text)
    if not found:
        return ()
    for _ in range(_ROUNDS):
        spans = spans_of(found)
        clear = replaced(text, spans)
        more = settled(_found(clear, language), clear)
        if not more:
            return spans
        found = settled(found + [_original(one, spans) for one in more], "")
    return spans_of(found)


def _original(one: Found, spans: tuple[Span, ...]) -> Found:
    """A find in the replaced text as one in the text itself."""
    edges = [edge for part in one.parts or ((one.start, one.end),) for edge in part]
    places: list[int] = []
    shift = number = 0
    for edge in edges:
        while number < len(spans) and spans[number].start + shift < edge:
            span = spans[number]
            shift += len(span.placeholder) - (span.end - span.start)
            number += 1
        places.append(edge - shift)
    parts = tuple(zip(places[::2], places[1::2], strict=True))
    return Found(parts[0][0], parts[-1][1], one.kind, one.rank, parts if one.parts else ())


def _found(text: str, language: str | None) -> Iterator[Found]:
    # One byte a character, so that places are the same in both.
    narrow = text.encode("latin-1", "replace")
    low = narrow.lower()
    runs = runs_of(text, narrow)
    yield from key_blocks(text)
    yield from vendor_tokens(text, runs)
    yield from prefixed_tokens(runs)
    yield from structures(text, low, runs)
    yield from assignments(text, low, language)
