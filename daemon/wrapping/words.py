"""The words that start a server, by itself or through the gateway."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping

NAME = "fabricd"
_VERB = "wrap"
_END = "--"
_UNNAMED = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST = 64


class NoProgram(RuntimeError):
    """Raised by `find`: there is no fabricd to write down."""


def find(env: Mapping[str, str]) -> str:
    """The absolute path of the installed fabricd: beside this interpreter, else on PATH.

    Raises:
        NoProgram: it is nowhere, or its path has no UTF-8 form, which no configuration can hold.
    """
    beside = os.path.join(os.path.dirname(os.path.abspath(sys.executable)), NAME)
    found = beside if os.access(beside, os.X_OK) else shutil.which(NAME, path=env.get("PATH", ""))
    if found is None:
        raise NoProgram(f"{NAME} is neither beside {sys.executable} nor on PATH: install it")
    try:
        found.encode()
    except UnicodeEncodeError:
        raise NoProgram(f"the path {found} has no UTF-8 form: install it elsewhere") from None
    return os.path.abspath(found)


def before_command(server: str) -> tuple[str, ...]:
    """What stands between the program and the server's own command."""
    return (_VERB, "--name", gateway_name(server), _END)


def gateway_name(server: str) -> str:
    """What the gateway may call a server: it names a folder, and stands in references."""
    return _UNNAMED.sub("-", server).lstrip(".-")[:_LONGEST] or "server"


def command_at(words: tuple[str, ...]) -> int | None:
    """Where the server's own command begins in wrapped words; None where they are not wrapped."""
    if len(words) < 2 or os.path.basename(words[0]) != NAME or words[1] != _VERB:
        return None
    if _END not in words:
        return None
    at = words.index(_END) + 1
    return at if at < len(words) else None
