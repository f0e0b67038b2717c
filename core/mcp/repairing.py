"""One tool's proven repairs, whatever conventions they follow, as edits and a witness."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from fabricd.core.canonical import as_given, utf8
from fabricd.core.canonical import text as json_text
from fabricd.core.documents import strict_json
from fabricd.core.normalform.apply import Normalizer
from fabricd.core.normalform.edits import classic_edits
from fabricd.core.normalform.extended import Edit, ExtendedNormalizer
from fabricd.core.plain import is_object
from fabricd.core.validation import Unjudgeable, Validator

Conventions: TypeAlias = Literal["extended", "classic"]


class Repair(Struct, frozen=True):
    """A proven repair of one call. The witness is made when it is asked for."""

    args: object
    edits: tuple[Edit, ...]
    witness: Callable[[], dict[str, Any]]

    def settled(self) -> Repair:
        """The same without the arguments, which may be large."""
        made = self.witness()
        return Repair(None, (), lambda: made)


class Tool:
    """A declared tool. Its schema is read and compiled when it is first called."""

    def __init__(self, ref: str, schema: object, conventions: Conventions) -> None:
        self.ref = ref
        self._text: bytes | None = None
        self._schema = schema
        self._conventions = conventions
        self._validator: Validator | None = None
        self._repairs: _Extended | _Classic | None = None
        self._is_compiled = False

    @classmethod
    def written(cls, ref: str, text: bytes, conventions: Conventions) -> Tool:
        """A tool whose schema is a JSON text."""
        made = cls(ref, None, conventions)
        made._text = text
        return made

    @property
    def schema(self) -> object:
        """The declared schema; read anew each time until the tool was called."""
        if self._is_compiled or self._text is None:
            return self._schema
        return strict_json(self._text)

    @property
    def text(self) -> bytes:
        """The JSON text of the schema."""
        return utf8(json_text(self._schema, as_given)) if self._text is None else self._text

    def accepts(self, args: object) -> bool | None:
        """Whether the declared schema accepts arguments; None where nobody can judge it."""
        self._compile()
        return None if self._validator is None else self._validator.accepts(args)

    def repair(self, args: object) -> Repair | None:
        """The proven repair of arguments that the schema rejects."""
        self._compile()
        return None if self._repairs is None else self._repairs.repair(args)

    def _compile(self) -> None:
        if self._is_compiled:
            return
        self._schema = self.schema
        self._is_compiled = True
        try:
            self._validator = Validator(self._schema)
        except Unjudgeable:
            return
        made = _Extended if self._conventions == "extended" else _Classic
        self._repairs = made(self.ref, self._schema)


class _Extended:
    def __init__(self, ref: str, schema: object) -> None:
        self._normalizer = ExtendedNormalizer(ref, schema)

    def repair(self, args: object) -> Repair | None:
        repaired = self._normalizer.apply(args)
        if not repaired.changed:
            return None

        def witness() -> dict[str, Any]:
            made: dict[str, Any] = msgspec.to_builtins(self._normalizer.witness(args, repaired))
            return made

        return Repair(repaired.args, repaired.edits, witness)


class _Classic:
    def __init__(self, ref: str, schema: object) -> None:
        self._normalizer = Normalizer(ref, schema)

    def repair(self, args: object) -> Repair | None:
        if not is_object(args):
            return None
        applied = self._normalizer.apply(args)
        if not applied.changed:
            return None

        def witness() -> dict[str, Any]:
            made: dict[str, Any] = msgspec.to_builtins(self._normalizer.witness(args, applied))
            return made

        return Repair(applied.args, tuple(classic_edits(args, applied.args)), witness)
