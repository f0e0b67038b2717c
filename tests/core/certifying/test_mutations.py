"""Every check passes on the product, and fails where the law that it guards is broken."""

from __future__ import annotations

from dataclasses import fields

import pytest

from fabricd.core.certifying.certify import FIXED, ON_A_CORPUS, certify_steps
from fabricd.core.certifying.claims import Check, Finding, finding_steps
from fabricd.core.certifying.corpora import corpus_checks, examine_steps
from fabricd.core.certifying.examples import ALPHA, BETA, COMPILE_DIGEST, SURFACE, artifact_json
from fabricd.core.certifying.laws import Laws
from fabricd.core.steps import finish
from fabricd.daemon.offline.certifying import Machine, fixed_checks
from tests.core.certifying.mutations import LAWS, MUTATIONS, Mutation, corpus_of

CASES = [
    pytest.param(name, mutation, id=f"{name}-{place}")
    for name, mutations in MUTATIONS.items()
    for place, mutation in enumerate(mutations, start=1)
]


def all_checks(laws: Laws, machine: Machine) -> dict[str, Check]:
    """All checks by id: the fixed ones, and those of a corpus with surface, trial and artifact."""
    artifact = LAWS.artifact_of(artifact_json(0.2, COMPILE_DIGEST))
    corpus = corpus_of(LAWS, ALPHA, BETA)
    surface = LAWS.surface(SURFACE)
    examined = finish(examine_steps(laws, corpus, surface, artifact, tried=True))
    checks = (*fixed_checks(laws, machine), *corpus_checks(laws, examined))
    return {check.id: check for check in checks}


def finding(name: str, mutation: Mutation) -> Finding:
    """What a check says of a broken law."""
    is_law = isinstance(mutation, Laws)
    laws = mutation if is_law else Laws()
    machine = Machine() if is_law else mutation
    assert isinstance(machine, Machine)
    return finish(finding_steps(all_checks(laws, machine)[name]))


def test_the_product_passes_every_check() -> None:
    found = finish(certify_steps(all_checks(Laws(), Machine()).values()))
    assert [each.detail for each in found.findings if not each.passed] == []
    assert tuple(each.id for each in found.findings) == (*FIXED, *ON_A_CORPUS)
    assert found.passed and not found.failed


@pytest.mark.parametrize(("name", "mutation"), CASES)
def test_a_broken_law_is_noticed(name: str, mutation: Mutation) -> None:
    found = finding(name, mutation)
    assert not found.passed
    # Noticed by what was compared, and not because something broke on the way there.
    assert "expected" in found.detail and "found" in found.detail


def test_every_check_has_a_mutation() -> None:
    assert set(MUTATIONS) == {*FIXED, *ON_A_CORPUS}
    assert all(MUTATIONS.values())


def test_every_law_is_broken_by_some_mutation() -> None:
    broken = {
        field.name
        for mutations in MUTATIONS.values()
        for mutation in mutations
        for field in fields(mutation)
        if getattr(mutation, field.name) != getattr(type(mutation)(), field.name)
    }
    assert broken == {field.name for laws in (Laws, Machine) for field in fields(laws)}
