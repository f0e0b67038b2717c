"""Checks of the measure: metric 3 is a plain rate, and nothing else moves it."""

from __future__ import annotations

import json

from fabricd.core.certifying.claims import Claim, Claims, Table, named_claims
from fabricd.core.certifying.examples import (
    ALPHA,
    BETA,
    LEXICON,
    OPEN,
    RATE,
    REPORT,
    REPORT_TEXT,
    SEARCH,
    SURFACE,
)
from fabricd.core.certifying.laws import Laws
from fabricd.core.certifying.lines import called, heard, log, result, traced
from fabricd.core.entropy.meter import Catalog, Report, report_value

_PLAIN = log(
    result(
        traced(
            *(called(OPEN, {}) for _ in range(8)),
            *(called(OPEN, {}, "failed", "validate") for _ in range(2)),
        )
    )
)
_DIAGNOSTICS = (
    "shapeEntropyBits",
    "failureStageEntropyBits",
    "churnRate",
    "navigationRatio",
    "flowEntropyBits",
    "lexiconRows",
    "staticFreedom",
    "staticScore",
)


def catalog(laws: Laws) -> Catalog:
    """What the example surface and two repair rows contribute to a report."""
    surface = laws.surface(SURFACE)
    return Catalog(surface.digest, laws.freedom(surface), LEXICON, sum(LEXICON.values()))


def measured(laws: Laws, *sessions: bytes) -> Report:
    """The report of sessions beside the example surface."""
    return laws.measure(heard(laws, *sessions), catalog(laws))


def _exact(laws: Laws) -> Claims:
    found = json.loads(laws.report_text(measured(laws, ALPHA, BETA)))
    yield from named_claims("the report", REPORT, found)
    yield Claim("its members, in order", list(REPORT), list(found))


def _sample_count(laws: Laws) -> Claims:
    for times in (1, 3, 10):
        found = measured(laws, *[ALPHA, BETA] * times)
        yield Claim(f"the score of {times} copies", RATE, found.score)
        yield Claim(
            f"the refusals of {times} copies", 2 * times, found.totals.invocation_rejections
        )
        yield Claim(f"the calls of {times} copies", 10 * times, found.totals.action_operations)
        yield Claim(
            f"refusals in 1,000 calls, of {times} copies",
            200,
            found.totals.invocation_rejections_per1k,
        )


def _diagnostics(laws: Laws) -> Claims:
    varied = report_value(measured(laws, ALPHA, BETA))
    plain = report_value(laws.measure(heard(laws, _PLAIN), Catalog()))
    for words, found in (("of varied calls", varied), ("of plain calls", plain)):
        yield Claim(f"the score {words}", RATE, found["score"])
        yield Claim(f"the behavioral score {words}", RATE, found["behavioralScore"])
    for name in _DIAGNOSTICS:
        yield Claim(f"{name} of varied calls", REPORT[name], varied[name])
        yield Claim(f"{name} of plain calls", 0, plain[name])


def _all_failed(laws: Laws) -> Claims:
    refused = called(SEARCH, {"q": 1}, "failed", "validate")
    found = laws.measure(heard(laws, log(result(traced(*[refused] * 100)))), Catalog())
    yield Claim("the score", 1, found.score)
    yield Claim("refusals in 1,000 calls", 1000, found.totals.invocation_rejections_per1k)
    yield Claim("the score of the action", [1], [row.score for row in found.refs])
    yield Claim("successes", 0, found.totals.succeeded)


def _double_run(laws: Laws) -> Claims:
    for turn in ("first", "second", "third"):
        found = laws.report_text(measured(laws, ALPHA, BETA))
        yield Claim(f"the report of the {turn} run", REPORT_TEXT, found)
        yield Claim(f"the rate in between, {turn} run", RATE, measured(laws, _PLAIN).score)


CHECKS: Table = (
    (
        "metric-v3-exact",
        "each figure of a report is the one that was worked out by hand",
        _exact,
    ),
    (
        "sample-count-invariance",
        "a corpus that is repeated has the same score",
        _sample_count,
    ),
    (
        "diagnostics-not-objective",
        "the score is refusals by calls alone, however much the diagnostics differ",
        _diagnostics,
    ),
    (
        "allfail-nonzero",
        "calls that were all refused are a rate of one, not of nothing",
        _all_failed,
    ),
    (
        "determinism-double-run",
        "measured again, with other work in between, a corpus gives the very same bytes",
        _double_run,
    ),
)
