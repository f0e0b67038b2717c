"""`fabricd digest`."""

from __future__ import annotations

import click

from fabricd.daemon.cli.completing import files
from fabricd.daemon.cli.inputs import bytes_at
from fabricd.daemon.cli.talk import Complaint, out

_MAX = 64 * 1024 * 1024


@click.command("digest")
@click.argument("file", default="-", shell_complete=files)
def command(file: str) -> int:
    """Print the SHA-256 of the canonical text of a JSON document.

    The document is FILE or standard input.
    """
    from fabricd.core.canonical import digest
    from fabricd.core.documents import BadDocument, strict_json
    from fabricd.core.nesting import RECORD_LEVELS

    try:
        found = digest(strict_json(bytes_at(file, _MAX), RECORD_LEVELS))
    except BadDocument as error:
        name = "standard input" if file == "-" else file
        raise Complaint(f"{name}: {error}") from None
    out(found + "\n")
    return 0
