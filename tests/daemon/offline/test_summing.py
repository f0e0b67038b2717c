"""Sums that several processes make are those that one makes."""

from __future__ import annotations

import os
import signal

import pytest

from fabricd.core.history.calls import AgentName, CallTable
from fabricd.core.history.judging import Judge
from fabricd.core.history.recorder import Recorder
from fabricd.core.history.summary import Wanted
from fabricd.daemon.offline import summing
from fabricd.daemon.offline.summing import Sums, Tables, sums_of
from tests.core.history.tables import arguments


def table(agent: AgentName, calls: int) -> CallTable:
    found = CallTable(agent)
    recorder = Recorder(found, Judge())
    for number in range(calls):
        # A half of a pair has no encoding, and comes through all the same.
        recorder.call(f"c{number}", "Read\ud800", arguments({"n": number}), "s")
    return found


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> Tables:
    """Three agents, of which one process or two make the sums."""
    monkeypatch.setattr(summing, "_WORTH_SHARING", 1)
    monkeypatch.setattr(summing, "may_fork", lambda: True)
    return {
        "pi": [table("pi", 3)],
        "codex": [table("codex", 2), table("codex", 4)],
        "claude-code": [table("claude-code", 1)],
    }


@pytest.mark.parametrize("processes", [2, 3, 8])
def test_several_processes_sum_as_one(tables: Tables, processes: int) -> None:
    alone = sums_of(tables, Wanted(), 1)
    assert {agent: value["calls"] for agent, value in alone.items()} == {
        "pi": 3,
        "codex": 4,
        "claude-code": 1,
    }
    assert sums_of(tables, Wanted(), processes) == alone


def test_what_a_killed_process_was_to_sum_is_summed_here(
    tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone, own, sums = sums_of(tables, Wanted(), 1), os.getpid(), summing._sums

    def killed(share: Tables, wanted: Wanted) -> Sums:
        if os.getpid() != own:
            os.kill(os.getpid(), signal.SIGKILL)
        return sums(share, wanted)

    monkeypatch.setattr(summing, "_sums", killed)
    assert sums_of(tables, Wanted(), 3) == alone


def test_what_breaks_there_is_told_here(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(share: Tables, wanted: Wanted) -> Sums:
        raise ValueError(str(len(share)))

    monkeypatch.setattr(summing, "_sums", broken)
    with pytest.raises(ValueError, match="1"):
        sums_of(tables, Wanted(), 3)
