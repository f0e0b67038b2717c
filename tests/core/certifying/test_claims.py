from __future__ import annotations

from typing import Any

import pytest

from fabricd.core.certifying.certify import FIXED, certify_steps, evaluation_value, fixtures_value
from fabricd.core.certifying.claims import (
    Certification,
    Check,
    Claim,
    Claims,
    Finding,
    finding_steps,
)
from fabricd.core.certifying.corpora import Corpus, corpus_checks, corpus_value, examine_steps
from fabricd.core.certifying.examples import ALPHA, OPEN, SEARCH, SURFACE, artifact_json
from fabricd.core.certifying.laws import Laws
from fabricd.core.certifying.lines import audit, called, heard, log, recorded_in, result, traced
from fabricd.core.steps import finish
from tests.core.certifying.broken_reading import deaf
from tests.core.certifying.broken_repairs import trial_on


def found(*claims: Claim | None, error: Exception | None = None) -> Finding:
    def made() -> Claims:
        yield from claims
        if error is not None:
            raise error

    return finish(finding_steps(Check("a", "it holds", made)))


def test_a_check_whose_claims_all_hold_says_what_it_shows() -> None:
    passed = Finding("a", True, "it holds")
    assert found(None, Claim("x", 1, 1), None, Claim("y", "a", "a")) == passed


def test_a_check_that_compared_nothing_has_shown_nothing() -> None:
    assert found() == found(None) == Finding("a", False, "nothing was compared")


@pytest.mark.parametrize(
    ("claim", "detail"),
    [
        (Claim("x", 0.2, 0.4), "x: expected 0.2, found 0.4"),
        (Claim("x", {"b": 1, "a": [None]}, "no"), 'x: expected {"b":1,"a":[null]}, found "no"'),
        (Claim("x", b"\xff\n", b""), "x: expected \\xff\n, found "),
        (Claim("x", (1, 2), [1, 2]), "x: expected tuple, found list"),
        (Claim("x", None, object()), "x: expected null, found a value of type object"),
        (Claim("x", 0, 10**400), "x: expected 0, found a value of type int"),
        (Claim("x", "", "a" * 500), f'x: expected "", found "{"a" * 159}…'),
        (
            Claim("x", "a" * 500 + "b", "a" * 500 + "c" * 500),
            f'x: expected …{"a" * 40}b", found …{"a" * 40}{"c" * 120}…',
        ),
    ],
)
def test_a_deviation_is_said_with_both_values(claim: Claim, detail: str) -> None:
    assert found(Claim("w", 1, 1), claim) == Finding("a", False, detail)


def test_of_many_deviations_the_first_is_said_and_the_others_are_counted() -> None:
    two = found(Claim("x", 1, 2), Claim("y", 1, 2))
    assert two.detail == "x: expected 1, found 2 (and 1 more deviation)"
    three = found(*[Claim("x", 1, 2)] * 1001)
    assert three.detail.endswith("(and 1,000 more deviations)")


def test_a_law_that_raises_fails_its_check() -> None:
    holds = Claim("x", 1, 1)
    assert found(holds, error=KeyError("ref")).detail == "it ended in KeyError: 'ref'"
    assert found(holds, error=ValueError()).detail == "it ended in ValueError"
    both = found(Claim("x", 1, 2), error=ValueError("so\nit is"))
    assert both.detail == "x: expected 1, found 2 (and 1 more deviation)"


def test_no_path_gets_into_a_finding() -> None:
    error = FileNotFoundError(2, "No such file", "/tmp/somewhere")
    assert found(error=error).detail == "it ended in FileNotFoundError"


def test_findings_come_in_a_fixed_order() -> None:
    def holds() -> Claims:
        yield Claim("x", 1, 1)

    checks = [Check(name, "", holds) for name in reversed(FIXED)]
    made = finish(certify_steps(checks))
    assert tuple(finding.id for finding in made.findings) == FIXED


def test_a_certification_without_findings_certifies_nothing() -> None:
    assert not Certification(()).passed
    assert evaluation_value(Certification(())) == {"passed": False, "checks": [], "failed": []}


