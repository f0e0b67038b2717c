"""`fabricd repairs`: what models call declared things, as the home's table has it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabricd.core.plain import printable
from fabricd.daemon.cli.inputs import surface_at
from fabricd.daemon.cli.talk import FAILED, Complaint, env, out, say

if TYPE_CHECKING:
    from fabricd.core.model import Surface
    from fabricd.core.repairs import Row, Table
    from fabricd.core.settling import Learned
    from fabricd.store.durable import Damaged, Load
    from fabricd.store.homes import Homes


@click.command("repairs")
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON.")
@click.option(
    "--surface",
    "surface_file",
    type=click.Path(path_type=Path, readable=False),
    metavar="FILE",
    help="Compare with this surface, not with the home's.",
)
def command(as_json: bool, surface_file: Path | None) -> int:
    """Show the catalog repairs of the home: other names that models use for declared ones.

    Exits 1 where the table is damaged.
    """
    from fabricd.store import repairs
    from fabricd.store.durable import Damaged, Loaded, Missing, shown
    from fabricd.store.homes import find

    homes = find(env())
    surface = _surface(homes) if surface_file is None else surface_at(surface_file)
    path = printable(shown(homes.repairs))
    match repairs.load(homes.repairs):
        case Missing():
            if as_json:
                _print({"state": "missing", "path": shown(homes.repairs)})
            else:
                out(f"no repairs have been learned: {path} does not exist\n")
            return 0
        case Damaged() as damage:
            if as_json:
                _print(_damaged_value(damage))
            raise Complaint(f"{path} is damaged: {damage.reason}; {damage.cure}", FAILED)
        case Loaded(value=table):
            return _show(homes, table, surface, as_json)


def _surface(homes: Homes) -> Surface | None:
    from fabricd.store import surfaces
    from fabricd.store.durable import Damaged, Loaded, Missing

    match surfaces.load(homes.surface):
        case Loaded(value=surface):
            return surface
        case Missing():
            return None
        case Damaged(reason=reason):
            say(f"the surface is damaged and left out: {reason}")
            return None


def _show(homes: Homes, table: Table, surface: Surface | None, as_json: bool) -> int:
    from fabricd.store import repairs
    from fabricd.store.durable import Damaged, shown

    ours = repairs.load_learned(homes.repairs_learned)
    value = _value(table, ours, surface)
    if as_json:
        _print({"state": "loaded", "path": shown(homes.repairs), **value})
    else:
        out(_words(table, value))
    if isinstance(ours, Damaged):
        place = printable(shown(ours.path))
        raise Complaint(f"{place} is damaged: {ours.reason}; {ours.cure}", FAILED)
    return 0


def _value(table: Table, ours: Load[Learned], surface: Surface | None) -> dict[str, Any]:
    from fabricd.core.repairs import catalog_digest

    rows = _rows(table, ours, surface)
    return {
        "catalogDigest": table.catalog_digest,
        "surfaceCatalogDigest": None if surface is None else catalog_digest(surface),
        "rows": rows,
        "misfits": sum(row["misfit"] is not None for row in rows),
        "unknownKinds": len(table.entries) - len(rows),
        "createdAt": table.members.get("createdAt"),
        "updatedAt": table.members.get("updatedAt"),
    }


def _rows(table: Table, ours: Load[Learned], surface: Surface | None) -> list[dict[str, Any]]:
    from fabricd.core.aliases import misfit
    from fabricd.core.repairs import row_value
    from fabricd.core.settling import Learned
    from fabricd.store.durable import Loaded

    learned = ours.value if isinstance(ours, Loaded) else Learned()
    schemas = None if surface is None else surface.schema_of()
    return [
        {
            **row_value(row),
            "fits": None if schemas is None else misfit(row, schemas) is None,
            "misfit": None if schemas is None else misfit(row, schemas),
            "learnedHere": row in learned.rows,
        }
        for row in table.rows
    ]


def _words(table: Table, value: dict[str, Any]) -> str:
    rows = value["rows"]
    lines = [
        f"{_count(len(rows), 'row')}{_misfits(value)}",
        f"catalog {printable(table.catalog_digest)}{_whose(value)}",
    ]
    if rows:
        lines.append("")
    for row, shown_row in zip(table.rows, rows, strict=True):
        why = shown_row["misfit"]
        lines.append(f"  {sentence(row)}" + (f"; does not fit: {printable(why)}" if why else ""))
    if value["unknownKinds"]:
        lines.append(f"  and {_count(value['unknownKinds'], 'row')} of a kind unknown here")
    return "\n".join(lines) + "\n"


def sentence(row: Row) -> str:
    """A row for people; what it quotes is untrusted."""
    from fabricd.core.repairs import ActionAlias, KeyAlias

    given, meant = printable(row.given), printable(row.meant)
    match row:
        case KeyAlias():
            return f'{printable(row.ref)}: argument "{given}" means "{meant}"'
        case ActionAlias():
            return f'provider {printable(row.provider)}: action "{given}" means "{meant}"'


def _misfits(value: dict[str, Any]) -> str:
    if value["surfaceCatalogDigest"] is None:
        return "; without a surface nobody can tell whether they fit"
    count = value["misfits"]
    if not count:
        return ", all fit the surface" if value["rows"] else ""
    return f", {count} of them do{'es' if count == 1 else ''} not fit the surface"


def _whose(value: dict[str, Any]) -> str:
    live = value["surfaceCatalogDigest"]
    if live is None:
        return ""
    same = value["catalogDigest"] == live
    return ", that of the surface" if same else ", not computed from the surface"


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")


def _damaged_value(damage: Damaged) -> dict[str, Any]:
    from fabricd.store.durable import shown

    where = shown(damage.path)
    return {"state": "damaged", "path": where, "reason": damage.reason, "cure": damage.cure}


def _print(value: dict[str, Any]) -> None:
    from fabricd.core.canonical import as_given, text

    out(text(value, as_given) + "\n")
