"""`from fabricd import Normalizer`: proven repairs in front of your own tool handlers.

Built from a listing of tools, it is plain and synchronous, keeps no state that a caller could
disturb, and may be used by any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from typing import Any, Literal, TypeAlias, TypeGuard

from msgspec import Struct

from fabricd.core.model import Plan, Witness
from fabricd.core.normalform.extended.apply import ExtendedNormalizer
from fabricd.core.normalform.extended.plan import ExtendedPlan, ExtendedWitness
from fabricd.core.normalform.extended.texts import arguments_of
from fabricd.core.plain import is_list, is_object

Conventions: TypeAlias = Literal["classic", "extended"]

_LEVELS = 256
_SCALARS = frozenset({str, int, float, bool, type(None)})
_TEXTS = frozenset({str})
_SCHEMAS = ("inputSchema", "parameters")


class Result(Struct, frozen=True):
    """The arguments to use.

    Without a witness they are the very object that was given, a text included; with one they are
    plain values.
    """

    args: Any
    witness: ExtendedWitness | Witness | None = None

    @property
    def changed(self) -> bool:
        """Whether anything was repaired."""
        return self.witness is not None


class Normalizer:
    """The proven plans of a set of tools, each derived when its tool is first called."""

    def __init__(
        self, tools: Iterable[Mapping[str, Any]], conventions: Conventions = "extended"
    ) -> None:
        """Take a listing.

        Args:
            tools: `{name, inputSchema}` or `{name, parameters}`; other members are passed over.
            conventions: `classic` repairs closed objects, and these at their top level alone.

        Raises:
            ValueError: a tool without a name or a schema, two schemas under one name, or unknown
                conventions. The message names the place.
        """
        if conventions not in ("classic", "extended"):
            raise ValueError(f"conventions: expected classic or extended, found {conventions!r}")
        self._build = _extended if conventions == "extended" else _classic
        self._schemas: dict[str, Any] = {}
        for index, tool in enumerate(tools):
            name, schema = _named(tool, f"tools[{index}]")
            if self._schemas.setdefault(name, schema) != schema:
                raise ValueError(f"tools[{index}]: {name!r} was listed with another schema")
        self._built: dict[str, _Built] = {}

    def apply(self, name: str, args: object) -> Result:
        """Repair a call, or give its arguments back as they are. Never raises.

        Args:
            name: of the tool; the arguments of one that was not listed are never changed.
            args: plain JSON values, or the JSON text of the arguments as a model wrote it.
        """
        built = self._built.get(name) or self._of(name)
        if built is None or built.plan is None:
            return Result(args)
        read = arguments_of(args) if isinstance(args, str) else args
        if not _is_plain(read):
            return Result(args)
        return built.repair(read) or Result(args)

    def plan(self, name: str) -> ExtendedPlan | Plan | None:
        """The plan of a tool; None where there is no such tool or nothing can be proven."""
        built = self._of(name)
        return None if built is None else built.plan

    def reason(self, name: str) -> str | None:
        """Why a tool has no plan; None where it has one."""
        built = self._of(name)
        return "it was not listed" if built is None else built.reason

    def _of(self, name: str) -> _Built | None:
        built = self._built.get(name)
        if built is None and name in self._schemas:
            # Two threads may both build it, and then use the same one.
            built = self._built.setdefault(name, self._build(name, self._schemas[name]))
        return built


class _Built(Struct, frozen=True):
    """What is known of one tool; `repair` gives None where nothing may change."""

    plan: ExtendedPlan | Plan | None
    reason: str | None
    repair: Callable[[Any], Result | None]


def _extended(name: str, schema: object) -> _Built:
    normalizer = ExtendedNormalizer(name, schema)

    def repair(args: Any) -> Result | None:
        repaired = normalizer.apply(args)
        if not repaired.rules:
            return None
        return Result(repaired.args, normalizer.witness(args, repaired))

    return _Built(normalizer.plan, normalizer.reason, repair)


def _classic(name: str, schema: object) -> _Built:
    # Imported where it is needed: few ask for it, and the import is a third of the whole.
    from fabricd.core.normalform.apply import Normalizer as ClassicNormalizer

    normalizer = ClassicNormalizer(name, schema)

    def repair(args: Any) -> Result | None:
        applied = normalizer.apply(args) if is_object(args) else None
        if applied is None or not applied.rules:
            return None
        return Result(applied.args, normalizer.witness(args, applied))

    return _Built(normalizer.plan, normalizer.reason, repair)


def _is_mapping(value: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping)


def _named(tool: object, where: str) -> tuple[str, Any]:
    if not _is_mapping(tool):
        raise ValueError(f"{where}: expected a mapping, found {type(tool).__name__}")
    name = tool.get("name")
    if not isinstance(name, str) or not name:
        raise ValueError(f"{where}: expected a name")
    member = next((each for each in _SCHEMAS if each in tool), None)
    if member is None:
        raise ValueError(f"{where}: expected inputSchema or parameters beside name")
    # A schema that its owner changes later must not change what was proven.
    return name, deepcopy(tool[member])


def _is_plain(args: object) -> bool:
    """Whether a validator may see these arguments: JSON values alone, at most 256 levels."""
    layer: list[Any] = [args]
    for _ in range(_LEVELS):
        inner: list[Any] = []
        for value in layer:
            if is_object(value):
                if not _TEXTS.issuperset(map(type, value)):
                    return False
                # Most calls are flat, and to look at each value would cost more than to judge it.
                if not _SCALARS.issuperset(map(type, value.values())):
                    inner.extend(value.values())
            elif is_list(value):
                inner.extend(value)
            elif type(value) not in _SCALARS:
                return False
        if not inner:
            return True
        layer = inner
    return False
