"""The text of the service files, from the templates in `systemd/`. Touches nothing, asks nobody.

Each carries the digest of its own text, so that one that somebody edited is told from one of ours.
"""

from __future__ import annotations

import plistlib
import re
from collections.abc import Mapping
from hashlib import sha256
from importlib.resources import files
from typing import Literal, TypeAlias
from xml.sax.saxutils import escape

from fabricd.systemd import AGENT, SOCKET_UNIT, UNIT

# What says where things are. A service manager knows nothing of a shell, so these are written into
# the service; everything else belongs into the configuration file.
PLACES = (
    "FABRICD_CONFIG",
    "FABRICD_HOME",
    "FABRICD_SOCKET",
    "FABRICD_STATE_DIR",
    "PI_CODING_AGENT_DIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
)

# Ours as we wrote it, ours with changes, or somebody else's.
Author: TypeAlias = Literal["ours", "edited", "foreign"]

_HOLE = "@DIGEST@"
_DIGEST = re.compile(r"(?<=fabricd-digest: )[0-9a-f]{64}\b")


def unit(program: str, environment: Mapping[str, str], with_socket: bool) -> str:
    """The systemd user unit that runs `program`, an absolute path."""
    return _signed(
        _template(UNIT)
        .replace("@SOCKET@\n", f"Wants={SOCKET_UNIT}\nAfter={SOCKET_UNIT}\n" if with_socket else "")
        .replace("@PROGRAM@", _quoted(program))
        .replace("@ENVIRONMENT@\n", "".join(f"{line}\n" for line in _assignments(environment)))
    )


def socket_unit(socket: str, runtime: str) -> str:
    """The systemd socket unit at `socket`, an absolute path; `runtime` is `XDG_RUNTIME_DIR`."""
    inside = runtime and socket.startswith(runtime + "/")
    listen = "%t" + _specifiers(socket[len(runtime) :]) if inside else _specifiers(socket)
    return _signed(_template(SOCKET_UNIT).replace("@LISTEN@", listen))


def agent(program: str, environment: Mapping[str, str], errors: str) -> str:
    """The launchd agent. `errors` is where its standard error goes: the words before the log."""
    members = "".join(
        f"<key>{escape(name)}</key><string>{escape(value)}</string>"
        for name, value in environment.items()
    )
    return _signed(
        _template(AGENT)
        .replace("@PROGRAM@", escape(program))
        .replace("@ENVIRONMENT@", members)
        .replace("@ERRORS@", escape(errors))
    )


def author(text: str) -> Author:
    """Who wrote a service file."""
    found = _DIGEST.search(text)
    if found is None:
        return "foreign"
    return "ours" if _digest(_DIGEST.sub(_HOLE, text, count=1)) == found[0] else "edited"


def serves(text: str, environment: Mapping[str, str]) -> bool:
    """Whether a service file runs a daemon for the places of this environment."""
    if text.startswith("<?xml"):
        try:
            return bool(plistlib.loads(text.encode()).get("EnvironmentVariables") == environment)
        except Exception:
            # plistlib raises what its parser raises; whatever it is, the file is no agent of ours.
            return False
    said = [line for line in text.split("\n") if line.startswith('Environment="')]
    return said == _assignments(environment)


def _template(name: str) -> str:
    return (files("fabricd") / "systemd" / name).read_text(encoding="utf-8")


def _signed(text: str) -> str:
    return text.replace(_HOLE, _digest(text), 1)


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _assignments(environment: Mapping[str, str]) -> list[str]:
    return [f"Environment={_quoted(f'{name}={value}')}" for name, value in environment.items()]


def _quoted(text: str) -> str:
    """One word for systemd: quoted, so that neither space nor specifier has a meaning."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{_specifiers(escaped)}"'


def _specifiers(text: str) -> str:
    return text.replace("%", "%%")
