"""The constants of ranking, in one place."""

from __future__ import annotations

from typing import NamedTuple

MILLION = 1_000_000


class Weights(NamedTuple):
    """What counts how much. Where nothing else is said, a share of the best text score.

    Attributes:
        fields: of a term in each of `FIELDS`.
        spread: how far a longer field than usual counts for its length, of each of `FIELDS`.
        path: of a term in the file's path, beside `fields`.
        saturation: BM25's k1.
        compound: of the whole of a compound word (`parse_url`), beside a plain word's 1.
        parts: of its parts, where the query has the whole.
        wish: of the words in which wishes are put (`add`, `fix`, `support`).
        filler: of the words in which questions are put (`where`, `defined`), of a file's suffix.
        forms: of another form of a word (`parser` for `parse`).
        unnamed: what is left of a unit that defines nothing.
        demoted: what is left of a file that is no source, unless the query asks for its kind.
        vendored: the same of a file that is generated, a translation or somebody else's.
        file: of a file's own text score.
        scope: of a file whose name the query begins with (`fixtures: …`).
        symbol: of a definition that the query names.
        quoted: the same of one in backticks, or before a parenthesis, or of a name that few have.
        few: how many.
        member: of a definition that the query names with its type or module.
        place: of a unit at a line that the query names.
        named: of the units of a file that the query names.
        alone: the same if the query is about nothing else.
        called: of a definition that one of the best units refers to.
        tested: of a definition that one of the best tests refers to.
        callers: how many of the best units are asked what they refer to.
        shared: a name with more definitions than this is nobody's.
        history: of a file that commits of similar subject touched.
        commits: how many such commits.
        together: of a file that often changes with the best files.
        leaders: how many best files.
        recent: of a file that changed last.
        half: after how many commits half of that is left.
        near: of the units before and behind in the file: what is changed together stands together.
        similar: what is left of a unit that is nearly the same as a better one.
    """

    fields: tuple[float, float, float, float] = (8.0, 0.5, 1.0, 1.0)
    spread: tuple[float, float, float, float] = (0.0, 0.75, 0.75, 0.75)
    path: float = 4.0
    saturation: float = 1.6
    compound: float = 1.3
    parts: float = 0.65
    wish: float = 0.8
    filler: float = 0.2
    forms: float = 0.5
    unnamed: float = 0.85
    demoted: float = 0.2
    vendored: float = 0.15
    file: float = 0.12
    scope: float = 0.25
    symbol: float = 0.1
    quoted: float = 0.4
    few: int = 3
    member: float = 0.8
    place: float = 1.0
    named: float = 0.5
    alone: float = 2.0
    called: float = 0.2
    tested: float = 0.2
    callers: int = 10
    shared: int = 5
    history: float = 0.1
    commits: int = 20
    together: float = 0.1
    leaders: int = 3
    recent: float = 0.05
    half: int = 50
    near: float = 0.05
    similar: float = 0.7


WEIGHTS = Weights()
