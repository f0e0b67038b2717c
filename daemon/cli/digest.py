"""`fabricd digest`."""

from __future__ import annotations

from typing import IO

import click

from fabricd.daemon.cli.talk import Complaint, out, visible

_MAX = 64 * 1024 * 1024


@click.command("digest")
@click.argument("file", type=click.File("rb"), default="-")
def command(file: IO[bytes]) -> int:
    """Print the SHA-256 of the canonical text of a JSON document."""
    from fabricd.core.canonical import digest
    from fabricd.core.documents import BadDocument, strict_json

    name = visible(getattr(file, "name", "-"))
    try:
        data = file.read(_MAX + 1)
        if len(data) > _MAX:
            raise Complaint(f"{name} is larger than 64 MiB")
        out(digest(strict_json(data, 512)) + "\n")
    except BadDocument as error:
        raise Complaint(f"{name}: {error}") from None
    except OSError as error:
        raise Complaint(f"{name} cannot be read: {error.strerror}") from None
    return 0
