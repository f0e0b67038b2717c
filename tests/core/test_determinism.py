"""Same inputs, same bytes: in another process, under another hash seed, on another locale."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from fixtures import make_sessions

PROGRAM = """
import sys
from hashlib import sha256
from pathlib import Path
from fabricd.core.canonical import digest
from fabricd.core.compiling.artifact import artifact_bytes
from fabricd.core.compiling.compile import compile_plans, plans_steps
from fabricd.core.entropy.meter import report_text
from fabricd.core.steps import finish
from fabricd.daemon.offline import measuring as offline
from fabricd.daemon.offline import replaying
from fabricd.store import surfaces

agent = Path(sys.argv[1])
surface = surfaces.load(agent / "fabric/entropy/surface.json").value
measured = offline.measure(agent / "sessions")
report = offline.report_of(measured, surface)
plans = finish(plans_steps(surface))
compiled = compile_plans(plans.plans, surface.digest, report.score)
verdict = replaying.replay(measured, surface, plans)
names = ("\\u00e9", "aa", "ch", "\\U0001f600", "10", "I", "i")
odd = {key: {key: [1e21, -0.0, key]} for key in names}
for part in (
    report_text(report).encode(),
    artifact_bytes(compiled.artifact),
    repr((verdict.replayed, verdict.repaired, verdict.reasons())).encode(),
    digest(odd).encode(),
):
    print(sha256(part).hexdigest())
"""


def printed(agent: Path, **environment: str) -> list[str]:
    """What the program prints in an environment of its own."""
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(agent)],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=50,
    )
    return ran.stdout.split()


def test_bytes_do_not_depend_on_process_hash_seed_or_locale(tmp_path: Path) -> None:
    agent = make_sessions.write(tmp_path / "agent")
    here = printed(agent, PYTHONHASHSEED="0", LC_ALL="C")
    there = printed(agent, PYTHONHASHSEED="1", LC_ALL="C.UTF-8")
    assert len(set(here)) == 4
    assert here == there


def test_a_failing_program_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        printed(tmp_path, PYTHONHASHSEED="0", LC_ALL="C")
