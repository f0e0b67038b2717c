"""The hook client: where it is installed, the words that run it, and which commands are ours."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias

NAME = "fabricd-hook"
Verb: TypeAlias = Literal["turn-end", "repair"]
_VERBS: tuple[Verb, ...] = ("turn-end", "repair")


class NoHook(RuntimeError):
    """Raised by `find`: there is no hook client to write down."""


def find(env: Mapping[str, str]) -> str:
    """The absolute path of the installed hook client: beside this interpreter, else on PATH.

    Raises:
        NoHook: it is nowhere, or its path has no UTF-8 form, which no configuration can hold.
    """
    beside = Path(sys.executable).absolute().parent / NAME
    if os.access(beside, os.X_OK):
        found = str(beside)
    else:
        on_path = shutil.which(NAME, path=env.get("PATH", os.defpath))
        if on_path is None:
            raise NoHook(f"{NAME} is neither beside {sys.executable} nor on PATH: install fabricd")
        found = os.path.abspath(on_path)
    try:
        found.encode()
    except UnicodeEncodeError:
        raise NoHook(f"the path {found} has no UTF-8 form: install fabricd elsewhere") from None
    return found


def words_for(program: str, agent: str, verb: Verb = "turn-end") -> tuple[str, ...]:
    """What runs the hook for an agent."""
    return (program, verb, "--agent", agent)


def line_of(words: tuple[str, ...]) -> str:
    """The words as a line for a shell."""
    return shlex.join(words)


def ours(line: str) -> tuple[str, ...] | None:
    """The words of a shell line that runs our hook, wherever it is installed; None for others'."""
    try:
        words = tuple(shlex.split(line))
    except ValueError:
        return None
    return words if is_ours(words) else None


def is_ours(words: tuple[str, ...]) -> bool:
    """Whether these words run our hook, for whatever it is run."""
    return len(words) >= 2 and os.path.basename(words[0]) == NAME and words[1] in _VERBS
