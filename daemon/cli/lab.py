"""`fabricd lab`: what restricting the surface would cost. Nothing it proposes is ever applied."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabricd.daemon.cli.completing import directories
from fabricd.daemon.cli.inputs import measured, surface_at
from fabricd.daemon.cli.live import require_harmless, write
from fabricd.daemon.cli.talk import Complaint, out, say
from fabricd.store.durable import Damaged, Loaded, Missing, shown

if TYPE_CHECKING:
    from fabricd.core.compiling.artifact import Artifact
    from fabricd.core.repairs import Row
    from fabricd.daemon.offline.studying import Lab

_PATH = click.Path(path_type=Path, readable=False)
_SHARE = re.compile(r"0?\.[0-9]{1,6}\Z")
_COUNT = re.compile(r"[0-9]{1,9}\Z")


def _hold_out(_: click.Context, __: click.Parameter, text: str) -> int | Fraction:
    if _COUNT.match(text):
        return int(text)
    if not _SHARE.match(text):
        raise click.BadParameter("a number of sessions, or a share such as 0.5, was expected")
    return Fraction(text)


@click.command("lab")
@click.option(
    "--metric",
    type=click.Choice(["2"]),
    default="2",
    expose_value=False,
    help="The metric to study; 2 is the only one.",
)
@click.option(
    "--sessions",
    type=_PATH,
    required=True,
    metavar="DIR",
    shell_complete=directories,
    help="A directory of session logs.",
)
@click.option(
    "--surface",
    "surface_file",
    type=_PATH,
    required=True,
    metavar="FILE",
    help="The declared surface to study.",
)
@click.option(
    "--repairs", "repairs_file", type=_PATH, metavar="FILE", help="The catalog repairs in force."
)
@click.option(
    "--hold-out",
    "held_out",
    default="0.5",
    metavar="N|SHARE",
    callback=_hold_out,
    help="Hold out the newest N sessions, or this share of all. Default 0.5.",
)
@click.option(
    "--out",
    "target",
    type=_PATH,
    metavar="FILE",
    help="Write an artifact of version 1, for study.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the study as JSON.")
def command(
    sessions: Path,
    surface_file: Path,
    repairs_file: Path | None,
    held_out: int | Fraction,
    target: Path | None,
    as_json: bool,
) -> int:
    """Study what restricting a surface would have cost, by the score of an earlier design.

    Proposals come from the older sessions and are held against the newest. Nothing is applied, and
    the artifact that can be written loads without any effect. A study is no check: it exits 0
    whatever it finds.
    """
    from fabricd.daemon.offline.studying import investigate, split_by_age, with_operations

    if target is not None:
        require_harmless(target)
    surface = surface_at(surface_file)
    rows = () if repairs_file is None else _rows_at(repairs_file)
    found = measured(sessions)
    newest_first = with_operations(found)
    split = split_by_age(newest_first, _held_out(held_out, len(newest_first)))
    lab = investigate(found, split, surface, rows)
    for path in lab.vanished:
        say(f"{path} could not be read again and is missing from parts of the study")
    if target is not None:
        _write(target, lab.study.artifact)
    if as_json:
        from fabricd.core.canonical import as_given, text

        out(text(_value(lab, target), as_given) + "\n")
        return 0
    from fabricd.daemon.cli.lab_words import lab_words

    out(lab_words(lab))
    return 0


def _held_out(wanted: int | Fraction, sessions: int) -> int:
    count = wanted if isinstance(wanted, int) else int(sessions * wanted)
    if sessions and count >= sessions:
        raise Complaint(
            f"--hold-out {count} leaves nothing to propose from: "
            f"there are {sessions} sessions with operations"
        )
    return count


def _rows_at(path: Path) -> tuple[Row, ...]:
    from fabricd.store import repairs

    match repairs.load(path, pipes=True):
        case Loaded(value=table):
            return table.rows
        case Missing():
            raise Complaint(f"{shown(path)} does not exist")
        case Damaged(reason=reason):
            raise Complaint(f"{shown(path)} is no repairs table: {reason}")


def _write(target: Path, artifact: Artifact) -> None:
    from fabricd.core.compiling.artifact import artifact_bytes

    write(target, artifact_bytes(artifact))
    say(f"wrote {shown(target)}: an artifact of version 1, which has no effect anywhere")


def _value(lab: Lab, target: Path | None) -> dict[str, Any]:
    import msgspec

    plain = msgspec.to_builtins
    study = lab.study
    return {
        "metricVersion": 2,
        "applied": False,
        "sessions": {"proposing": lab.proposing, "heldOut": lab.held_out},
        "report": plain(lab.report),
        "parts": plain(lab.parts),
        "observedIn": "audits" if study.from_audits else "traces",
        "proposals": [
            {**plain(row.proposal), "heldOut": plain(row.bill)} for row in study.proposals
        ],
        "gate": plain(study.gate),
        "trial": plain(study.trial),
        "artifact": {
            "version": study.artifact.version,
            "overlays": len(study.artifact.overlays),
            "quarantined": len(study.artifact.quarantined),
            "evidenceDigest": study.artifact.evidence_digest,
            "writtenTo": None if target is None else shown(target),
        },
    }
