"""The configuration in force as TOML that could be saved, and as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fabricd.core.plain import printable
from fabricd.daemon.settings.keys import KEYS, Key
from fabricd.daemon.settings.layers import Default, InEnvironment, InFile, InFlag, Origin

if TYPE_CHECKING:
    from fabricd.daemon.config import InForce


def toml(found: InForce, with_origins: bool) -> str:
    """Each key with what it is for; with its origin behind it where that is asked for."""
    values = found.config.model_dump()
    lines: list[str] = []
    for key in KEYS:
        header = f"[{key.section}]"
        if header not in lines:
            lines += ["", header] if lines else [header]
        origin = f"  # {found.origin((key.section, key.name))}" if with_origins else ""
        lines += [f"# {key.purpose}", _assignment(key, values) + origin]
    return "\n".join(lines) + "\n"


def _assignment(key: Key, values: dict[str, Any]) -> str:
    value = values[key.section][key.name]
    if value is None:
        return f"# {key.name} is not set"
    if isinstance(value, str) and _has_surrogates(value):
        # A path need not be text. It is obeyed, but TOML has no way to say it.
        return f"# {key.name} is {printable(value)}, which TOML cannot say"
    return f"{key.name} = {_toml(value)}"


def _has_surrogates(text: str) -> bool:
    return any("\ud800" <= char <= "\udfff" for char in text)


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # TOML knows no surrogate pairs and wants DEL escaped, unlike JSON.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def as_json(found: InForce, with_origins: bool) -> str:
    """The same for programs."""
    value: dict[str, Any] = found.config.model_dump()
    if with_origins:
        value["origins"] = {
            key.dotted: _origin(found.origin((key.section, key.name))) for key in KEYS
        }
    return json.dumps(value) + "\n"


def _origin(origin: Origin) -> dict[str, Any]:
    match origin:
        case Default():
            return {"from": "default"}
        case InFile(path=path, line=line):
            return {"from": "file", "path": path, "line": line}
        case InEnvironment(name=name):
            return {"from": "environment", "name": name}
        case InFlag(name=name):
            return {"from": "flag", "name": name}
