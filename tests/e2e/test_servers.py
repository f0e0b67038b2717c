"""Real servers behind the gateway: what is malformed succeeds, and nothing else is changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import pytest

from tests.e2e.calls import Call, Kind
from tests.e2e.conftest import Row
from tests.e2e.faults import arrivals, logged, outcomes, passed_alike, reported
from tests.e2e.playing import directly, through
from tests.e2e.servers import NAMES, server

pytestmark = pytest.mark.timeout(150)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path.resolve()


def test_half_of_many_calls_are_malformed_in_every_way(folder: Path) -> None:
    calls = [call for name in NAMES for call in server(name, folder, folder, "").calls]
    bent = [call for call in calls if call.fate != "identical"]

    assert len(calls) > 200 and 2 * len(bent) >= len(calls)
    assert {call.kind for call in calls} == set(get_args(Kind))


@pytest.mark.parametrize("name", NAMES)
def test_malformed_calls_succeed_through_the_gateway_alone(
    name: str, folder: Path, npm: Path, url: str, rows: list[Row]
) -> None:
    asked = server(name, folder, npm, url)
    calls = asked.calls
    bent = [call for call in calls if call.fate != "identical"]
    served = [call for call in calls if call.fate != "refused"]

    before = directly(asked, _sent(bent), folder / "bent")
    wanted = directly(asked, [(call.tool, call.proper) for call in served], folder / "proper")
    found, records = through(asked, _sent(calls), folder / "through")

    accepted = [call for call, a in zip(bent, before.answers, strict=True) if a.is_success]
    assert not accepted, "these are not malformed to the server"
    assert found.tools == wanted.tools and found.protocol == wanted.protocol
    faults = [
        *outcomes(asked, before.answers, wanted.answers, found.answers),
        *arrivals(calls, records),
        *logged(calls, records),
        *reported(calls, found.told),
    ]
    assert not faults, "\n".join(faults) + "\n" + records.complaints
    fates = [call.fate for call in calls]
    counts = [fates.count(fate) for fate in ("repaired", "identical", "refused")]
    rows.append(Row(name, found.protocol, len(calls), *counts))


@pytest.mark.parametrize("name", ["strict", "everything", "fetch"])
def test_an_observer_changes_nothing(name: str, folder: Path, npm: Path, url: str) -> None:
    asked = server(name, folder, npm, url)
    bent = [call for call in asked.calls if call.fate != "identical"]

    before = directly(asked, _sent(bent), folder / "bent")
    found, records = through(asked, _sent(bent), folder / "through", "--mode", "observe")

    assert found.answers == before.answers
    assert passed_alike(records) == []


def test_classic_conventions_repair_less_and_nothing_else(
    folder: Path, npm: Path, url: str
) -> None:
    asked = server("strict", folder, npm, url)
    bent = [call for call in asked.calls if call.fate == "repaired"]

    before = directly(asked, _sent(bent), folder / "bent")
    wanted = directly(asked, [(call.tool, call.proper) for call in bent], folder / "proper")
    found, _ = through(asked, _sent(bent), folder / "through", "--conventions", "classic")

    repaired: set[Kind] = set()
    for call, refusal, result, answer in zip(
        bent, before.answers, wanted.answers, found.answers, strict=True
    ):
        assert answer in (refusal, result), call
        repaired |= {call.kind} if answer == result else set()
    assert repaired == {"key-form", "number-text", "null-optional", "enum-form", "several"}


def test_calls_at_once_are_answered_each_with_its_own(folder: Path, npm: Path, url: str) -> None:
    asked = server("strict", folder, npm, url)
    bent = [call for call in asked.calls if call.fate == "repaired"]

    wanted = directly(asked, [(call.tool, call.proper) for call in bent], folder / "proper")
    found, _ = through(asked, _sent(bent), folder / "through", at_once=True)

    assert found.answers == wanted.answers


def _sent(calls: Sequence[Call]) -> list[tuple[str, object]]:
    return [(call.tool, call.sent) for call in calls]
