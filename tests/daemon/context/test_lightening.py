"""A worker gives back what it has read once, and nothing that it has written."""

from __future__ import annotations

import subprocess
import sys

import pytest

from fabricd.daemon.context import lightening

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is given back")

_SMAPS = """\
7f0000000000-7f0002000000 r--p 00180000 00:1b 42   /lib/site-packages/rs_bpe/bpe.so
Size:              32768 kB
Rss:               32000 kB
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd mr mw me sd
7f0002000000-7f0003000000 r--p 02180000 00:1b 42   /lib/site-packages/rs_bpe/bpe.so
Rss:               16384 kB
Anonymous:             4 kB
Swap:                  0 kB
7f0003000000-7f0004000000 r-xp 00000000 00:1b 42   /lib/site-packages/rs_bpe/bpe.so
Anonymous:             0 kB
Swap:                  0 kB
7f0004000000-7f0005000000 rw-p 00000000 00:00 0 
Anonymous:             0 kB
Swap:                  0 kB
7f0005000000-7f0005001000 r--p 00000000 00:1b 43   /lib/site-packages/tree_sitter_go/binding.so
Anonymous:             0 kB
Swap:                  0 kB
7f0006000000-7f0007000000 r--p 00000000 00:1b 44   /lib/site-packages/tree_sitter_go/binding.so
Anonymous:             0 kB
Swap:                  0 kB
7f0007000000-7f0008000000 r--p 01000000 00:1b 44   /lib/site-packages/tree_sitter_go/binding.so
Anonymous:             0 kB
Swap:                  8 kB
7f0008000000-7f0009000000 r--p 00000000 00:1b 45   /lib/site-packages/numpy/core.so
Anonymous:             0 kB
Swap:                  0 kB
"""


def test_only_whole_clean_constants_of_our_libraries_are_given_back() -> None:
    found = list(lightening.constants(_SMAPS.splitlines(keepends=True)))
    assert found == [(0x7F0000000000, 32 << 20), (0x7F0006000000, 16 << 20)]


def test_counts_are_the_same_with_less_memory() -> None:
    program = """
from fabricd.core.context.counting import counter
from fabricd.core.context.parsing.parser import parse
from fabricd.daemon.context.lightening import lighten, resident
text = "def f(a):\\n    return [a, 'words of 12345 kinds']\\n" * 50
def told():
    return counter("o200k")(text), parse(text, "python"), parse("package a\\nfunc B() {}\\n", "go")
before, most = told(), resident()
lighten()
least = resident()
assert told() == before
print((most - least) >> 20)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=30
    )
    assert int(done.stdout) >= 16, done.stdout


def test_it_is_done_again_only_where_enough_has_come(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = iter((100, 60, 70, 77, 62, 62))
    times: list[None] = []
    rested: list[None] = []
    monkeypatch.setattr(lightening, "resident", lambda: next(sizes) << 20)
    monkeypatch.setattr(lightening, "lighten", lambda: times.append(None))
    one = lightening.Lightening(lambda: rested.append(None))
    one.look()
    one.look()
    assert len(times) == 1
    one.look()
    assert len(times) == len(rested) == 2
    one.look()
    assert len(times) == len(rested) == 2
