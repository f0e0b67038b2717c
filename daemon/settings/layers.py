"""Where a setting may come from: the file, the environment, the command line; and where exactly."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fabricd.core.plain import is_object, printable
from fabricd.daemon.settings.keys import BY_NAME, KEYS, Key

Place = tuple[str, ...]


@dataclass(frozen=True)
class Default:
    """Nobody set it."""

    def __str__(self) -> str:
        return "default"


@dataclass(frozen=True)
class InFile:
    """Set in the file, on this line (from 1)."""

    path: str
    line: int

    def __str__(self) -> str:
        return f"file {printable(self.path)} line {self.line}"


@dataclass(frozen=True)
class InEnvironment:
    """Set by this variable."""

    name: str

    def __str__(self) -> str:
        return f"environment {self.name}"


@dataclass(frozen=True)
class InFlag:
    """Set by this option."""

    name: str

    def __str__(self) -> str:
        return f"flag {self.name}"


Origin = Default | InFile | InEnvironment | InFlag


@dataclass(frozen=True)
class Layer:
    """Settings of one source, as tables, and where in it a place is."""

    values: Mapping[str, Any]
    origin: Callable[[Place], Origin]

    def holds(self, place: Place) -> bool:
        """Whether it says anything of this place."""
        return _has(self.values, place)


def file_layer(path: str, text: str) -> Layer:
    """The settings of a file.

    Raises:
        ValueError: it is not TOML.
    """
    return Layer(tomllib.loads(text), lambda place: InFile(path, _line(text, place)))


def environment_layer(env: Mapping[str, str]) -> Layer:
    """What variables set; an empty one sets nothing, as everywhere."""
    given = {key: env[key.variable] for key in KEYS if env.get(key.variable)}
    return Layer(
        _tables({key: _typed(key, text) for key, text in given.items()}),
        lambda place: InEnvironment(BY_NAME[".".join(place)].variable),
    )


def flag_layer(flags: Mapping[str, str | bool | None]) -> Layer:
    """What options of the command line set, by the key's dotted name; None sets nothing."""
    given = {BY_NAME[name]: value for name, value in flags.items() if value is not None}
    return Layer(
        _tables({k: _typed(k, v) if isinstance(v, str) else v for k, v in given.items()}),
        lambda place: InFlag(_flag(BY_NAME[".".join(place)], flags)),
    )


def _flag(key: Key, flags: Mapping[str, str | bool | None]) -> str:
    yes, _, no = key.flag.partition("/")
    return no if flags[key.dotted] is False else yes


def _tables(given: Mapping[Key, object]) -> dict[str, Any]:
    tables: dict[str, Any] = {}
    for key, value in given.items():
        tables.setdefault(key.section, {})[key.name] = value
    return tables


_SWITCHES = {"true": True, "1": True, "false": False, "0": False}
_WHOLE = re.compile(r"[+-]?[0-9]{1,15}\Z")
_NUMBER = re.compile(r"[+-]?[0-9]{1,15}(\.[0-9]{1,15})?\Z")


def _typed(key: Key, text: str) -> object:
    """The value that a text stands for; the text itself where it is none, which is then refused."""
    if key.is_switch:
        return _SWITCHES.get(text.lower(), text)
    if key.section == "log":
        return text
    if _WHOLE.match(text):
        return int(text)
    return float(text) if _NUMBER.match(text) else text


def _line(text: str, place: Place) -> int:
    """The line on which a place of a sound document starts.

    The parser tells no lines, but the start of a document says what it has said so far. Where a
    value takes several lines, the start is a document again only behind it.
    """
    lines = text.split("\n")

    def is_said(count: int) -> bool:
        for end in range(count, len(lines) + 1):
            try:
                return _has(tomllib.loads("\n".join(lines[:end]) + "\n"), place)
            except ValueError:
                continue
        return True

    return bisect_left(range(1, len(lines)), True, key=is_said) + 1


def _has(tables: Mapping[str, Any], place: Place) -> bool:
    here: object = tables
    for name in place:
        if not is_object(here) or name not in here:
            return False
        here = here[name]
    return True
