"""The project that a command is about."""

from __future__ import annotations

import os
from pathlib import Path

from fabricd.daemon.cli.talk import Complaint, env


def project_root() -> Path:
    """The working tree around the current directory, else that directory itself.

    Raises:
        Complaint: there is none.
    """
    try:
        here = Path.cwd()
    except OSError:
        raise Complaint("the current directory is gone") from None
    home = Path(os.path.realpath(env().get("HOME") or os.path.expanduser("~")))
    for folder in (here, *here.parents):
        if folder == home:
            break
        if (folder / ".git").exists():
            return folder
    if here == home:
        raise Complaint("the home directory is no project: its files are the user's own")
    return here
