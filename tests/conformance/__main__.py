"""`python -m tests.conformance DIR`: run the vectors in DIR, DIR/fabric and DIR/opsle."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.conformance.runner import NoVectors, run


def main(arguments: list[str]) -> int:
    """Exit code: 0 no failures, 1 some, 2 nothing to run."""
    if len(arguments) != 1:
        print("usage: python -m tests.conformance DIR", file=sys.stderr)
        return 2
    try:
        return int(bool(run(Path(arguments[0]), sys.stdout).failures))
    except NoVectors as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
