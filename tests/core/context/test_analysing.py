"""What is kept of a blob: units of guarded text with their sizes, the same in every process."""

from __future__ import annotations

import os
import subprocess
import sys

from fabricd.core.context.analysing import analyse
from fabricd.core.context.model import Guarded, Signal, Span
from fabricd.core.context.parsing.parser import lines_of, parse
from fabricd.core.context.parsing.skeletons import skeleton_text
from tests.core.context.parsing.samples import SAMPLES

TEXT = (
    'class Big(Base):\n    """Doc."""\n\n'
    + "".join(
        f"    def m{n}(self):\n        one()\n        two()\n        three()\n\n" for n in range(20)
    )
)  # fmt: skip


def test_sizes_are_those_of_what_is_shown() -> None:
    guarded = Guarded(TEXT, (Span(0, 1, "x"),), (Signal("rule", 1),))

    analysed = analyse(guarded, "python", len)

    lines = lines_of(TEXT)
    for unit, (full, skeleton, opening) in zip(analysed.parsed.units, analysed.tokens, strict=True):
        assert full == sum(len(line) + 1 for line in lines[unit.lines[0] - 1 : unit.lines[1]])
        assert skeleton == len(skeleton_text(lines, unit))
        assert opening == (len("class Big(Base):\n") if unit.opening != (0, 0) else 0)
    assert (analysed.language, analysed.spans, analysed.signals) == (
        "python",
        guarded.spans,
        guarded.signals,
    )


def test_a_definition_is_cut_by_the_given_count() -> None:
    text = "def f():\n" + "    call(number, other, third)\n" * 400

    assert len(analyse(Guarded(text), "python", lambda _: 8000).parsed.units) == 1
    assert len(analyse(Guarded(text), "python", lambda _: 8001).parsed.units) > 1


def test_hash_seeds_change_nothing() -> None:
    program = (
        "from tests.core.context.parsing.samples import SAMPLES\n"
        "from fabricd.core.context.parsing.parser import parse\n"
        "made = [parse(text, name) for name, (text, _) in sorted(SAMPLES.items())]\n"
        "print(made)\n"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            check=True,
            timeout=50,
        ).stdout
        for seed in ("1", "2")
    }

    assert len(seen) == 1


def test_order_of_terms_is_that_of_the_text() -> None:
    text, _ = SAMPLES["python"]

    assert list(parse(text, "python").terms[0])[:3] == ["modul", "import", "os"]
