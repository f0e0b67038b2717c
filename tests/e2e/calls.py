"""What is sent to a server, and what must arrive there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

# The first column of the table of malformations; "" for a call that is sent as it is declared.
Kind: TypeAlias = Literal[
    "",
    "own-error",
    "json-text",
    "number-text",
    "boolean-text",
    "null-optional",
    "enum-form",
    "key-form",
    "nested",
    "whole",
    "several",
    "python-literal",
    "number-lossy",
    "list-for-number",
    "null-required",
    "enum-unknown",
    "alias-key",
    "undeclared-key",
    "missing-required",
    "bad-item",
    "scalar-for-array",
    "container-for-scalar",
    "number-for-string",
    "not-json",
    "ambiguous",
    "unknown-tool",
]


@dataclass(frozen=True)
class Call:
    """One call. `proper` is what the server must receive; None: what was sent, and it refuses."""

    tool: str
    kind: Kind
    sent: object
    proper: object | None

    @property
    def fate(self) -> Literal["identical", "repaired", "refused"]:
        if self.proper is None:
            return "refused"
        return "repaired" if self.kind not in ("", "own-error") else "identical"


def proper(tool: str, **arguments: object) -> Call:
    """A call as it is declared: it is served."""
    return Call(tool, "", arguments, arguments)


def failing(tool: str, **arguments: object) -> Call:
    """A call as it is declared that the server cannot carry out."""
    return Call(tool, "own-error", arguments, arguments)


def bent(kind: Kind, tool: str, sent: object, **arguments: object) -> Call:
    """A malformed call, and the arguments that it provably means."""
    return Call(tool, kind, sent, arguments)


def refused(kind: Kind, tool: str, sent: object) -> Call:
    """A malformed call that means nothing for certain."""
    return Call(tool, kind, sent, None)
