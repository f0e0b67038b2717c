"""`fabricd explain`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabricd.daemon.cli.talk import Complaint, env, out

if TYPE_CHECKING:
    from fabricd.store.repaired_calls import Found


@click.command("explain")
@click.argument("witness", required=False)
@click.option("--last", is_flag=True, help="The repair that was logged last.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def command(witness: str | None, last: bool, as_json: bool) -> int:
    """Show what a repair changed, and by what right.

    WITNESS is the digest of a witness, 8 hexadecimal digits of it or more, or a file that holds
    one. The call is looked up in the gateway's logs. Values are shown where the log keeps them:
    with `fabricd wrap --audits full` all, else numbers, booleans, nulls and enum members.
    """
    from fabricd.core.mcp.explaining import told, typed, witness_digest
    from fabricd.daemon.cli.explain_words import rendered

    if (witness is None) != last:
        raise Complaint("name one repair: a WITNESS, or --last (see fabricd explain --help)")
    found = _found(witness)
    record = found.record
    audit = record.get("audit")
    rules = told(found.witness, found.schema)
    value: dict[str, Any] = {
        "version": 1,
        "witness": witness_digest(found.witness),
        "ref": found.ref,
        "id": record.get("id"),
        "at": record.get("timestamp"),
        "outcome": found.outcome,
        "log": found.log,
        "baseSchemaDigest": found.witness.get("baseSchemaDigest"),
        "before": None if found.before is None else typed(found.before),
        "after": None if found.after is None else typed(found.after),
        "rules": [
            {
                "kind": rule.kind,
                "at": rule.at,
                "count": rule.count,
                "before": rule.before,
                "after": rule.after,
                "schema": rule.schema,
            }
            for rule in rules
        ],
        "values": {
            "kept": "full" if isinstance(audit, dict) else "projected",
            "before": found.before,
            "after": found.after,
        },
    }
    if as_json:
        from fabricd.core.canonical import as_given, text

        out(text(value, as_given) + "\n")
    else:
        out(rendered(value))
    return 0


def _found(witness: str | None) -> Found:
    from fabricd.store.addresses import state_dir
    from fabricd.store.gateway_logs import folder_of
    from fabricd.store.repaired_calls import Ambiguous, NotFound, find, find_file

    root = folder_of(state_dir(env()))
    try:
        if witness is not None and Path(witness).is_file():
            return find_file(root, Path(witness))
        return find(root, witness)
    except (Ambiguous, NotFound) as error:
        raise Complaint(str(error), error.code) from None
