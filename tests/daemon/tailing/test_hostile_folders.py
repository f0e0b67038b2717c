"""What file systems and people do to a running daemon: a real process on real folders."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.harness import Daemon, daemon, trace_line
from tests.soak import settle


def operations(subject: Daemon) -> int:
    found: int = subject.status()["report"]["actionOperations"]
    return found


def ailing(subject: Daemon) -> dict[str, str]:
    return {each["what"]: each["cure"] for each in subject.status()["degraded"]}


def found_within(subject: Daemon, seconds: float, path: bytes, count: int) -> None:
    """Write a session of so many operations; it must be counted in time."""
    before = operations(subject)
    with open(path, "ab") as file:
        file.write(trace_line(random.Random(count), count) + b"\n")
    subject.until(lambda: operations(subject) == before + count, seconds)


def test_a_file_name_that_is_not_text_ends_nothing(tmp_path: Path) -> None:
    with daemon(tmp_path) as subject:
        subject.declare()
        subject.start()
        folder = os.fsencode(subject.sessions)
        time.sleep(1.0)
        found_within(subject, 5.0, folder + b"/\xff\xfe.jsonl", 3)
        subject.until(lambda: "watch-sessions" in ailing(subject), 5.0)
        assert "UTF-8" in ailing(subject)["watch-sessions"]
        # The broken watch is replaced, and until it is everything is looked at often.
        found_within(subject, 5.0, folder + b"/a.jsonl", 4)
        found_within(subject, 5.0, folder + b"/\xff\xfe.jsonl", 2)
        ours, clean = settle(subject)
        assert ours == clean
        assert subject.stop() == 0


@contextmanager
def few_watches(folder: Path, limit: str, first: int = 0) -> Generator[Daemon, None, None]:
    """A daemon in a user namespace of its own with so few inotify watches or instances.

    The limit is lifted as soon as the file `more` is there.
    """
    name = f"/proc/sys/user/max_inotify_{limit}"
    script = (
        f"echo {first} > {name} || exit 9; "
        '"$0" -m fabricd run & child=$!; trap "kill $child" TERM; '
        f"while ! test -e more; do sleep 0.1; done; echo 1000 > {name}; wait $child; wait $child"
    )
    with daemon(folder) as subject, subject.log.open("ab") as log:
        subject.process = subprocess.Popen(
            ["unshare", "-r", "sh", "-c", script, sys.executable],
            cwd=folder, env=subject.env, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        try:
            yield subject
        finally:
            os.killpg(subject.process.pid, signal.SIGKILL)


def can_limit() -> bool:
    if shutil.which("unshare") is None:
        return False
    limit = "echo 0 > /proc/sys/user/max_inotify_watches"
    return subprocess.run(["unshare", "-r", "sh", "-c", limit], capture_output=True).returncode == 0


@pytest.mark.skipif(not can_limit(), reason="no user namespaces here")
@pytest.mark.parametrize("limit", ["watches", "instances"])
def test_without_inotify_it_polls_says_so_and_recovers(tmp_path: Path, limit: str) -> None:
    with few_watches(tmp_path, limit) as subject:
        subject.until(lambda: subject.status()["state"] == "ready", 20.0)
        subject.until(lambda: len(ailing(subject)) == 2, 10.0)
        assert f"fs.inotify.max_user_{limit}" in ailing(subject)["watch-sessions"]
        asked = subject.run("status")
        assert f"fs.inotify.max_user_{limit}" in asked.stdout
        path = os.fsencode(subject.sessions / "s.jsonl")
        found_within(subject, 5.0, path, 3)
        (tmp_path / "more").touch()

        def is_well() -> bool:
            # A watch that tells of something works; without news that takes ten seconds.
            (subject.sessions / "news.jsonl").write_text(str(time.time()))
            subject.declare()
            return not ailing(subject)

        subject.until(is_well, 30.0)
        found_within(subject, 5.0, path, 4)


@pytest.mark.skipif(not can_limit(), reason="no user namespaces here")
def test_watches_that_are_used_up_later_are_told_and_had_again(tmp_path: Path) -> None:
    with few_watches(tmp_path, "watches", 8) as subject:
        subject.until(lambda: subject.status()["state"] == "ready", 20.0)
        found_within(subject, 5.0, os.fsencode(subject.sessions / "s.jsonl"), 3)
        assert ailing(subject) == {}
        more = [subject.sessions.with_name(f"--more-{number}--") for number in range(12)]
        for folder in more:
            folder.mkdir()
        subject.until(lambda: "watch-sessions" in ailing(subject), 15.0)
        assert "fs.inotify.max_user_watches" in ailing(subject)["watch-sessions"]
        found_within(subject, 5.0, os.fsencode(more[-1] / "s.jsonl"), 4)
        (tmp_path / "more").touch()

        def is_well() -> bool:
            (more[-1] / "news.jsonl").write_text(str(time.time()))
            return not ailing(subject)

        subject.until(is_well, 60.0)
        found_within(subject, 3.0, os.fsencode(more[-1] / "s.jsonl"), 5)


def test_what_happened_while_it_was_stopped_is_found(tmp_path: Path) -> None:
    with daemon(tmp_path) as subject:
        subject.declare()
        subject.start()
        assert subject.process is not None
        found_within(subject, 5.0, os.fsencode(subject.sessions / "before.jsonl"), 2)
        subject.process.send_signal(signal.SIGSTOP)
        # More than the kernel's queue of events holds: some are dropped without a word.
        for number in range(20_000):
            descriptor = os.open(subject.sessions / f"s{number:05}.jsonl", os.O_CREAT | os.O_WRONLY)
            os.close(descriptor)
        last = subject.sessions / "last.jsonl"
        last.write_bytes(trace_line(random.Random(5), 7) + b"\n")
        # Newest by far: the eighth of the window is not decided by the order of the others.
        os.utime(last, (time.time() + 60, time.time() + 60))
        subject.process.send_signal(signal.SIGCONT)
        subject.until(lambda: subject.status().get("files", {}).get("known") == 20_002, 20.0)
        subject.until(lambda: operations(subject) == 7, 10.0)
        ours, clean = settle(subject)
        assert ours == clean


def test_roots_that_come_go_and_come_again(tmp_path: Path) -> None:
    with daemon(tmp_path) as subject:
        subject.declare()
        root = subject.sessions.parent
        shutil.rmtree(root)
        subject.start()
        for count in (3, 4):
            subject.sessions.mkdir(parents=True)
            time.sleep(0.6)
            found_within(subject, 3.0, os.fsencode(subject.sessions / "s.jsonl"), count)
            shutil.rmtree(root)
            subject.until(lambda: operations(subject) == 0, 3.0)
        elsewhere = tmp_path / "elsewhere"
        (elsewhere / subject.sessions.name).mkdir(parents=True)
        root.symlink_to(elsewhere)
        time.sleep(1.5)
        found_within(subject, 3.0, os.fsencode(subject.sessions / "s.jsonl"), 5)
        assert ailing(subject) == {}


def test_a_removed_socket_comes_back(tmp_path: Path) -> None:
    with daemon(tmp_path) as subject:
        subject.start()
        shutil.rmtree(os.path.dirname(subject.socket))
        subject.until(lambda: subject.status()["state"] == "ready", 10.0)
        second = subject.run("run")
        assert second.returncode == 0 and "already runs" in second.stderr
        assert json.loads(subject.run("status", "--json").stdout)["degraded"] == []
        assert subject.stop() == 0
        assert not os.path.lexists(subject.socket)
