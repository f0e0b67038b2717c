"""The commands about value of `agent-trajectory-profiler`, where no vector looks."""

from __future__ import annotations

import json

from fabricd.core.identity import canonical_line
from fabricd.daemon.cli.profiler.command import Answer, answer
from tests.core.value.making import receipt, record

REJECTED = {"code": "OBJECT_REQUIRED", "message": "an object is needed", "path": "/"}


def told(*words: str, document: bytes) -> Answer:
    """The answer about a file."""
    return answer([*words, "x.json"], lambda _: document)


def test_a_null_record_is_answered_and_refused_unless_nobody_listens() -> None:
    verdict = canonical_line({"valid": False, "violations": [REJECTED]})
    loud = told("validate-record", document=b"null")
    assert (loud.code, b"".join(loud.out)) == (2, verdict)
    assert json.loads(loud.err)["code"] == "INVALID_INVOCATION"
    quiet = told("validate-record", "--quiet", document=b"null")
    assert (quiet.code, b"".join(quiet.out), quiet.err) == (1, verdict, b"")


def test_a_null_among_records_is_rejected_like_any_other() -> None:
    found = told("value-summary", "--cumulative", document=b"null")
    assert found.code == 1
    assert found.err == b"[Trajectory Profiler] value telemetry rejected | 1 violation\n"


def test_an_odd_run_id_is_told_as_it_is() -> None:
    made = record(receipt(run="a\nb\ud800"), run="a\nb\ud800")
    found = told("value-summary", document=canonical_line(made))
    assert found.code == 0
    assert found.err.startswith("[Trajectory Profiler] run a\nb\ufffd | 1 receipt ".encode())
