"""Judging recorded calls by the schema that was in force then, or not at all.

A snapshot judges a call of its agent if the agent's version says that it was in force, or, where
one of them has no version, if the call falls into the time in which the snapshot was seen. Where
two such snapshots disagree, a call is invalid only if all of them reject it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any, TypeAlias

from msgspec import Struct

from fabricd.core.history.calls import INVALID, NO_SCHEMA, UNDATED, UNDECLARED, VALID, Row
from fabricd.core.history.malformation import NOT_JSON, UNKNOWN_TOOL, malformations
from fabricd.core.normalform.apply import Normalizer
from fabricd.core.plain import is_object
from fabricd.core.validation import Unjudgeable, Validator

__all__ = ["NOT_JSON", "Judge", "Snapshot"]

Version: TypeAlias = tuple[tuple[int, ...], bool, tuple[tuple[bool, int, str], ...]]

_NUMBER = re.compile(r"([0-9]{1,18})(?:\.|\Z)")
_REMEMBERED = 4096
_LABEL = re.compile(r"[0-9]{1,18}")


class Snapshot(Struct, frozen=True):
    """Tools that one agent had, and when.

    Attributes:
        versions: the first and the last agent version it holds for, both included.
        seen: the first and the last moment it was seen, in milliseconds since the epoch.
        covers: a tool whose name starts so and is not listed was not declared. None: what is not
            listed is unknown.
    """

    agent: str
    tools: Mapping[str, Any]
    versions: tuple[str, str] | None = None
    seen: tuple[int, int] | None = None
    covers: str | None = None


@lru_cache(maxsize=1024)
def version_key(version: str) -> Version:
    """An order of versions as semantic versioning has it: `1.2.0-beta.3` before `1.2.0`.

    `1.2` is `1.2.0`, and what follows a `+` says nothing.
    """
    core, _, rest = version.strip().lstrip("v").partition("+")[0].partition("-")
    numbers: list[int] = []
    position = 0
    while (found := _NUMBER.match(core, position)) is not None:
        numbers.append(int(found[1]))
        position = found.end()
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers), not rest, tuple(_label(word) for word in rest.split(".") if rest)


def _label(word: str) -> tuple[bool, int, str]:
    # Numbers come before words.
    is_number = _LABEL.fullmatch(word) is not None
    return not is_number, int(word) if is_number else 0, "" if is_number else word


def in_force(snapshot: Snapshot, version: str, at: int) -> bool:
    """Whether a snapshot may judge a call of that agent version, made at that moment."""
    if _goes_by_version(snapshot, version):
        return _has_version(snapshot, version)
    return _has_seen(snapshot, at)


def _goes_by_version(snapshot: Snapshot, version: str) -> bool:
    return snapshot.versions is not None and version != ""


def _has_version(snapshot: Snapshot, version: str) -> bool:
    if snapshot.versions is None:
        return False
    first, last = snapshot.versions
    if version in (first, last):
        return True
    return version_key(first) <= version_key(version) <= version_key(last)


def _has_seen(snapshot: Snapshot, at: int) -> bool:
    if snapshot.seen is None or at == UNDATED:
        return False
    return snapshot.seen[0] <= at <= snapshot.seen[1]


class _Tool:
    """One declared schema, compiled when it is first asked."""

    def __init__(self, name: str, schema: object) -> None:
        self._name = name
        self._schema = schema
        self._validator: Validator | None = None
        self._normalizer: Normalizer | None = None
        self._is_compiled = False

    def judged(self, args: object) -> tuple[int, int, bool]:
        """Verdict, kinds of malformation, and whether a normal form makes it valid."""
        validator = self._validator if self._is_compiled else self._compiled()
        if validator is None:
            return NO_SCHEMA, 0, False
        if validator.accepts(args):
            return VALID, 0, False
        if not is_object(self._schema):
            return NO_SCHEMA, 0, False
        return INVALID, malformations(self._schema, validator, args), self._repairs(args)

    def _compiled(self) -> Validator | None:
        if not self._is_compiled:
            self._is_compiled = True
            try:
                self._validator = Validator(self._schema)
            except Unjudgeable:
                self._validator = None
        return self._validator

    def _repairs(self, args: object) -> bool:
        if not is_object(args):
            return False
        if self._normalizer is None:
            self._normalizer = Normalizer(self._name, self._schema)
        return self._normalizer.apply(args).changed


class _Known(Struct, frozen=True):
    """The schemas of a tool that judge calls of an agent version: at any time, and at some.

    Attributes:
        at_times: from when and until when a schema does so, both included, and the schema.
    """

    always: tuple[_Tool, ...]
    at_times: tuple[tuple[int, int, _Tool], ...]


class Judge:
    """Every snapshot at hand. `digest` is another one whenever a verdict could be another one."""

    def __init__(self, snapshots: Iterable[Snapshot] = ()) -> None:
        self._tools: dict[tuple[str, str], list[tuple[Snapshot, _Tool]]] = {}
        self._covering: dict[str, list[Snapshot]] = {}
        self._by_version: dict[tuple[str, str, str], _Known] = {}
        digests: list[str] = []
        for snapshot in snapshots:
            compiled: dict[str, _Tool] = {}
            for name, schema in snapshot.tools.items():
                tool = compiled.setdefault(name, _Tool(name, schema))
                self._tools.setdefault((snapshot.agent, name), []).append((snapshot, tool))
            if snapshot.covers is not None:
                self._covering.setdefault(snapshot.agent, []).append(snapshot)
            digests.append(_digest(snapshot))
        self.digest = sha256("".join(sorted(digests)).encode()).hexdigest()

    def judge(self, row: Row, agent: str, tool: str, args: object, version: str) -> None:
        """Write into a row what the schema of its time says of its arguments."""
        row.verdict, row.kinds, row.repairable = NO_SCHEMA, 0, False
        known = self._by_version.get((agent, tool, version)) or self._known(agent, tool, version)
        tools, at = known.always, row.at
        if known.at_times and at != UNDATED:
            seen = [found for first, last, found in known.at_times if first <= at <= last]
            tools = (*tools, *seen)
        if len(tools) == 1:
            row.verdict, row.kinds, row.repairable = tools[0].judged(args)
        elif tools:
            found = [each.judged(args) for each in tools]
            row.verdict, row.kinds, row.repairable = _together(found)
        elif agent in self._covering and self._is_uncovered(agent, tool, version, at):
            self.undeclared(row)

    def _known(self, agent: str, tool: str, version: str) -> _Known:
        found = self._tools.get((agent, tool), ())
        always = [
            schema
            for snapshot, schema in found
            if _goes_by_version(snapshot, version) and _has_version(snapshot, version)
        ]
        at_times = [
            (*snapshot.seen, schema)
            for snapshot, schema in found
            if not _goes_by_version(snapshot, version) and snapshot.seen is not None
        ]
        known = _Known(tuple(always), tuple(at_times))
        if len(self._by_version) < _REMEMBERED:
            self._by_version[agent, tool, version] = known
        return known

    def _is_uncovered(self, agent: str, tool: str, version: str, at: int) -> bool:
        return any(
            snapshot.covers is not None
            and tool.startswith(snapshot.covers)
            and tool not in snapshot.tools
            and in_force(snapshot, version, at)
            for snapshot in self._covering.get(agent, ())
        )

    def reject(self, row: Row, kinds: int) -> None:
        """Write into a row that no schema could accept it."""
        row.verdict, row.kinds, row.repairable = INVALID, kinds, False

    def undeclared(self, row: Row) -> None:
        """Write into a row that nobody declared its tool."""
        row.verdict, row.kinds, row.repairable = UNDECLARED, UNKNOWN_TOOL, False


def _together(found: Sequence[tuple[int, int, bool]]) -> tuple[int, int, bool]:
    judged = [each for each in found if each[0] != NO_SCHEMA]
    if not judged:
        return NO_SCHEMA, 0, False
    return next((each for each in judged if each[0] == VALID), judged[-1])


def _digest(snapshot: Snapshot) -> str:
    # Not the canonical digest, which rounds wide integers: a bound may differ only there.
    value = [
        snapshot.agent,
        dict(snapshot.tools),
        snapshot.versions,
        snapshot.seen,
        snapshot.covers,
    ]
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
