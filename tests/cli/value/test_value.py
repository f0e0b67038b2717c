"""`fabricd value`: validate, record, summary and show."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from fabricd.core.identity import canonical_line
from fabricd.core.value.own import receipts_of
from fabricd.core.value.record import check_record
from fabricd.core.value.summary import summarize_record, summarize_records
from fabricd.store.homes import find
from fabricd.store.value import Ledger, receipts_path
from tests.cli.running import Cli
from tests.core.value.making import DERIVED, NOT_ADDED, measurement, numbered, receipt, record, turn

BASELINED = measurement("saved", 30, baseline=1030, delta=-1000, limitations=["all [red]alike[/]"])


def put(folder: Path, name: str, document: Any) -> Path:
    """A file with a document."""
    path = folder / name
    path.write_bytes(canonical_line(document))
    return path


@pytest.fixture
def one(tmp_path: Path) -> Path:
    """A file with a sound record of two receipts."""
    hidden = measurement(
        "hidden", "on", unit="state", operator_display=False, aggregation=NOT_ADDED
    )
    made = record(numbered(1), numbered(2, BASELINED, hidden), telemetry={"tool_call_count": 3})
    return put(tmp_path, "one.json", made)


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A file with a sound record of another run."""
    return put(tmp_path, "two.json", record(numbered(3, run="run-2"), run="run-2"))


def test_validate_tells_a_receipt_from_a_record(cli: Cli, tmp_path: Path, one: Path) -> None:
    found = cli("value", "validate", one)
    assert (found.code, found.out) == (0, b'{"valid":true,"violations":[]}\n')
    assert (
        found.err == "[Trajectory Profiler] run-1 | observational record valid | 0 violation(s)\n"
    )
    found = cli("value", "validate", put(tmp_path, "r.json", receipt()))
    assert (found.code, found.out) == (0, b'{"valid":true,"violations":[]}\n')
    assert found.err == "[Trajectory Profiler] do-thing | value receipt valid | 0 violations\n"
    found = cli("value", "validate", "-", "--quiet", stdin=canonical_line(receipt(schema="x")))
    assert (found.code, found.err) == (1, "")
    assert [one["code"] for one in found.json["violations"]] == ["UNSUPPORTED_SCHEMA"]


def test_validate_explains_every_code_once(cli: Cli, tmp_path: Path) -> None:
    bad = record(receipt(schema="x"), receipt(schema="y"), 7, run="r\n\x1b[31m")
    found = cli("value", "validate", put(tmp_path, "bad.json", bad))
    assert found.code == 1
    assert found.err == (
        "[Trajectory Profiler] r\\n\\x1b[31m | observational record rejected | 3 violation(s)\n"
        "UNSUPPORTED_SCHEMA, 2 times, first at /value_receipts/0/schema: "
        "this is not value-receipt.v1\n"
        "  `schema` of a receipt is opsle.value-receipt.v1.\n"
        "OBJECT_REQUIRED, first at /value_receipts/2: an object is needed\n"
        "  Write an object here: not null, not an array. An optional one is left out.\n"
    )


@pytest.mark.parametrize("document", [b"null", b"[]", b"7", b"{}"])
def test_validate_whatever_else(cli: Cli, document: bytes) -> None:
    found = cli("value", "validate", "-", stdin=document)
    assert found.code == 1
    assert found.json["valid"] is False


@pytest.mark.parametrize("command", ["validate", "summary", "show"])
@pytest.mark.parametrize(
    ("data", "words"),
    [(b"{", "is not JSON"), (b"NaN", "NaN is not JSON"), (b"[" * 9000, "nested more than 2000")],
)
def test_what_is_no_json_is_one_sentence(cli: Cli, command: str, data: bytes, words: str) -> None:
    cli("value", command, "-", stdin=data).complains(2, "standard input cannot be used", words)


def test_what_cannot_be_read_is_one_sentence(cli: Cli, tmp_path: Path) -> None:
    cli("value", "validate", tmp_path / "no.json").complains(2, "no.json does not exist")
    cli("value", "summary", tmp_path).complains(2, "is a directory")
    cli("value", "summary", "-", "-").complains(2, "standard input can be read once")


