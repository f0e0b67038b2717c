"""What a query asks for: its terms, and the definitions, places and kinds of file it names."""

from __future__ import annotations

import re
from typing import NamedTuple

from fabricd.core.context.ranking.kinds import PathKind, wished
from fabricd.core.context.ranking.places import Place, folders, names, places
from fabricd.core.context.ranking.questions import WISHES, fillers
from fabricd.core.context.ranking.weights import Weights
from fabricd.core.context.terms import STOP_WORDS, query_terms, terms_of, words_of

MOST_TERMS = 64
MOST_SYMBOLS = 24

# Stems of verbs stand behind the endings that make nouns of them.
_SHORTEST = 4
_ENDINGS = (("ation", ("", "at")), ("ion", ("",)), ("er", ("",)), ("or", ("",)), ("ment", ("",)))
_ENDED = ("ion", "er", "or", "ation", "ment")
_SYMBOL = re.compile(r"[^\W\d][\w$]*(?:(?:\.|::|#|->)[#$]?[^\W\d][\w$]*)*")
_ONLY = re.compile(rf"{_SYMBOL.pattern}(?:\([^()\n]*\))?")
_JOINT = re.compile(r"\.|::|#|->")
_CODE_LIKE = re.compile(r"[^_]_|[a-z0-9][A-Z]|^_|^[A-Z][a-z]|^[A-Z]{2,}$|\$")
# Go writes the method of a pointer's type `main.(*Client).Do`.
_RECEIVER = re.compile(r"(?<![\w)\]])\(\*?([^\W\d]\w*)\)\.(?=[^\W\d])")
_SCOPE = re.compile(r"\s*([\w./-]{2,60}(?:\([\w./ -]{1,40}\))?)!?: ")


class Symbol(NamedTuple):
    """A name that looks like a definition's.

    Attributes:
        container: the name before it, of a type or a module, if one was told.
        is_quoted: whether it stands in backticks, behind a dot or before a parenthesis.
    """

    name: str
    container: str = ""
    is_quoted: bool = False


class Term(NamedTuple):
    """A term of the query.

    Attributes:
        forms: other forms of the same word, as far as endings tell.
        is_wish: whether it says what is to be done rather than with what; no definition is
            meant by it.
    """

    text: str
    weight: float
    forms: tuple[str, ...] = ()
    is_wish: bool = False


class Wanted(NamedTuple):
    """A query as ranking sees it.

    Attributes:
        terms: in the query's order.
        only: whether the query is a single name.
        names: what may be a file, if the tree has one of that name.
        one_file: whether a place is all that the query is about.
        scope: the terms of what stands before the first colon, as in `fixtures: fix …`.
    """

    terms: tuple[Term, ...]
    symbols: tuple[Symbol, ...]
    only: bool
    places: tuple[Place, ...]
    names: tuple[Place, ...]
    one_file: bool
    folders: tuple[str, ...]
    kinds: frozenset[PathKind]
    scope: frozenset[str]


def wanted(query: str, weights: Weights) -> Wanted:
    """Read a query."""
    scope = _SCOPE.match(query)
    told = places(query)
    words = words_of(query)
    little = fillers(query, words)
    matter = [word for word in words if word not in little and word.lower() not in STOP_WORDS]
    about = matter[0] if little and len(set(matter)) == 1 else ""
    flat = _RECEIVER.sub(r"\1.", query)
    symbols = _symbols(flat, about)
    suffixes = frozenset(place.suffix for place in told) - {""}
    return Wanted(
        _weighed(query, little, suffixes, weights),
        symbols,
        len(words) <= 1 + bool(symbols and symbols[0].container)
        or _ONLY.fullmatch(flat.strip()) is not None,
        told,
        names(query, bool(about) or len(words) == 1),
        _is_one_file(told or names(query, False), matter),
        folders(query),
        wished(query),
        frozenset(terms_of(scope[1])) if scope else frozenset(),
    )


def _is_one_file(told: tuple[Place, ...], matter: list[str]) -> bool:
    """Whether nothing is left of a query but one file's path."""
    of_places = [set(words_of(place.path)) for place in told]
    meant = [own for own in of_places if not own.isdisjoint(matter)]
    return len(meant) == 1 and all(word in meant[0] for word in matter)


def _weighed(
    query: str, little: frozenset[str], suffixes: frozenset[str], weights: Weights
) -> tuple[Term, ...]:
    found: dict[str, float] = {}
    wishes: set[str] = set()
    for word in words_of(query):
        whole, *parts = terms_of(word) or [""]
        if word in little or word.lower() in suffixes:
            weight = weights.filler
            wishes.add(whole)
        elif whole in WISHES:
            weight = weights.wish
            wishes.add(whole)
        else:
            weight = weights.compound if parts else 1.0
        found[whole] = max(found.get(whole, 0.0), weight)
        for part in parts:
            found.setdefault(part, weights.parts)
    terms = query_terms(query)
    if len(terms) > MOST_TERMS:
        # A trace begins with what was called and ends with what went wrong.
        terms = terms[: MOST_TERMS // 2] + terms[-(MOST_TERMS // 2) :]
    return tuple(Term(one, found.get(one, 1.0), forms_of(one), one in wishes) for one in terms)


def forms_of(term: str) -> tuple[str, ...]:
    """Other forms of a word: `deprecate`, `deprecation`; `parse`, `parser`; `improve`, `-ment`."""
    if len(term) < _SHORTEST or not (term.isascii() and term.isalpha()):
        return ()
    for ending, others in _ENDINGS:
        if term.endswith(ending):
            base = term.removesuffix(ending)
            return tuple(base + other for other in others if len(base + other) >= _SHORTEST)
    return tuple(term + ending for ending in _ENDED)


def _symbols(query: str, about: str) -> tuple[Symbol, ...]:
    found: dict[Symbol, None] = {}
    for match in _SYMBOL.finditer(query):
        parts = [part for part in _JOINT.split(match[0]) if part]
        begin, end = match.span()
        before, behind = query[max(0, begin - 2) : begin], query[end : end + 1]
        is_quoted = before[-1:] == "`" or before == "`." or before == " ." or behind in ("(", "`")
        if len(parts) > 1:
            found[Symbol(parts[-1], parts[-2], is_quoted)] = None
        elif is_quoted or _CODE_LIKE.search(match[0]) or match[0] in (query.strip(), about):
            found[Symbol(match[0], "", is_quoted)] = None
    return tuple(found)[:MOST_SYMBOLS]
