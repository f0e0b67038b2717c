"""`fabricd trajectory`: what of an agent's evidence was available, shown, avoided and asked for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabricd.daemon.cli.completing import directories, files
from fabricd.daemon.cli.profiler.options import (
    max_bytes_option,
    pretty_option,
    quiet_option,
    without_effect,
)
from fabricd.daemon.cli.talk import out
from fabricd.daemon.cli.trajectory.session import command as from_session

if TYPE_CHECKING:
    from fabricd.core.trajectory.measurement import Measurement

_FILE = click.argument("file", type=click.Path(allow_dash=True), shell_complete=files)
_FILES = click.argument(
    "names", metavar="FILE...", nargs=-1, type=click.Path(allow_dash=True), shell_complete=files
)
_NO_EFFECT = without_effect("--summary", "--cumulative")


@click.group("trajectory")
def command() -> None:
    """Account for the evidence that an agent was shown.

    A trajectory lists the results of an agent's tools: how many bytes there were, how many were
    shown at first, and what was asked for later. A file is `-` for standard input.
    """


@command.command("profile")
@_FILE
@pretty_option
@quiet_option
@_NO_EFFECT
@max_bytes_option
def profile(file: str, pretty: bool, quiet: bool, max_bytes: int) -> int:
    """Measure a trajectory.

    Exit code 1: it is not valid, or rests on evidence that is not, and so has no figures.
    """
    from fabricd.daemon.cli.inputs import without_collections
    from fabricd.daemon.cli.trajectory.inputs import profiled_at, sound_pieces
    from fabricd.daemon.cli.trajectory.words import indented, indicate

    with without_collections():
        done = profiled_at(file, max_bytes)
        for piece in sound_pieces(indented(done.measurement.value()) if pretty else done.pieces()):
            out(piece)
    indicate(quiet, done.line)
    return done.code


@command.command("validate")
@_FILE
@pretty_option
@quiet_option
@_NO_EFFECT
@max_bytes_option
def validate(file: str, pretty: bool, quiet: bool, max_bytes: int) -> int:
    """Say what is wrong with a trajectory.

    Standard error explains every code that was found. Exit code 1: there is something wrong.
    """
    from fabricd.core.identity import canonical_line
    from fabricd.daemon.cli.inputs import without_collections
    from fabricd.daemon.cli.trajectory.inputs import validated_at
    from fabricd.daemon.cli.trajectory.words import explained, indented, indicate

    with without_collections():
        done = validated_at(file, max_bytes)
        verdict = done.value()
        for piece in indented(verdict) if pretty else (canonical_line(verdict),):
            out(piece)
    indicate(quiet, done.line, *explained(done.violations))
    return done.code


@command.command("compare")
@_FILES
@pretty_option
@quiet_option
@_NO_EFFECT
@max_bytes_option
def compare(names: tuple[str, ...], pretty: bool, quiet: bool, max_bytes: int) -> int:
    """Measure trajectories of one task beside each other.

    Exit code 1: one of them has no figures, or they are not of the same task.
    """
    from fabricd.daemon.cli.inputs import without_collections
    from fabricd.daemon.cli.trajectory.inputs import compared_at, sound_pieces
    from fabricd.daemon.cli.trajectory.words import indented, indicate

    if len(names) < 2:
        raise click.UsageError("At least two files are needed.")
    with without_collections():
        done = compared_at(names, max_bytes)
        for piece in sound_pieces(indented(done.value()) if pretty else done.pieces()):
            out(piece)
    indicate(quiet, done.line)
    return done.code


@command.command("conformance")
@click.argument(
    "folder", metavar="[DIR]", required=False, type=click.Path(), shell_complete=directories
)
@pretty_option
@quiet_option
@_NO_EFFECT
def conformance(folder: str | None, pretty: bool, quiet: bool) -> int:
    """Measure fixtures anew and hold them to their word.

    DIR is fixtures/context-firewall if it is not given; the manifest lies beside it. Exit code 1:
    a fixture, or its line of the manifest, says something else.
    """
    from fabricd.core.identity import canonical_line
    from fabricd.daemon.cli.trajectory.inputs import conformance_at
    from fabricd.daemon.cli.trajectory.words import indented, indicate

    report, line = conformance_at(folder)
    for piece in indented(report) if pretty else (canonical_line(report),):
        out(piece)
    indicate(quiet, line)
    return int(report["conformance"] != "PASS")


@command.command("show")
@_FILE
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=30,
    show_default=True,
    metavar="N",
    help="How many operations are listed, the largest first.",
)
@click.option(
    "--html",
    "page",
    type=click.Path(path_type=Path),
    metavar="OUT",
    help="Write a page to this file instead.",
)
@max_bytes_option
def show(file: str, limit: int, page: Path | None, max_bytes: int) -> int:
    """Draw a trajectory as bars of bytes.

    What there was, what was shown at first, what was shown later, and what in all.

    Exit code 1: it has no figures.
    """
    from fabricd.daemon.cli.inputs import without_collections
    from fabricd.daemon.cli.trajectory.inputs import profiled_at
    from fabricd.daemon.cli.trajectory.page import require_page
    from fabricd.daemon.cli.trajectory.words import indicate

    if page is not None and str(page) != "-":
        require_page(page)
    with without_collections():
        done = profiled_at(file, max_bytes)
        if done.measurement.is_measured:
            _draw(done.measurement, limit, page)
    indicate(False, done.line)
    return done.code


def _draw(measurement: Measurement, limit: int, page: Path | None) -> None:
    from fabricd.core.trajectory.waterfall import waterfall
    from fabricd.daemon.cli.trajectory.drawing import drawn
    from fabricd.daemon.cli.trajectory.page import write_page

    fall = waterfall(measurement, limit)
    if page is None:
        out(drawn(fall))
    else:
        write_page(page, fall)


@command.command("diff")
@click.argument("left", metavar="A", type=click.Path(allow_dash=True), shell_complete=files)
@click.argument("right", metavar="B", type=click.Path(allow_dash=True), shell_complete=files)
@click.option("--json", "as_json", is_flag=True, help="Print the differences as JSON.")
@max_bytes_option
def diff(left: str, right: str, as_json: bool, max_bytes: int) -> int:
    """Say how trajectory B differs from trajectory A.

    In all and by operation. There is no winner: the figures are set beside each other. Exit code
    1: they do not compare.
    """
    from fabricd.core.identity import canonical_line
    from fabricd.core.trajectory.differing import differences
    from fabricd.daemon.cli.inputs import without_collections
    from fabricd.daemon.cli.trajectory.drawing import drawn_differences
    from fabricd.daemon.cli.trajectory.inputs import compared_at
    from fabricd.daemon.cli.trajectory.words import indicate

    with without_collections():
        done = compared_at((left, right), max_bytes)
        if done.reason is None:
            found = differences(*done.measurements)
            out(canonical_line(found) if as_json else drawn_differences(found))
    indicate(False, done.line)
    return done.code


@command.command("gate")
@_FILES
@click.option(
    "--min-effective-reduction",
    "least",
    metavar="PERCENT",
    help="The effective reduction of each file must reach this: 40%",
)
@click.option(
    "--max-final-bytes",
    type=click.IntRange(min=0),
    metavar="N",
    help="No file may have shown more bytes in all.",
)
@click.option("--no-unavailable", is_flag=True, help="No escalation may have been unavailable.")
@quiet_option
@max_bytes_option
def gate(
    names: tuple[str, ...],
    least: str | None,
    max_final_bytes: int | None,
    no_unavailable: bool,
    quiet: bool,
    max_bytes: int,
) -> int:
    """Hold trajectories against limits, for use in CI.

    A trajectory without figures never passes. Exit code 1: a limit is not kept.
    """
    from fabricd.core.identity import canonical_line
    from fabricd.core.trajectory.gating import Limits, gated
    from fabricd.daemon.cli.inputs import without_collections
    from fabricd.daemon.cli.trajectory.inputs import percent, profiled_at
    from fabricd.daemon.cli.trajectory.words import indicate, verdicts

    if not names:
        raise click.UsageError("At least one file is needed.")
    limits = Limits(percent(least), max_final_bytes, no_unavailable)
    with without_collections():
        rows = [gated(name, profiled_at(name, max_bytes).measurement, limits) for name in names]
    passes = all(row["pass"] for row in rows)
    out(canonical_line({"files": rows, "pass": passes}))
    indicate(quiet, *verdicts(rows))
    return int(not passes)


command.add_command(from_session)
