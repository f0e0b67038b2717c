"""What a parser is given, it lets go of."""

from __future__ import annotations

import sys

from fabricd.core.context.parsing.grammars import captures_of


def _go_on() -> bool:
    return False


def test_no_text_stays_in_memory() -> None:
    source = b"".join(b"def f%d():\n    return g(%d)\n" % (n, n) for n in range(800))
    before = sys.getrefcount(source)

    captures = captures_of(source, "python", _go_on)
    assert len(captures["function"]) == 800
    del captures

    assert sys.getrefcount(source) == before
