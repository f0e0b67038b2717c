"""A whole daemon whose worker has the fake engine, and commands beside it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fabricd.core.context.asking import Refused
from fabricd.daemon.context.asking import Asking, Unreachable
from fabricd.daemon.context.library import Context
from fabricd.ipc.client import CallFailed, NoAnswer
from fabricd.store.locks import hold, holder
from tests.daemon.context.fake import PYTHON, SECRET
from tests.harness import Daemon


class WithFake(Daemon):
    """A daemon whose worker does what its queries say."""

    def spawn(self) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*PYTHON, "-m", "tests.daemon.context.fake", "daemon"],
                env=self.env,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
            )
        return self.process

    @property
    def lock(self) -> Path:
        return self.home / "state" / "context" / "index.lock"

    def select(self, query: str, **more: object) -> Any:
        return self.call("context.select", {"query": query, "root": "/x", **more}).result

    @property
    def requests(self) -> int:
        """How many context requests are not answered yet."""
        return int((self.status()["context"] or {}).get("requests", 0))

    def until_gone(self, pid: int) -> None:
        self.until(lambda: not _is_alive(pid))


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat") as file:
            # Where nobody adopts orphans, one that has ended is still called a process.
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return not os.path.isdir("/proc/self")


@contextmanager
def faked() -> Generator[WithFake]:
    folder = Path(tempfile.mkdtemp(prefix="fd-", dir="/tmp"))
    subject = WithFake(folder)
    try:
        yield subject
    finally:
        subject.kill()
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def running() -> Iterator[WithFake]:
    """One daemon for all tests that leave it as it was."""
    with faked() as subject:
        subject.start()
        yield subject


@pytest.fixture
def own() -> Iterator[WithFake]:
    """A daemon of the test's own."""
    with faked() as subject:
        subject.start()
        yield subject


def test_an_idle_daemon_has_no_worker(own: WithFake) -> None:
    assert own.status()["context"] is None
    assert own.call("context.progress").result == {"progress": []}
    assert own.status()["context"] is None
    assert not own.lock.exists()


def test_status_and_metrics_tell_of_the_worker(running: WithFake) -> None:
    pid = int(running.select("pid")["text"])
    value = running.status()["context"]
    assert (value["pid"], value["requests"]) == (pid, 0)
    assert f"context   worker pid {pid}" in running.run("status").stdout
    assert "fabricd_context_worker_resident_memory_bytes" in running.run("metrics").stdout


def test_parameters_go_through_as_they_are(running: WithFake) -> None:
    found = running.select("echo", budget=12345678901234567890, extra=[1, {"a": None}])
    assert found["params"]["budget"] == 12345678901234567890
    assert found["params"]["extra"] == [1, {"a": None}]


def test_refusals_have_reason_and_number(running: WithFake) -> None:
    with pytest.raises(CallFailed) as caught:
        running.select("refuse:budget-too-small")
    assert caught.value.data == {"reason": "budget-too-small", "smallest": 180}


def test_what_breaks_the_engine_is_logged_without_the_query(running: WithFake) -> None:
    with pytest.raises(CallFailed):
        running.select("break")
    running.until(lambda: "KeyError" in running.log.read_text())
    assert SECRET not in running.log.read_text()


def test_a_long_index_holds_up_neither_status_nor_other_trees(running: WithFake) -> None:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(running.socket)
        params = {"query": "slow:60", "root": "/large"}
        body = {"jsonrpc": "2.0", "id": 1, "method": "context.index", "params": params}
        client.sendall(json.dumps(body).encode() + b"\n")
        running.until(lambda: running.call("context.progress").result["progress"])
        assert running.select("echo")["text"] == "echo\n"
        found = running.call("context.progress").result["progress"]
        assert found == [{"root": "/large", "done": 3, "total": 10}]
        assert running.status()["context"]["requests"] == 1
    # Its client has left.
    running.until(lambda: running.requests == 0)


def test_a_daemon_that_is_killed_takes_the_worker_with_it(own: WithFake) -> None:
    pid = int(own.select("pid")["text"])
    own.kill()
    own.until_gone(pid)
    assert holder(own.lock) is None
    own.start()
    assert int(own.select("pid")["text"]) != pid


