"""`from fabricd import Normalizer`: proven repairs in front of your own tool handlers.

Built from a listing of tools, it is plain and synchronous, keeps no state that a caller could
disturb, and may be used by any number of threads.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypeAlias, TypeGuard

from msgspec import Struct

from fabricd.core.model import Plan, Witness
from fabricd.core.normalform.extended.apply import ExtendedNormalizer
from fabricd.core.normalform.extended.plan import ExtendedPlan, ExtendedWitness
from fabricd.core.normalform.extended.texts import arguments_of
from fabricd.core.normalform.given import copied, has_doubles, is_plain
from fabricd.core.plain import is_object
from fabricd.core.validation import Unjudgeable

Conventions: TypeAlias = Literal["classic", "extended"]

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
            ValueError: no listing, a tool without a name or a schema, two schemas under one name,
                or unknown conventions. The message names the place.
        """
        if conventions not in ("classic", "extended"):
            raise ValueError(f"conventions: expected classic or extended, found {conventions!r}")
        self._build = _extended if conventions == "extended" else _classic
        self._listed: dict[str, _Listed] = {}
        for index, tool in enumerate(_listing(tools)):
            name, listed = _named(tool, f"tools[{index}]")
            before = self._listed.setdefault(name, listed)
            if before is not listed and before.text() != listed.text():
                raise ValueError(f"tools[{index}]: {name!r} was listed with another schema")
        self._built: dict[str, _Built] = {}

    def apply(self, name: str, args: object) -> Result:
        """Repair a call, or give its arguments back as they are. Never raises.

        Args:
            name: of the tool; the arguments of one that was not listed are never changed.
            args: plain JSON values, or the JSON text of the arguments as a model wrote it.
        """
        built = self._of(name)
        if built is None or built.plan is None:
            return Result(args)
        if isinstance(args, str):
            read = arguments_of(args)
            return Result(args) if built.accepts(read) else built.repair(read) or Result(args)
        if not is_plain(args) or built.accepts(args):
            return Result(args)
        repaired = built.repair(args)
        # Asked of the few that were repaired: a validator takes NaN for a number like any other.
        return Result(args) if repaired is None or not has_doubles(args) else repaired

    def plan(self, name: str) -> ExtendedPlan | Plan | None:
        """The plan of a tool; None where there is no such tool or nothing can be proven."""
        built = self._of(name)
        return None if built is None else built.plan

    def reason(self, name: str) -> str | None:
        """Why a tool has no plan; None where it has one."""
        built = self._of(name)
        return "it was not listed" if built is None else built.reason

    def _of(self, name: str) -> _Built | None:
        try:
            built = self._built.get(name)
        except TypeError:
            # No text, and nothing that could be looked up.
            return None
        listed = self._listed.get(name) if built is None else None
        if listed is None:
            return built
        # Two threads may both build it, and then use the same one.
        return self._built.setdefault(name, self._new(name, listed))

    def _new(self, name: str, listed: _Listed) -> _Built:
        if listed.reason is not None:
            return _Built(None, listed.reason, _accepts_nothing, _repairs_nothing)
        return self._build(name, listed.schema)


class _Listed(Struct, frozen=True):
    """A tool's schema, or the reason why it is none."""

    schema: Any
    reason: str | None = None

    def text(self) -> str:
        """What two schemas have in common that are the same: 1, 1.0 and true are three."""
        return self.reason or json.dumps(self.schema, sort_keys=True)


class _Built(Struct, frozen=True):
    """What is known of one tool.

    `repair` is asked of arguments that it does not accept, and gives None where nothing may change.
    """

    plan: ExtendedPlan | Plan | None
    reason: str | None
    accepts: Callable[[Any], bool]
    repair: Callable[[Any], Result | None]


def _accepts_nothing(args: Any) -> bool:
    return False


def _repairs_nothing(args: Any) -> Result | None:
    return None


def _extended(name: str, schema: object) -> _Built:
    normalizer = ExtendedNormalizer(name, schema)

    def repair(args: Any) -> Result | None:
        repaired = normalizer.repair(args)
        if not repaired.rules:
            return None
        return Result(repaired.args, normalizer.witness(args, repaired))

    return _Built(normalizer.plan, normalizer.reason, normalizer.accepts, repair)


def _classic(name: str, schema: object) -> _Built:
    # Imported where it is needed: few ask for it, and the import is a third of the whole.
    from fabricd.core.normalform.apply import Normalizer as ClassicNormalizer

    normalizer = ClassicNormalizer(name, schema)

    def repair(args: Any) -> Result | None:
        applied = normalizer.apply(args) if is_object(args) else None
        if applied is None or not applied.rules:
            return None
        return Result(applied.args, normalizer.witness(args, applied))

    return _Built(normalizer.plan, normalizer.reason, normalizer.accepts, repair)


def _is_mapping(value: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping)


def _is_iterable(value: object) -> TypeGuard[Iterable[object]]:
    return isinstance(value, Iterable)


def _listing(tools: object) -> Iterable[object]:
    if isinstance(tools, (str, bytes)) or not _is_iterable(tools):
        raise ValueError(f"tools: expected a list of tools, found {type(tools).__name__}")
    return tools


def _named(tool: object, where: str) -> tuple[str, _Listed]:
    if not _is_mapping(tool):
        raise ValueError(f"{where}: expected a mapping, found {type(tool).__name__}")
    name = tool.get("name")
    if not isinstance(name, str) or not name:
        raise ValueError(f"{where}: expected a name")
    member = next((each for each in _SCHEMAS if each in tool), None)
    if member is None:
        raise ValueError(f"{where}: expected inputSchema or parameters beside name")
    try:
        return name, _Listed(copied(tool[member]))
    except Unjudgeable as error:
        return name, _Listed(None, str(error))