def test_record_is_the_same_whatever_the_order(cli: Cli, tmp_path: Path) -> None:
    names = [put(tmp_path, f"{number}.json", numbered(number)) for number in range(4)]
    found = cli("value", "record", "--run", "run-1", *names)
    assert found.code == 0
    assert found.err.endswith(" | observational record valid | 0 violation(s)\n")
    assert check_record(found.json).violations == []
    assert cli("value", "record", "--run", "run-1", *reversed(names)).out == found.out
    indented = cli("value", "record", "--run", "run-1", "--pretty", *names)
    assert indented.out.startswith(b'{\n  "protocol_version"')
    assert indented.json == found.json


def test_a_record_that_would_not_be_valid_is_not_written(cli: Cli, tmp_path: Path) -> None:
    name = put(tmp_path, "r.json", receipt())
    found = cli("value", "record", "--run", "other", name)
    assert (found.code, found.out) == (1, b"")
    assert "RUN_IDENTITY_MISMATCH, first at /value_receipts/0/run/id" in found.err
    found = cli("value", "record", "--run", "run-1", name, name, "--quiet")
    assert (found.code, found.out, found.err) == (1, b"", "")
    experiment = {**DERIVED, "experiment_id": "x", "comparability": "CONTROLLED"}
    figure = measurement(derivation=experiment, aggregation=NOT_ADDED)
    other = put(tmp_path, "e.json", receipt({**figure, "class": "EXPERIMENTAL"}))
    found = cli("value", "record", "--run", "run-1", other)
    assert (found.code, found.out) == (1, b"")
    assert "EXPERIMENTAL_IN_OBSERVATIONAL_RECORD" in found.err
    cli("value", "record", name).complains(2, "Missing option '--run'")


def test_summary_of_one_and_of_several(cli: Cli, one: Path, two: Path) -> None:
    records = [json.loads(path.read_bytes()) for path in (one, two)]
    found = cli("value", "summary", one)
    assert found.out == canonical_line(summarize_record(records[0]))
    assert found.err == (
        "[Trajectory Profiler] run run-1 | 2 receipts ingested | 2 visible measurements | "
        "2 safe aggregates\n"
    )
    found = cli("value", "summary", "--cumulative", one)
    assert found.out == canonical_line(summarize_records(records[:1]))
    found = cli("value", "summary", two, one, "--quiet")
    assert (found.code, found.err) == (0, "")
    assert found.out == canonical_line(summarize_records(records))
    assert cli("value", "summary", one, two, "--pretty").json == found.json


def test_a_summary_of_what_is_not_valid_is_rejected(cli: Cli, one: Path) -> None:
    found = cli("value", "summary", one, one)
    assert (found.code, found.json["valid"]) == (1, False)
    assert found.err == "[Trajectory Profiler] value telemetry rejected | 4 violations\n"


def test_a_file_or_since(cli: Cli, one: Path) -> None:
    for command in ("summary", "show"):
        cli("value", command).complains(2, "Name a file or give --since")
        cli("value", command, one, "--since", "1d").complains(2, "and not both")


def keep(*receipts: Any) -> Path:
    """Let the home keep receipts; gives the home."""
    home = find(os.environ).home
    ledger = Ledger(home)
    ledger.add(receipts)
    ledger.close()
    return home


def ours(session: str, first: str, calls: int, days: int) -> Any:
    """A receipt of ours, so many days old."""
    at = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="seconds")
    return receipts_of([turn(session, first, calls, at)], "extended", "1.0")[0]


def test_since_sums_up_what_fabricd_did(cli: Cli) -> None:
    found = cli("value", "summary", "--since", "30d")
    assert (found.code, found.out) == (0, b"")
    found.says("no call was repaired since")
    home = keep(ours("s-1", "a", 2, 1), ours("s-1", "b", 1, 2), ours("s-2", "c", 4, 40))
    (total,) = cli("value", "summary", "--since", "30d").json["aggregates"]
    assert (total["measurement_id"], total["result_total"]) == ("calls_repaired", 3)
    (total,) = cli("value", "summary", "--since", "9w").json["aggregates"]
    assert (total["run_ids"], total["result_total"]) == (["s-1", "s-2"], 7)
    with receipts_path(home).open("ab") as file:
        file.write(b"{}\n{")
    found = cli("value", "summary", "--since", "30d")
    assert found.code == 0
    assert "fabricd: 1 line of the receipts cannot be read\n" in found.err
    receipts_path(home).unlink()
    receipts_path(home).mkdir()
    cli("value", "summary", "--since", "30d").complains(1, "is damaged: it is a directory")


