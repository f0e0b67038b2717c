"""Sessions are split by age, and one that vanishes in between is told of."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from fabricd.core.model import Action, Surface
from fabricd.core.repairs import KeyAlias
from fabricd.daemon.offline.measuring import measure
from fabricd.daemon.offline.studying import investigate, split_by_age, with_operations
from tests.core.entropy.studied import MODE, audited, modes
from tests.core.making import assistant, log
from tests.harness import ROOT

LIVE = Surface((Action("a", MODE),), "live")


def sessions(place: Path, **ages: int) -> None:
    """Logs of these ages in seconds."""
    for name, age in ages.items():
        path = place / f"{name}.jsonl"
        records = audited(*modes("a", ["fast"] * 6 + ["slow"] * 2))
        path.write_bytes(log(assistant("p", name), records))
        os.utime(path, (1000 - age, 1000 - age))


def test_the_newest_are_held_out_and_each_part_is_in_path_order(tmp_path: Path) -> None:
    sessions(tmp_path, a=1, b=4, c=2, d=3, e=2)
    newest_first = with_operations(measure(tmp_path))
    names = [os.fsdecode(file.path)[-7] for file, _ in newest_first]
    assert names == ["a", "c", "e", "d", "b"]
    split = split_by_age(newest_first, 3)
    assert [file.path[-7:-6] for file, _ in split.held_out] == [b"a", b"c", b"e"]
    assert [file.path[-7:-6] for file, _ in split.proposing] == [b"b", b"d"]


def test_a_log_that_vanishes_is_told_of_and_ends_nothing(tmp_path: Path) -> None:
    sessions(tmp_path, a=1, b=2, c=3)
    measured = measure(tmp_path)
    split = split_by_age(with_operations(measured), 1)
    (tmp_path / "a.jsonl").unlink()
    (tmp_path / "c.jsonl").unlink()
    found = investigate(measured, split, LIVE, [KeyAlias("a", "file", "path")])
    assert [Path(path).name for path in found.vanished] == ["a.jsonl", "c.jsonl"]
    assert (found.proposing, found.held_out) == (2, 1)
    assert [row.model for row in found.report.by_model] == ["p/b"]
    assert found.report.totals.action_operations == 24
    # Enough is left to propose from, and nothing to try it on.
    assert [type(row.proposal).__name__ for row in found.study.proposals] == [
        "EnumTighten",
        "ModalRename",
    ]
    assert found.study.trial.verdict == "no-evidence"


def test_a_complete_open_end_counts_like_any_other_line(tmp_path: Path) -> None:
    data = log(assistant("p", "m"), audited(*modes("a", ["fast"])))
    (tmp_path / "a.jsonl").write_bytes(data[:-1])
    measured = measure(tmp_path)
    found = investigate(measured, split_by_age(with_operations(measured), 1), LIVE, [])
    assert [row.model for row in found.report.by_model] == ["p/m"]
    assert found.study.trial.totals.operations == 1


def test_what_runs_all_day_never_loads_the_laboratory() -> None:
    # Nothing there can enforce a restriction that it cannot even name.
    code = (
        "import sys, fabricd.daemon.supervisor, fabricd.ipc.server; "
        "print(any(name.startswith('fabricd.core.entropy.lab') for name in sys.modules))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, timeout=20, check=True
    )
    assert done.stdout == b"False\n"
