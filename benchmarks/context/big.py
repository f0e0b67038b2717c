"""A tree of many files in many languages, made of a seed: what the budgets are measured on.

Names come from a vocabulary with a long tail, as in real trees: few words are everywhere, most
are in a handful of files. Bodies call functions that stand in other files.
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path

FILES = 5000
_WORDS = 4000
_NAMES = 20_000
_SUBJECT = 40
_FOLDERS = 400
_SYLLABLES = (
    "ba be bi bo bu da de di do du fa fe fi fo ga ge go ha he hi ka ke ki ko la le li lo lu ma me "
    "mi mo mu na ne ni no nu pa pe pi po ra re ri ro ru sa se si so su ta te ti to tu va ve vi vo"
).split()
_COMMON = (
    "request response session user token cache index buffer stream parser config value result "
    "error handler client server message event state worker queue path file name size time"
).split()


class _Speech:
    """Words by rank, and names made of them; a file says the names of its subject most often."""

    def __init__(self, rng: random.Random) -> None:
        made = {"".join(rng.choices(_SYLLABLES, k=rng.randrange(2, 5))) for _ in range(_WORDS)}
        self._words = _COMMON + sorted(made)
        self._weights = _by_rank(len(self._words))
        self._rng = rng
        self._names = [tuple(self.words(rng.randrange(2, 4))) for _ in range(_NAMES)]
        self._name_weights = _by_rank(_NAMES)
        self._subject = self._names

    def turn_to_another_subject(self) -> None:
        """What the next file is about."""
        self._subject = self._rng.choices(self._names, cum_weights=self._name_weights, k=_SUBJECT)

    def words(self, count: int) -> list[str]:
        """Words, frequent ones more often."""
        return self._rng.choices(self._words, cum_weights=self._weights, k=count)

    def snake(self) -> str:
        """`cache_lookup_kabo`."""
        return "_".join(self._rng.choice(self._subject))

    def camel(self) -> str:
        """`cacheLookupKabo`."""
        first, *rest = self._rng.choice(self._subject)
        return first + "".join(word.title() for word in rest)

    def pascal(self) -> str:
        """`CacheLookup`."""
        return "".join(word.title() for word in self._rng.choice(self._subject))

    def sentence(self) -> str:
        """A line of documentation."""
        return " ".join(self.words(self._rng.randrange(6, 12))).capitalize() + "."


def _by_rank(count: int) -> list[float]:
    return list(accumulate(1 / (rank + 3) for rank in range(count)))


Writer = Callable[[_Speech, random.Random], str]


# What a body says: of names a, b and c, a number and a sentence.
_Forms = tuple[str, str, str]
_PLAIN: _Forms = ("{a} = {b}({c}, {number})", "{a}({b}, {c})", '{a}("{sentence}")')
_ENDED: _Forms = ("{a} = {b}({c}, {number});", "{a}({b}, {c});", '{a}("{sentence}");')
_PHP: _Forms = ("${a} = {b}(${c}, {number});", "{a}(${b}, ${c});", '{a}("{sentence}");')
_SHELL: _Forms = ('{a}=$({b} "${c}" {number})', '{a} "${b}" "${c}"', '{a} "{sentence}"')


def _statements(
    speech: _Speech, rng: random.Random, name: Callable[[], str], forms: _Forms
) -> list[str]:
    return [
        rng.choice(forms).format(
            a=name(), b=name(), c=name(), number=rng.randrange(100), sentence=speech.sentence()
        )
        for _ in range(rng.randrange(4, 12))
    ]


def _python(speech: _Speech, rng: random.Random) -> str:
    out = [f'"""{speech.sentence()}"""', "", f"import {speech.snake()}", ""]
    for _ in range(rng.randrange(2, 5)):
        out += ["", f"class {speech.pascal()}:", f'    """{speech.sentence()}"""', ""]
        for _ in range(rng.randrange(3, 8)):
            out += [f"    def {speech.snake()}(self, {speech.snake()}: int) -> str:"]
            out += [f'        """{speech.sentence()}"""']
            out += [f"        {line}" for line in _statements(speech, rng, speech.snake, _PLAIN)]
            out += [f"        return {speech.snake()}", ""]
    for _ in range(rng.randrange(2, 6)):
        out += ["", f"def {speech.snake()}({speech.snake()}, {speech.snake()}=None):"]
        out += [f"    {line}" for line in _statements(speech, rng, speech.snake, _PLAIN)]
    return "\n".join(out) + "\n"


def _braces(head: str, member: str, free: str, forms: _Forms = _ENDED, last: str = "}") -> Writer:
    """A language with braces: its file head, a member of a type, and what opens a type."""

    def write(speech: _Speech, rng: random.Random) -> str:
        out = [head.format(word=speech.camel(), sentence=speech.sentence()), ""]
        for _ in range(rng.randrange(2, 5)):
            out += [f"// {speech.sentence()}", free.format(name=speech.pascal()) + " {"]
            for _ in range(rng.randrange(3, 9)):
                out += [f"  // {speech.sentence()}"]
                out += ["  " + member.format(name=speech.camel(), arg=speech.camel()) + " {"]
                out += [f"    {line}" for line in _statements(speech, rng, speech.camel, forms)]
                out += ["  }", ""]
            out += [last, ""]
        return "\n".join(out) + "\n"

    return write


def _functions(head: str, free: str, last: str, forms: _Forms = _ENDED) -> Writer:
    """A language of functions at the top of the file."""

    def write(speech: _Speech, rng: random.Random) -> str:
        out = [head.format(word=speech.snake()), ""]
        mark = "//" if forms is _ENDED else "#"
        for _ in range(rng.randrange(10, 30)):
            out += [f"{mark} {speech.sentence()}"]
            out += [free.format(name=speech.snake(), arg=speech.snake())]
            out += [f"    {line}" for line in _statements(speech, rng, speech.snake, forms)]
            out += [last, ""]
        return "\n".join(out) + "\n"

    return write


def _markdown(speech: _Speech, rng: random.Random) -> str:
    out: list[str] = [f"# {speech.sentence()}", ""]
    for _ in range(rng.randrange(6, 20)):
        out += [f"## {speech.sentence()}", ""]
        out += [speech.sentence() for _ in range(rng.randrange(5, 20))]
        out += [""]
    return "\n".join(out)


_LANGUAGES: tuple[tuple[str, Writer], ...] = (
    ("py", _python),
    (
        "ts",
        _braces(
            'import {{ {word} }} from "./{word}"',
            "{name}({arg}: number): string",
            "export class {name}",
        ),
    ),
    ("js", _braces('const {word} = require("./{word}")', "{name}({arg})", "class {name}")),
    ("go", _functions('package main\n\nimport "{word}"', "func {name}({arg} int) string {{", "}")),
    (
        "rs",
        _braces("use crate::{word};", "pub fn {name}(&self, {arg}: u32) -> String", "impl {name}"),
    ),
    (
        "java",
        _braces("import org.{word};", "public String {name}(int {arg})", "public class {name}"),
    ),
    ("c", _functions('#include "{word}.h"', "int {name}(int {arg}) {{", "}")),
    (
        "cpp",
        _braces('#include "{word}.h"', "int {name}(int {arg})", "class {name}", last="};"),
    ),
    ("cs", _braces("using {word};", "public string {name}(int {arg})", "public class {name}")),
    ("rb", _functions('require "{word}"', "def {name}({arg})", "end", _PLAIN)),
    (
        "php",
        _braces("<?php\nuse {word};", "public function {name}(${arg})", "class {name}", _PHP),
    ),
    ("sh", _functions(". ./{word}.sh", "{name}() {{", "}", _SHELL)),
    ("md", _markdown),
)


def make(folder: Path, files: int = FILES, seed: int = 5) -> int:
    """Write a tree and commit it; gives its bytes."""
    rng = random.Random(seed)
    speech = _Speech(rng)
    places = ["/".join(speech.words(rng.randrange(1, 4))) for _ in range(_FOLDERS)]
    size = 0
    for number in range(files):
        suffix, write = _LANGUAGES[number % len(_LANGUAGES)]
        below = folder / rng.choice(places)
        if number % 7 == 0:
            below = below / "tests"
        below.mkdir(parents=True, exist_ok=True)
        speech.turn_to_another_subject()
        data = write(speech, rng).encode()
        (below / f"{speech.snake()}_{number}.{suffix}").write_bytes(data)
        size += len(data)
    commit(folder)
    return size


def commit(folder: Path) -> None:
    """Make the tree a repository of one commit."""
    who = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
    for command in (("init", "-q"), ("add", "-A"), (*who, "commit", "-q", "-m", "Begin")):
        subprocess.run(("git", *command), cwd=folder, check=True)