def test_the_evaluation_lists_what_failed() -> None:
    made = Certification((Finding("a", True, "so"), Finding("b", False, "not so")))
    assert evaluation_value(made) == {
        "passed": False,
        "checks": [
            {"id": "a", "passed": True, "detail": "so"},
            {"id": "b", "passed": False, "detail": "not so"},
        ],
        "failed": ["b"],
    }
    assert fixtures_value()["checks"] == len(FIXED) == 31


# --- a corpus


def findings(
    *sessions: bytes,
    unread: int = 0,
    artifact: object = None,
    tried: bool = True,
    laws: Laws | None = None,
) -> dict[str, Finding]:
    """The findings, by id, on a corpus of sessions and the example surface."""
    laws = laws or Laws()
    corpus = Corpus(
        len(sessions), unread, heard(laws, *sessions), lambda: recorded_in(laws, *sessions)
    )
    given = None if artifact is None else laws.artifact_of(artifact)
    examined = finish(examine_steps(laws, corpus, laws.surface(SURFACE), given, tried))
    value = corpus_value(laws, examined)
    assert ("trial" in value, "artifact" in value) == (tried, given is not None)
    made = finish(certify_steps(corpus_checks(laws, examined)))
    return {finding.id: finding for finding in made.findings}


def failed(*sessions: bytes, **options: Any) -> set[str]:
    """The checks that fail on it."""
    found = findings(*sessions, **options).values()
    return {finding.id for finding in found if not finding.passed}


def test_a_sound_corpus_passes() -> None:
    assert failed(ALPHA) == set()
    assert failed(ALPHA, tried=False) == set()
    assert failed(ALPHA, artifact=artifact_json(0.5, "theirs")) == set()


def test_a_corpus_without_operations_fails() -> None:
    assert failed(tried=False) == {"corpus-mode"}
    assert failed(log({"type": "session"})) == {"corpus-mode", "trial-mode"}


def test_a_log_that_was_not_read_fails() -> None:
    assert failed(ALPHA, unread=1) == {"corpus-mode"}


def test_an_artifact_that_the_surface_does_not_prove_fails() -> None:
    theirs = artifact_json(0.5, "theirs")
    plan = {**theirs["normalizations"][0], "baseSchemaDigest": "0" * 64}
    assert failed(ALPHA, artifact={**theirs, "normalizations": [plan]}) == {"artifact-mode"}


def test_a_legacy_artifact_fails_since_it_is_inert() -> None:
    legacy = artifact_json(0.5, "theirs") | {"version": 1, "metricVersion": 2}
    found = findings(ALPHA, artifact=legacy)["artifact-mode"]
    assert not found.passed
    assert found.detail.startswith("the version, of which 1 is inert and has no effect anywhere")


def test_what_a_sound_artifact_did_not_meet_is_said() -> None:
    theirs = artifact_json(0.5, "theirs")
    none = findings(ALPHA, artifact={**theirs, "normalizations": []})["artifact-mode"]
    assert none == Finding("artifact-mode", True, "it holds no plans: nothing of it was tried")
    session = log(result(traced(called(OPEN, {}))))
    unmet = [plan for plan in theirs["normalizations"] if plan["ref"] == SEARCH]
    found = findings(session, artifact={**theirs, "normalizations": unmet})["artifact-mode"]
    assert found.passed and found.detail.endswith("live surface; no call met any of them")
    met = findings(ALPHA, artifact={**theirs, "normalizations": unmet})["artifact-mode"]
    assert met.passed and met.detail.endswith("4 calls met them")


# Of SEARCH three audits stand for one operation, of OPEN there are two operations; nothing else
# is declared, or only looks around.
AUDITED = log(
    result(
        traced(
            called(SEARCH, {"query": "a"}),
            called(OPEN, {}),
            called("mcp.undeclared", {}),
            called("fabric.discovery.list", {}),
        ),
        audit(SEARCH, {"query": "a"}),
        audit(SEARCH, {"query": "b"}),
        audit("mcp.undeclared", {}),
        audit("fabric.discovery.list", {}),
    ),
    result(traced(called(OPEN, {})), audit(SEARCH, {"query": "c"})),
)


def test_the_calls_to_try_are_counted_independently() -> None:
    assert failed(AUDITED) == set()
    found = findings(AUDITED, laws=trial_on(deaf))["trial-mode"]
    # The score is as it was, and all counts of the trial fit together.
    assert found.detail.startswith("calls that were tried: expected 5, found 3")