def test_a_daemon_that_stops_ends_the_worker(own: WithFake) -> None:
    pid = int(own.select("pid")["text"])
    assert own.stop() == 0
    assert not _is_alive(pid)
    assert "how=stopped" in own.log.read_text()


def test_a_worker_killed_under_a_request_is_replaced(running: WithFake) -> None:
    first = running.select("pid")["text"]
    assert running.select("die-once")["text"] == "die-once\n"
    assert running.select("pid")["text"] != first


def test_commands_print_the_text_alone(running: WithFake) -> None:
    done = running.run("context", "select", "--query", "echo", "--path", "a", "--path", "b/")
    assert (done.returncode, done.stdout, done.stderr) == (0, "echo\n", "")
    done = running.run("context", "select", "--query", "echo", "--path", "a", "--json")
    value = json.loads(done.stdout)
    assert value["params"] == {
        "query": "echo", "budget": 8000, "tokenizer": "o200k", "paths": ["a"], "root": os.getcwd(),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("budget-too-small", 1), ("nothing-relevant", 1), ("gone", 1), ("unknown", 1),
        ("forbidden", 1), ("tampered", 1), ("ambiguous", 1), ("failed", 1), ("usage", 2),
        ("not-installed", 2), ("busy", 4),
    ],
)  # fmt: skip
def test_each_refusal_is_a_sentence_and_a_code(running: WithFake, reason: str, code: int) -> None:
    done = running.run("context", "select", "--query", f"refuse:{reason}")
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith(f"fabricd: it is {reason}") and done.stderr.count("\n") == 1


def test_the_library_asks_the_daemon(running: WithFake, tmp_path: Path) -> None:
    said: list[str] = []
    context = Context(tmp_path, env=running.env, say=said.append)
    answer = context.select("echo", budget=500)
    assert (answer.text, str(answer), answer.budget) == ("echo\n", "echo\n", 500)
    assert answer.value["params"]["root"] == str(tmp_path)
    assert context.show("echo").value["method"] == "show"
    assert context.recover("cr_x#1").value["params"]["handle"] == "cr_x#1"
    assert context.explain("f", receipt="cr_x").value["method"] == "explain"
    with pytest.raises(Refused) as caught:
        context.select("refuse:gone")
    assert caught.value.reason == "gone"
    assert said == []


def test_without_a_daemon_a_held_index_is_exit_4() -> None:
    with faked() as subject:
        lock = hold(subject.lock)
        done = subject.run("context", "stats")
        lock.close()
    assert (done.returncode, done.stdout) == (4, "")
    assert "no daemon runs" in done.stderr and "index.lock" in done.stderr


def test_a_daemon_that_is_silent_is_not_waited_for(
    own: WithFake, monkeypatch: pytest.MonkeyPatch
) -> None:
    own.select("echo")
    assert own.process is not None
    own.process.send_signal(signal.SIGSTOP)
    try:
        with pytest.raises(Unreachable, match="does not answer"):
            Asking(own.env, print).ask("stats", {})
    finally:
        own.process.send_signal(signal.SIGCONT)


def test_a_daemon_without_context_is_of_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    from fabricd.daemon.context import asking

    def fails(*_: object, **__: object) -> object:
        raise CallFailed(-32601, "there is no method", None)

    monkeypatch.setattr(asking, "patient_call", fails)
    with pytest.raises(Unreachable, match="restart"):
        Asking({"FABRICD_HOME": "/tmp/none"}, print).ask("stats", {})


def test_an_answer_that_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from fabricd.daemon.context import asking

    def silent(*_: object, **__: object) -> object:
        raise NoAnswer("the connection was closed")

    lock = hold(tmp_path / "state" / "context" / "index.lock")
    monkeypatch.setattr(asking, "patient_call", silent)
    with pytest.raises(Unreachable, match="connection was closed"):
        Asking({"FABRICD_HOME": str(tmp_path)}, print).ask("stats", {})
    lock.close()
