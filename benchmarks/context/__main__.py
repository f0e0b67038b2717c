"""Measure the context engine: `quality`, against what changes needed; `overruns`, of any budget."""

from __future__ import annotations

import sys

from benchmarks.context import overruns, quality

_COMMANDS = {"quality": quality.main, "overruns": overruns.main}


def main() -> int:
    """Run the command that is named first."""
    name, *rest = sys.argv[1:] or [""]
    if name not in _COMMANDS:
        print(f"usage: python -m benchmarks.context {'|'.join(_COMMANDS)} …", file=sys.stderr)
        return 2
    return _COMMANDS[name](rest)


if __name__ == "__main__":
    sys.exit(main())
