"""The declared surface, as Pi's export command writes it: `{"version": 1, "actions": […]}`."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, Struct

from fabricd.core.canonical import digest_members, string_text
from fabricd.core.documents import BadDocument, strict_json
from fabricd.core.model import Action, Surface
from fabricd.core.nesting import SCHEMA_LEVELS, TooDeep, depth_steps
from fabricd.core.plain import is_list, is_number, is_object
from fabricd.core.steps import ACTIONS, Steps

# Two levels of envelope stand above the first schema.
_LEVELS = SCHEMA_LEVELS + 3


class _Envelope(Struct, frozen=True):
    version: Raw
    actions: list[Raw]


_ENVELOPE = msgspec.json.Decoder(_Envelope)


def surface_steps(data: bytes) -> Steps[Surface]:
    """Read a surface, yielding while it is hashed. Elements without a string ref are dropped.

    Raises:
        BadDocument: the text is no surface of version 1.
    """
    if (yield from depth_steps(data, _LEVELS)):
        raise BadDocument(str(TooDeep(_LEVELS)))
    try:
        envelope = _ENVELOPE.decode(data)
    except msgspec.MsgspecError:
        envelope = None
    listed: list[Any] = []
    if envelope is None:
        listed = _actions_of(strict_json(data, _LEVELS))
    else:
        # Action by action: a surface of megabytes must not hold the loop up as one document.
        _require_version(strict_json(bytes(envelope.version)))
        for raw in envelope.actions:
            listed.append(strict_json(bytes(raw), _LEVELS))
            if len(listed) % ACTIONS == 0:
                yield
    kept = [item for item in listed if is_object(item) and isinstance(item.get("ref"), str)]
    digest = yield from digest_members([("actions", kept), ("version", 1)], ACTIONS)
    return Surface(tuple(Action(item["ref"], item.get("inputSchema")) for item in kept), digest)


def _actions_of(value: object) -> list[Any]:
    if not is_object(value):
        raise BadDocument(f"expected an object, found {_kind(value)}")
    _require_version(value.get("version"))
    listed = value.get("actions")
    if not is_list(listed):
        raise BadDocument(f"expected an actions list, found {_kind(listed)}")
    return listed


def _require_version(version: object) -> None:
    if not is_number(version, 1):
        raise BadDocument(f"expected version 1, found {_shown(version)}")


def _kind(value: object) -> str:
    if value is None:
        return "nothing"
    words: dict[type, str] = {dict: "an object", list: "a list", str: "a text", bool: "a boolean"}
    return words.get(type(value), "a number")


def _shown(value: object) -> str:
    return "none" if value is None else string_text(str(value)[:40])
