"""`fabricd import`: artifacts of others, as far as the live surface proves them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabricd.core.plain import counted, printable
from fabricd.daemon.cli.completing import files
from fabricd.daemon.cli.inputs import bytes_at
from fabricd.daemon.cli.live import live_surface
from fabricd.daemon.cli.talk import FAILED, Complaint, env, out
from fabricd.store.durable import Damaged, Loaded, Missing, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fabricd.core.compiling.artifact import Artifact
    from fabricd.core.compiling.merge import Dropped, Merged, Prover
    from fabricd.store.homes import Homes

_FILE = click.Path(path_type=Path, readable=False)
_LIMIT = 64 * 1024 * 1024
_SECONDS = 60.0
_LINES = 20
# For five seconds: a person waits, and each holder is done within some milliseconds.
_ATTEMPTS = 1000


@click.command("import")
@click.argument("sources", nargs=-1, required=True, metavar="PATH|URL...", shell_complete=files)
@click.option(
    "--surface",
    "surface_file",
    type=_FILE,
    metavar="FILE",
    help="Another surface than the home's.",
)
@click.option("--dry-run", is_flag=True, help="Report, and write nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole report as JSON.")
def command(
    sources: tuple[str, ...], surface_file: Path | None, dry_run: bool, as_json: bool
) -> int:
    """Merge compiled artifacts into the home's own, in the order given.

    A plan is taken if it is exactly what the live surface derives; what is dropped is named with
    the reason, and is no failure. Exits 2 where a source is no artifact, 1 where there is no live
    surface or the home's artifact is damaged; nothing is written then.
    """
    from fabricd.core.compiling.merge import Prover
    from fabricd.store.homes import find

    prover = Prover(live_surface(surface_file))
    homes = find(env())
    path = homes.compiled
    # Before anything is fetched: a damaged file would refuse whatever comes.
    _local(path)
    incoming = [_artifact_at(name) for name in sources]
    merged, outcome = _rehearsed(path, prover, incoming)
    if not dry_run:
        merged, outcome = _kept(homes, prover, incoming)
    names = [_name(source) for source in sources]
    out(_json(path, outcome, merged, names) if as_json else _words(path, merged, names, dry_run))
    return 0


def _name(source: str) -> str:
    from fabricd.store.remote import address_shown, is_address

    if source == "-":
        return "standard input"
    return address_shown(source) if is_address(source) else shown(source)


def _artifact_at(source: str) -> Artifact:
    from fabricd.core.compiling.artifact import artifact_of
    from fabricd.core.compiling.refusal import refusal_of
    from fabricd.core.documents import BadDocument, strict_json

    try:
        value = strict_json(_bytes_at(source))
    except BadDocument as error:
        raise Complaint(f"{_name(source)} is no artifact: {error}") from None
    artifact = artifact_of(value)
    if artifact is None:
        raise Complaint(f"{_name(source)} is no artifact: {refusal_of(value)}")
    return artifact


def _bytes_at(source: str) -> bytes:
    from fabricd.store.remote import CannotFetch, NoRemote, fetch, is_address

    if not is_address(source):
        return bytes_at(source, _LIMIT)
    try:
        return fetch(source, _LIMIT, _SECONDS)
    except (CannotFetch, NoRemote) as error:
        raise Complaint(f"{_name(source)} cannot be read: {error}") from None


def _local(path: Path) -> Artifact | None:
    from fabricd.store import artifacts

    match artifacts.load(path):
        case Loaded(value=artifact):
            return artifact
        case Missing():
            return None
        case Damaged() as damage:
            raise _blocked(damage)


def _blocked(damage: Damaged) -> Complaint:
    where = shown(damage.path)
    return Complaint(
        f"{where} is damaged: {damage.reason}. Nothing was imported; {damage.cure}", FAILED
    )


def _rehearsed(path: Path, prover: Prover, incoming: Sequence[Artifact]) -> tuple[Merged, str]:
    """What an import would come to now. The prover then knows every action concerned."""
    from fabricd.core.compiling.artifact import artifact_bytes
    from fabricd.core.compiling.merge import merge_steps
    from fabricd.core.steps import finish
    from fabricd.store.durable import read_bounded

    merged = finish(merge_steps(prover, _local(path), incoming))
    is_there = read_bounded(path, _LIMIT) == artifact_bytes(merged.artifact)
    return merged, "already_written" if is_there else "would_write"


def _kept(homes: Homes, prover: Prover, incoming: Sequence[Artifact]) -> tuple[Merged, str]:
    """Merge with what is there once the lock is held, and save."""
    from fabricd.core.compiling.merge import merge_steps
    from fabricd.core.steps import finish
    from fabricd.store import artifacts
    from fabricd.store.pilock import PiLockBusy, held

    path = homes.compiled
    try:
        with held(homes.compiled_lock, _ATTEMPTS):
            merged = finish(merge_steps(prover, _local(path), incoming))
            return merged, artifacts.save(path, merged.artifact)
    except artifacts.DamagedArtifact as error:
        raise _blocked(error.damage) from None
    except PiLockBusy:
        reason = "another process holds its lock; nothing was imported, try again"
        raise Complaint(f"{shown(path)} is busy: {reason}", FAILED) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise Complaint(f"{shown(path)} cannot be written: {reason}", FAILED) from None


def _json(path: Path, outcome: str, merged: Merged, names: Sequence[str]) -> str:
    from fabricd.core.canonical import as_given, text

    value: dict[str, Any] = {
        "outcome": outcome,
        "path": shown(path),
        "plans": len(merged.artifact.plans),
        "evidenceDigest": merged.artifact.evidence_digest,
        "offered": merged.offered,
        "imported": merged.added,
        "alreadyThere": merged.known,
        "droppedOverlays": merged.dropped_overlays,
        "droppedQuarantines": merged.dropped_quarantines,
        "droppedNormalizations": merged.dropped_normalizations,
        "beyondLimit": merged.beyond_limit,
        "dropped": [
            {
                "origin": entry.origin,
                "source": None if entry.source is None else names[entry.source],
                "kind": entry.kind,
                "ref": entry.ref,
                "cause": entry.cause,
                "reason": entry.reason,
            }
            for entry in merged.dropped
        ],
    }
    return text(value, as_given) + "\n"


def _words(path: Path, merged: Merged, names: Sequence[str], dry_run: bool) -> str:
    verb = "would import" if dry_run else "imported"
    offered = counted(merged.offered, "plan", "plans")
    head = f"{verb} {merged.added:,} of {offered} into {shown(path)}"
    if merged.known:
        head += f", {merged.known} {'was' if merged.known == 1 else 'were'} there already"
    if not merged.dropped:
        return printable(head) + "\n"
    lines = [f"{head}; {len(merged.dropped)} dropped:"]
    lines += [_line(entry, names) for entry in merged.dropped[:_LINES]]
    if len(merged.dropped) > _LINES:
        lines.append(f"  and {len(merged.dropped) - _LINES} more (--json lists them all)")
    return "\n".join(map(printable, lines)) + "\n"


def _line(entry: Dropped, names: Sequence[str]) -> str:
    where = "here" if entry.source is None else f"from {names[entry.source]}"
    return f"  {entry.kind} {entry.ref} {where}: {entry.reason}"
