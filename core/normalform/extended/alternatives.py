"""What a schema admits: its alternatives over `$ref`, `anyOf`, `oneOf` and lists of types."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field, structs

from fabricd.core.normalform.extended.references import References, step
from fabricd.core.plain import is_list, is_object

Kinds = frozenset[str]

EVERYTHING: Kinds = frozenset({"null", "boolean", "number", "string", "array", "object"})
_NOTHING: Kinds = frozenset()
_STEPS = 65_536
_WORDS = {"object": ("properties",), "array": ("items", "prefixItems")}


class TooLarge(ValueError):
    """Raised while a schema is walked: a limit is exceeded, so there is no plan."""


class Place(Struct, frozen=True):
    """A schema and its pointer, after every `$ref`."""

    at: str
    schema: dict[str, Any]


class Alternative(Struct, frozen=True):
    """One branch: the kinds of value it admits, and its members where they are all texts."""

    place: Place
    kinds: Kinds
    members: tuple[str, ...] | None = None


class Alternatives(Struct, frozen=True):
    """All branches of one value; `holders` are the schemas of its objects and arrays, by kind."""

    branches: list[Alternative] = field(default_factory=list[Alternative])
    holders: dict[str, list[Place]] = field(
        default_factory=lambda: {kind: list[Place]() for kind in _WORDS}
    )

    def admits(self, kind: str) -> bool:
        """Whether some branch admits a kind of value."""
        return any(kind in branch.kinds for branch in self.branches)

    @property
    def reads_texts(self) -> bool:
        """Whether a text can stand for something else here: no branch admits just any text."""
        return not any(
            "string" in branch.kinds and branch.members is None for branch in self.branches
        )

    def hold(self, kind: str, place: Place) -> None:
        """Count a schema among the holders of a kind; of many, two tell as much as all."""
        found = self.holders[kind]
        if not found or (len(found) == 1 and found[0].at != place.at):
            found.append(place)

    def holder(self, kind: str) -> Place | None:
        """The one schema that judges what is inside an object or array, if there is just one."""
        found = self.holders[kind]
        return found[0] if len(found) == 1 else None


class _Part(Struct, frozen=True):
    """A schema on the way to the branches.

    `kinds` are those that the schemas above it admit, `held` those whose insides one of them
    judges; a part that is not `told` is below a schema that is a branch itself.
    """

    at: str
    schema: object
    kinds: Kinds = EVERYTHING
    held: Kinds = _NOTHING
    told: bool = True


class Flattening:
    """Flattens the schemas of one document; `draft` is the one that judges it."""

    def __init__(self, references: References, draft: int) -> None:
        self._references = references
        self._draft = draft
        self._steps = 0

    def of(self, at: str, schema: object) -> Alternatives:
        """The alternatives of the value that a schema judges.

        Raises:
            TooLarge: the document has more of them than anyone would write.
        """
        found = Alternatives()
        met = {(at, EVERYTHING, _NOTHING, True)}
        pending = [_Part(at, schema)]
        while pending:
            self._steps += 1
            if self._steps > _STEPS:
                raise TooLarge("its alternatives are too many")
            part = pending.pop()
            inner = part.schema
            if is_object(inner) and isinstance(inner.get("$ref"), str):
                target = self._references.target(inner["$ref"])
                if target is None:
                    self._add(found, Place(part.at, {}), part)
                    continue
                # Met again within one value it says nothing new, or leads nowhere.
                key = (target[0], part.kinds, part.held, part.told)
                if key not in met:
                    met.add(key)
                    pending.append(structs.replace(part, at=target[0], schema=target[1]))
            elif is_object(inner):
                pending.extend(reversed(self._opened(found, Place(part.at, inner), part)))
            elif inner is not False:
                self._add(found, Place(part.at, {}), part)
        return found

    def _opened(self, found: Alternatives, place: Place, part: _Part) -> list[_Part]:
        """The branches of a union; none where the schema is a branch itself and was added."""
        schema = place.schema
        kinds = part.kinds & self._kinds(schema)
        unions = [(word, schema[word]) for word in ("anyOf", "oneOf") if is_list(schema.get(word))]
        if not unions:
            self._add(found, place, structs.replace(part, kinds=kinds))
            return []
        # What a schema says of members beside its union holds in every branch.
        own = {kind for kind, words in _WORDS.items() if any(word in schema for word in words)}
        for kind in own & (kinds - part.held):
            found.hold(kind, place)
        told = part.told
        if told and "string" not in kinds:
            # Whatever the branches say, a text is none of what they may admit.
            found.branches.append(Alternative(place, kinds))
            told = False
        return [
            _Part(step(place.at, word, index), branch, kinds, part.held | own, told)
            for word, branches in unions
            for index, branch in enumerate(branches)
        ]

    def _add(self, found: Alternatives, place: Place, part: _Part) -> None:
        if not part.kinds:
            return
        if part.told:
            members = self._members(place.schema)
            found.branches.append(Alternative(place, part.kinds, members))
        for kind in _WORDS.keys() & (part.kinds - part.held):
            found.hold(kind, place)

    def _kinds(self, schema: dict[str, Any]) -> Kinds:
        kinds = EVERYTHING
        declared = schema.get("type")
        if isinstance(declared, str):
            kinds = frozenset({_plain(declared)})
        elif is_list(declared):
            kinds = frozenset(_plain(name) for name in declared if isinstance(name, str))
        for members in self._listed(schema):
            kinds &= frozenset(map(_kind, members))
        return kinds

    def _listed(self, schema: dict[str, Any]) -> list[list[Any]]:
        found: list[list[Any]] = [schema["enum"]] if is_list(schema.get("enum")) else []
        if "const" in schema and self._draft > 4:
            found.append([schema["const"]])
        return found

    def _members(self, schema: dict[str, Any]) -> tuple[str, ...] | None:
        for members in self._listed(schema):
            if all(isinstance(member, str) for member in members):
                return tuple(members)
        return None


def _plain(name: str) -> str:
    return "number" if name == "integer" else name


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if is_list(value) else "object"
