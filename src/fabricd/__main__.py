"""`python -m fabricd`: the same command line as the installed script."""

from __future__ import annotations

from fabricd.daemon.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
