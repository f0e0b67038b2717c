"""The command line. Each command lives in its own module and is imported when it is called."""

from __future__ import annotations

import sys


def main() -> int:
    """Run a command; gives the exit code."""
    from fabricd.daemon.cli.root import run

    return run(sys.argv[1:])
