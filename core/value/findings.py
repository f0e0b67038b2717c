"""Finding what is wrong: the checks that receipts and records share, and the order of findings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from msgspec import Struct

from fabricd.core.javascript import utf16_key
from fabricd.core.plain import is_list, is_object
from fabricd.core.trajectory.values import ABSENT, is_text
from fabricd.core.trajectory.violations import Violation
from fabricd.core.value.codes import MESSAGES

ROOT: Final = "/"


class Shape(Struct, frozen=True):
    """The members that an object must have and those that it may have."""

    needed: frozenset[str]
    known: frozenset[str]


def shape(needed: str, optional: str = "") -> Shape:
    """A shape from two lists of names."""
    names = frozenset(needed.split())
    return Shape(names, names.union(optional.split()))


class Findings:
    """Violations as they are found."""

    def __init__(self) -> None:
        self.found: list[Violation] = []

    def add(self, code: str, path: str, more: str = "") -> None:
        """A violation; `more` follows its sentence."""
        self.found.append(Violation(code, MESSAGES[code] + more, path or ROOT))

    def members(self, value: object, path: str, wanted: Shape) -> dict[str, Any] | None:
        """The members of what must be an object of a shape."""
        if not is_object(value):
            self.add("OBJECT_REQUIRED", path)
            return None
        if value.keys() != wanted.needed:
            for name in value.keys() - wanted.known:
                self.add("UNKNOWN_FIELD", f"{path}/{name}")
            for name in wanted.needed - value.keys():
                self.add("REQUIRED_FIELD_MISSING", f"{path}/{name}")
        return value

    def nonempty(self, value: Mapping[str, Any], name: str, path: str) -> None:
        """A member that must be a text of at least one character."""
        if not is_text(value.get(name)):
            self.add("NONEMPTY_STRING_REQUIRED", f"{path}/{name}")

    def identities(self, value: Mapping[str, Any], names: Iterable[str], path: str) -> None:
        """Members that must be null or a text of at least one character."""
        for name in names:
            self.identity(value.get(name, ABSENT), f"{path}/{name}")

    def given_identities(self, value: Mapping[str, Any], names: Iterable[str], path: str) -> None:
        """As `identities`, of those members that are there."""
        self.identities(value, [name for name in names if name in value], path)

    def identity(self, value: object, path: str) -> None:
        """What must be null or a text of at least one character."""
        if value is not None and not is_text(value):
            self.add("INVALID_IDENTITY", path)

    def texts(self, value: object, path: str) -> None:
        """What must be an array of texts of at least one character."""
        if not is_list(value):
            self.add("ARRAY_REQUIRED", path)
            return
        for index, item in enumerate(value):
            if not is_text(item):
                self.add("NONEMPTY_STRING_REQUIRED", f"{path}/{index}")

    def one_of(self, value: object, choices: Collection[str], code: str, path: str) -> None:
        """What must be one of some texts."""
        if not isinstance(value, str) or value not in choices:
            self.add(code, path)


def beneath(violations: Iterable[Violation], path: str) -> list[Violation]:
    """Violations of a part, with the paths of the whole."""
    return [
        Violation(found.code, found.message, path + ("" if found.path == ROOT else found.path))
        for found in violations
    ]


def by_path(violations: Iterable[Violation]) -> list[Violation]:
    """The order of records and summaries: by path and code, else as they were found."""
    return sorted(violations, key=lambda found: utf16_key(f"{found.path}\0{found.code}"))


def by_path_and_message(violations: Iterable[Violation]) -> list[Violation]:
    """The order of receipts: by path, code and message."""
    return sorted(violations, key=_parts)


def _parts(found: Violation) -> tuple[bytes, bytes, bytes]:
    return utf16_key(found.path), utf16_key(found.code), utf16_key(found.message)