def test_show_a_record(cli: Cli, one: Path) -> None:
    found = cli("value", "show", one)
    assert (found.code, found.err) == (0, "")
    text = found.out.decode()
    assert text.startswith("run run-1: 2 receipts, 3 figures\n\nTotals of what may be added\n")
    assert "  saved " in text
    assert "OBSERVED  OBSERVED  -1,000   1,030  VERIFIED" in text
    assert text.endswith(
        "- 1 figure not meant for the eye, counted above\n"
        "- 1 figure not marked as safe to add, in no total\n"
        "- recorded by the run itself: tool_call_count 3\n"
        "- saved: all [red]alike[/]\n"
    )


def test_show_a_receipt_a_summary_and_the_home(cli: Cli, tmp_path: Path, one: Path) -> None:
    found = cli("value", "show", put(tmp_path, "r.json", receipt(BASELINED)))
    assert found.code == 0
    assert found.out.startswith(b"receipt of do-thing in run run-1: 1 figure\n")
    assert b"- made up\n" in found.out
    summary = put(tmp_path, "s.json", cli("value", "summary", one).json)
    assert cli("value", "show", summary).out == cli("value", "show", one).out
    assert cli("value", "show", "--since", "2d").out == b""
    keep(ours("s-1", "a", 2, 1), ours("s-2", "c", 4, 1))
    found = cli("value", "show", "--since", "2d")
    assert found.out.startswith(b"2 runs: 2 receipts, 2 figures\n")
    assert b"calls_repaired      6  count  OBSERVED  OBSERVED" in found.out


def test_show_what_is_not_valid(cli: Cli, tmp_path: Path, one: Path) -> None:
    bad = put(tmp_path, "bad.json", record(7, 8))
    cli("value", "show", bad).complains(
        1, "OBJECT_REQUIRED at /value_receipts/0", "and 1 more violation"
    )
    bad = put(tmp_path, "r.json", receipt(run="", schema="opsle.value-receipt.v1"))
    cli("value", "show", bad).complains(1, "INVALID_IDENTITY at /run/id")
    summary = cli("value", "summary", one).json
    for name, value in (("aggregates", 7), ("run", []), ("visible_measurements", [{}])):
        broken = put(tmp_path, "s.json", {**summary, name: value})
        cli("value", "show", broken).complains(2, "s.json is no summary")


def test_deep_extensions_are_no_trouble(cli: Cli, tmp_path: Path) -> None:
    deep: Any = []
    for _ in range(1200):
        deep = [deep]
    path = put(tmp_path, "deep.json", receipt(extensions={"a": deep}))
    assert cli("value", "validate", path).code == 0
    found = cli("value", "record", "--run", "run-1", path, "--pretty")
    assert found.code == 0
    assert found.out.count(b"\n") == 1


def test_the_limit_of_a_file_can_be_chosen(cli: Cli, one: Path) -> None:
    size = one.stat().st_size
    for command in ("validate", "summary", "show"):
        small = ("value", command, "--max-bytes", str(size - 1))
        words = (2, f"larger than {size - 1:,} bytes", "--max-bytes allows more")
        cli(*small, one).complains(*words)
        cli(*small, "-", stdin=one.read_bytes()).complains(*words)
        assert cli("value", command, "--max-bytes", str(size), one).code == 0
    cli("value", "record", "--run", "r", "--max-bytes", "9", one).complains(2, "larger than 9")


def test_flags_of_the_other_command_line_are_taken(cli: Cli, one: Path) -> None:
    found = cli("value", "validate", "--summary", "--cumulative", one)
    assert found.out == cli("value", "validate", one).out and found.code == 0
    assert cli("value", "summary", "--summary", one).out == cli("value", "summary", one).out
    assert b"--summary" not in cli("value", "validate", "--help").out
