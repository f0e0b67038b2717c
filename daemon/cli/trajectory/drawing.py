"""Trajectories on a terminal: bars of bytes, and the differences of two as a table."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from typing import Any

from fabricd.core.plain import printable
from fabricd.core.trajectory.waterfall import Fall, Waterfall
from fabricd.daemon.cli.trajectory.words import said

_BAR = "█"
_NONE = "-"
_LEAST, _MOST = 20, 60
_NAME, _STEP, _BYTES = 28, 10, 14


def drawn(fall: Waterfall) -> str:
    """The bars of a trajectory; one scale for all operations, another for their sum."""
    width = min(_MOST, max(_LEAST, shutil.get_terminal_size((100, 24)).columns - 54))
    head = f"run {fall.run_id} · task {fall.task_id} · arm {fall.arm_id}"
    lines = [printable(head), "", *_bars(fall.total, _scale([fall.total]), width)]
    if fall.additional:
        lines.append(f"{'':{_NAME}} {fall.additional:,} of it from additional sources")
    listed = [*fall.falls, *([fall.others] if fall.others else [])]
    # A sum of many small operations would flatten every bar of a single one.
    scale = _scale(fall.falls)
    for one in listed:
        lines += ["", *_bars(one, max(scale, _scale([one])), width)]
    return "\n".join(lines) + "\n"


def _scale(falls: list[Fall]) -> int:
    return max((max(fall.available, fall.final) for fall in falls), default=1) or 1


def _bars(fall: Fall, scale: int, width: int) -> Iterator[str]:
    def bar(start: int, size: int) -> str:
        first, last = round(start / scale * width), round((start + size) / scale * width)
        # What is there is seen, however small.
        return " " * first + _BAR * max(last - first, int(size > 0))

    steps = {
        "available": (fall.available, bar(0, fall.available)),
        "initial": (fall.initial, bar(0, fall.initial)),
        "escalated": (fall.escalated, bar(fall.initial, fall.escalated)),
        "final": (fall.final, bar(0, fall.final)),
    }
    name = _shortened(fall.name)
    for step, (size, drawing) in steps.items():
        yield f"{name:{_NAME}} {step:{_STEP}}{size:>{_BYTES},} B {drawing}".rstrip()
        name = ""
    yield f"{'':{_NAME}} {said(fall)}"


def _shortened(name: str) -> str:
    shown = printable(name)
    return shown if len(shown) <= _NAME else f"{shown[: _NAME - 1]}…"


def drawn_differences(found: dict[str, Any]) -> str:
    """Two trajectories beside each other. Deltas are B minus A."""
    lines = [printable(f"{side.upper()}  {_arm(found[side])}") for side in ("a", "b")]
    lines += ["", f"{'':32}{'A':>{_BYTES}}{'B':>{_BYTES}}{'B - A':>{_BYTES}}"]
    for name, row in found["totals"].items():
        cells = f"{row['a']:>{_BYTES},}{row['b']:>{_BYTES},}{row['delta']:>+{_BYTES},}"
        lines.append(f"{name.replace('_', ' '):32}{cells}")
    row = found["effective_reduction_percentage"]
    shown = (_percent(row["a"]), _percent(row["b"]), _percent(row["delta"], "+"))
    lines.append(
        f"{'effective reduction in percent':32}" + "".join(f"{x:>{_BYTES}}" for x in shown)
    )
    lines += ["", "bytes shown, by operation"]
    lines += [_difference(row) for row in found["operations"]]
    return "\n".join(lines) + "\n"


def _arm(side: dict[str, Any]) -> str:
    return f"run {side['run_id']} · arm {side['arm_id']} · {side['configuration_id']}"


def _percent(value: float | None, sign: str = "") -> str:
    return _NONE if value is None else f"{value:{sign}.2f}"


def _difference(row: dict[str, Any]) -> str:
    shown = [_NONE if row[side] is None else f"{row[side]['final']:,}" for side in ("a", "b")]
    delta = _NONE if row["final_delta"] is None else f"{row['final_delta']:+,}"
    return f"{_shortened(row['operation_id']):32}{_cells((*shown, delta))}"


def _cells(shown: Iterable[str]) -> str:
    return "".join(f"{cell:>{_BYTES}}" for cell in shown)
