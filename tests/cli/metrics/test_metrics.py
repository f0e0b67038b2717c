"""The exposition text against the parser of those who read it, and the command beside a daemon."""

from __future__ import annotations

import json
import random
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

import fabricd
from fabricd.daemon.cli.metrics.exposition import Family, rendered
from fabricd.daemon.cli.metrics.families import FAMILIES
from fabricd.ipc import PROTOCOL, client
from fabricd.ipc.client import Reply
from tests.cli.running import Cli
from tests.harness import daemon, trace_line
from tests.ipc.listeners import listening, replying, silent

COUNTER = Family("counters", "reads", "fabricd_reads_total", "Reads.", ("how",))
GAUGE = Family("gauges", "lag", "fabricd_lag_seconds", "Lag.")
NESTED = Family("counters", "requests", "fabricd_requests_total", "By both.", ("method", "ending"))


def parsed(text: str) -> dict[str, list[tuple[dict[str, str], float]]]:
    """Every sample by its name, as the reference parser reads it."""
    found: dict[str, list[tuple[dict[str, str], float]]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, []).append((sample.labels, float(sample.value)))
    return found


def test_a_family_has_help_type_and_its_samples_in_order() -> None:
    numbers = {"counters": {"reads": {"b": 2, "a": 1}}, "gauges": {"lag": 0.25}}
    assert rendered((COUNTER, GAUGE), numbers) == (
        "# HELP fabricd_reads_total Reads.\n"
        "# TYPE fabricd_reads_total counter\n"
        'fabricd_reads_total{how="a"} 1\n'
        'fabricd_reads_total{how="b"} 2\n'
        "# HELP fabricd_lag_seconds Lag.\n"
        "# TYPE fabricd_lag_seconds gauge\n"
        "fabricd_lag_seconds 0.25\n"
    )


LABEL = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NUMBER = st.one_of(
    st.integers(0, 2**63), st.floats(allow_nan=False, allow_infinity=False, min_value=0)
)


@given(st.dictionaries(LABEL, st.dictionaries(LABEL, NUMBER, max_size=3), max_size=3), NUMBER)
def test_the_reference_parser_reads_what_was_written(
    requests: dict[str, dict[str, float]], lag: float
) -> None:
    numbers = {"counters": {"requests": requests}, "gauges": {"lag": lag}}
    found = parsed(rendered((NESTED, GAUGE), numbers))
    expected = [
        ({"method": method, "ending": ending}, float(number))
        for method, endings in sorted(requests.items())
        for ending, number in sorted(endings.items())
    ]
    assert found.get("fabricd_requests_total", []) == expected
    assert found["fabricd_lag_seconds"] == [({}, float(lag))]


@pytest.mark.parametrize(
    "numbers",
    [
        {},
        {"counters": None, "gauges": []},
        {"counters": {"reads": 5}, "gauges": {"lag": None}},
        {"counters": {"reads": {"a": "1"}}, "gauges": {"lag": True}},
    ],
)
def test_what_is_missing_or_no_number_is_left_out(numbers: dict[str, object]) -> None:
    assert rendered((COUNTER, GAUGE), numbers) == ""


def test_a_label_without_a_utf8_form_is_spelled_out() -> None:
    text = rendered((COUNTER,), {"counters": {"reads": {"\ud800": 1}}})
    assert text.encode() and "\\ud800" in text


def test_names_are_unique_and_say_what_they_are() -> None:
    assert len({family.name for family in FAMILIES}) == len(FAMILIES)
    for family in FAMILIES:
        assert family.name.startswith("fabricd_") and family.purpose.endswith(".")
        assert family.name.endswith("_total") == (family.group == "counters")


def test_a_daemon_tells_every_family_and_nothing_else(place: Path) -> None:
    rng = random.Random(4)
    with daemon(place / "d") as subject:
        lines = [trace_line(rng) + b"\n" for _ in range(20)]
        (subject.sessions / "s.jsonl").write_bytes(b"".join(lines))
        subject.declare()
        subject.start()
        subject.call("compile_now")
        subject.call("turn_end", {"transcript_path": "/etc/hostname"})
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(subject.socket)
            client.sendall(b"garbage\n")
            assert client.recv(1 << 16)
        asked = subject.call("metrics").result
        printed = subject.run("metrics")
        status = subject.status()
    assert (printed.returncode, printed.stderr) == (0, "")
    found = parsed(printed.stdout)
    # What has not happened yet has no sample where it is counted by kind.
    by_kind = {family.name for family in FAMILIES if family.labels}
    assert {family.name for family in FAMILIES} - set(found) <= by_kind
    assert {family.member for family in FAMILIES} == {*asked["counters"], *asked["gauges"]}
    assert found["fabricd_read_traces_total"] == [({}, 20.0)]
    assert found["fabricd_read_bytes_total"] == [({}, float(len(b"".join(lines))))]
    assert ({"how": "new-file"}, 1.0) in found["fabricd_read_passes_total"]
    assert ({"outcome": "written"}, 1.0) in found["fabricd_compiles_total"]
    assert found["fabricd_ignored_transcripts_total"] == [({}, 1.0)]
    assert status["ignoredTranscripts"] == 1
    requests = found["fabricd_requests_total"]
    assert ({"method": "compile_now", "ending": "answered"}, 1.0) in requests
    assert ({"method": "unknown", "ending": "refused"}, 1.0) in requests
    assert found["fabricd_window_files"] == [({}, 1.0)]
    assert found["fabricd_open_descriptors"][0][1] > 3
    assert found["fabricd_uptime_seconds"][0][1] > 0


def answer(result: object, version: str, protocol: int = PROTOCOL) -> bytes:
    body = {"jsonrpc": "2.0", "id": 1, "result": result, "version": version, "protocol": protocol}
    return json.dumps(body).encode() + b"\n"


@pytest.fixture
def control(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FABRICD_SOCKET", str(place / "s"))
    return place / "s"


def test_without_a_daemon_it_exits_3_and_prints_nothing(cli: Cli, control: Path) -> None:
    cli("metrics").complains(3, str(control), "fabricd start")


def test_a_silent_daemon_exits_4(cli: Cli, control: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = client.call

    def quickly(path: str, method: str) -> Reply:
        return whole(path, method, seconds=0.3)

    monkeypatch.setattr(client, "call", quickly)
    with listening(control, silent):
        cli("metrics").complains(4, str(control), "does not answer")


@pytest.mark.parametrize(
    ("version", "protocol", "words"),
    [("0.0.1", PROTOCOL, "0.0.1"), (fabricd.__version__, PROTOCOL + 1, f"protocol {PROTOCOL + 1}")],
)
def test_a_daemon_of_another_version_exits_4(
    cli: Cli, control: Path, version: str, protocol: int, words: str
) -> None:
    with listening(control, replying(answer({"counters": {}}, version, protocol))):
        cli("metrics").complains(4, words, "restart")


@pytest.mark.parametrize("reply", [b"garbage\n", answer([1], fabricd.__version__)])
def test_an_answer_of_another_shape_exits_4(cli: Cli, control: Path, reply: bytes) -> None:
    with listening(control, replying(reply)):
        cli("metrics").complains(4)
