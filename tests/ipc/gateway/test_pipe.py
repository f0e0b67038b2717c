"""The gateway is a pipe: bytes, ends, exit codes and signals are those of the server itself."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.harness import ROOT
from tests.ipc.gateway.wrapped import SERVERS, Wrapped, wrapped

_CALL = (
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":"1"}}}'
)


def _lines(rng: random.Random) -> list[bytes]:
    """Lines of every kind there is, and some that are none."""
    big = 3 * 1024 * 1024
    return [
        b"\n",
        b"\r\n",
        b"x\n",
        b"{\n",
        b"\x00\x01\x02\n",
        b"\xff\xfe{}\n",
        b'{"a":"\xed\xa0\x80"}\n',
        b'{"jsonrpc":"2.0","id":1,"method":"ping"}\r\n',
        b"  " + _CALL + b"\r\n",
        _CALL[:-1] + b"\n",
        b"[" + _CALL + b"," + _CALL + b"]\n",
        _CALL.replace(b'"id":1', b'"id":1,"id":2') + b"\n",
        b'{"method":"tools\\/call","id":"\xc3\xa9","params":null}\n',
        b'{"id":3,"result":{"x":"' + b"r" * rng.randrange(big) + b'"}}\n',
        b'{"params":{"x":"' + b"p" * rng.randrange(big) + b'"},"method":"tools/call"}\n',
        rng.randbytes(rng.randrange(big)) + b"\n",
        b'{"method":"tools/list","id":' + b"9" * 5000 + b"}\n",
        b"[" * 100_000 + b"\n",
    ]


def _both_ways(subject: Wrapped, data: bytes, rng: random.Random) -> bytes:
    """Send bytes in pieces of any size; gives what came back."""
    received: list[bytes] = []

    def read() -> None:
        while piece := os.read(subject.stdout.fileno(), 1 << 16):
            received.append(piece)

    reader = threading.Thread(target=read)
    reader.start()
    at = 0
    while at < len(data):
        size = rng.choice([1, 10, 1000, 1 << 16, 1 << 20])
        subject.send(data[at : at + size])
        at += size
    code = subject.end()
    reader.join(15)
    assert code == 0
    return b"".join(received)


@pytest.mark.parametrize("mode", ["observe", "repair"])
def test_every_byte_goes_through_both_ways(tmp_path: Path, mode: str) -> None:
    rng = random.Random(mode)
    lines = _lines(rng) * 2
    rng.shuffle(lines)
    data = b"".join(lines) + b'{"jsonrpc":"2.0","method":"no final newline'
    with wrapped(tmp_path, "copy", str(tmp_path / "seen"), options=("--mode", mode)) as subject:
        assert _both_ways(subject, data, rng) == data
    assert (tmp_path / "seen").read_bytes() == data


def test_the_exit_code_passes_through(tmp_path: Path) -> None:
    for code in (0, 1, 42, 255):
        with wrapped(tmp_path, "exits", str(code)) as subject:
            assert subject.process.wait(15) == code


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM, signal.SIGABRT])
def test_a_death_by_signal_is_ours_too(tmp_path: Path, number: signal.Signals) -> None:
    with wrapped(tmp_path, "dies", str(int(number))) as subject:
        assert subject.process.wait(15) == -number


def test_signals_are_passed_on(tmp_path: Path) -> None:
    with wrapped(tmp_path, "signals") as subject:
        assert subject.line() == b'"ready"\n'
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            subject.process.send_signal(number)
            assert subject.line() == b"%d\n" % number


def test_a_server_that_dies_of_a_passed_signal_takes_us_with_it(tmp_path: Path) -> None:
    with wrapped(tmp_path, "copy", str(tmp_path / "seen")) as subject:
        subject.send(b"ready\n")
        assert subject.line() == b"ready\n"
        subject.process.send_signal(signal.SIGTERM)
        assert subject.process.wait(15) == -signal.SIGTERM


def test_standard_error_is_the_servers_own(tmp_path: Path) -> None:
    with wrapped(tmp_path, "floods") as subject:
        assert subject.process.stderr is not None
        fileno = subject.process.stderr.fileno()
        heard = bytearray()

        def read() -> None:
            while piece := os.read(fileno, 1 << 16):
                heard.extend(piece)

        reader = threading.Thread(target=read)
        reader.start()
        subject.send(b"ping\n")
        assert subject.line() == b"ping\n"
        assert subject.end() == 0
        reader.join(15)
    assert bytes(heard) == b"x" * 100_000 + b"y" * 200_000


def test_a_server_that_talks_nonsense_is_heard(tmp_path: Path) -> None:
    with wrapped(tmp_path, "garbage") as subject:
        assert subject.stdout.read(1 << 16) + subject.stdout.read(1 << 16) == (
            b"Starting ...\n\x00\xff{[\nno final newline"
        )
        assert subject.process.wait(15) == 0


def test_a_server_that_hears_no_more_is_told_as_by_itself(tmp_path: Path) -> None:
    with wrapped(tmp_path, "deaf", "30") as subject:
        assert subject.line() == b'"deaf"\n'
        with pytest.raises(BrokenPipeError):
            for _ in range(1000):
                subject.send(b"x" * 1000 + b"\n")
                time.sleep(0.005)
        assert subject.process.poll() is None


def test_a_client_that_reads_no_more_ends_the_server(tmp_path: Path) -> None:
    with wrapped(tmp_path, "copy", str(tmp_path / "seen")) as subject:
        subject.send(b"ready\n")
        assert subject.line() == b"ready\n"
        subject.stdout.close()
        subject.send(b"x\n")
        time.sleep(0.2)
        subject.send(b"x\n")
        # Python servers ignore the signal and fail by the error.
        assert subject.process.wait(15) in (1, -signal.SIGPIPE)


def test_a_client_may_take_its_time(tmp_path: Path) -> None:
    with wrapped(tmp_path, "hurries") as subject:
        time.sleep(2)
        size = 0
        while piece := subject.stdout.read(1 << 16):
            size += len(piece)
        assert (size, subject.process.wait(15)) == (160_000, 0)


def test_a_run_whose_output_nobody_reads_can_be_ended(tmp_path: Path) -> None:
    with wrapped(tmp_path, "hurries") as subject:
        time.sleep(1)
        assert subject.process.poll() is None
        subject.process.terminate()
        assert subject.process.wait(15) == -signal.SIGTERM


def test_what_a_server_leaves_behind_holds_nobody_up(tmp_path: Path) -> None:
    started = time.monotonic()
    with wrapped(tmp_path, "leaves") as subject:
        assert subject.line() == b'"gone"\n'
        assert subject.process.wait(15) == 0
    assert time.monotonic() - started < 15


def _wrap(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fabricd", "wrap", *words],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--", "no-such-command-here"], 127, "no-such-command-here cannot be started"),
        (["--", "/"], 126, "/ cannot be started"),
        (["--"], 2, "a command is missing"),
        (["--mode", "guess", "--", "true"], 2, "repair or observe"),
        (["--mode", "--", "true"], 2, "wants a value"),
        (["--name", "../x", "--", "true"], 2, "--name"),
        (["--nam", "x", "--", "true"], 2, "--nam"),
        (["--audits=some", "--", "true"], 2, "projected or full"),
    ],
)
def test_what_cannot_be_wrapped_is_one_sentence(words: list[str], code: int, said: str) -> None:
    done = _wrap(*words)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr and done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


def test_a_server_gets_the_arguments_behind_the_dashes_as_they_are(tmp_path: Path) -> None:
    script = "import sys; print(sys.argv[1:])"
    done = _wrap("--", sys.executable, "-c", script, "--name", "--", "-h")
    assert (done.returncode, done.stdout) == (0, "['--name', '--', '-h']\n")


def test_closed_standard_input_is_an_end_of_input(tmp_path: Path) -> None:
    line = 'exec "$0" -m fabricd wrap -- "$0" -S "$1" copy "$2" <&-'
    done = subprocess.run(
        ["sh", "-c", line, sys.executable, SERVERS, str(tmp_path / "seen")],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"")
