"""The hook's standard input: nothing printed, success, in time, whatever an agent writes."""

from __future__ import annotations

import os
import subprocess
import sys
import time

from hypothesis import given

from tests.fuzz.hostile import few, hostile
from tests.harness import ROOT

SEEDS = [
    b'{"session_id":"s-1","transcript_path":"/t.jsonl","cwd":"/repo","hook_event_name":"Stop"}',
    b'{"session_id":5,"transcript_path":null,"cwd":["/repo"]}',
]
# A bare interpreter takes its time too, on a busy machine most of all.
SECONDS = 8.0


@few(0.4)
@given(hostile(SEEDS))
def test_a_hook_is_silent_successful_and_quick(data: bytes) -> None:
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "fabricd.ipc.hook", "turn-end"],
        input=data,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT / "src"),
            "FABRICD_SOCKET": "/tmp/no-such-socket-of-ours",
        },
        capture_output=True,
        timeout=10,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert time.monotonic() - started < SECONDS
