"""The service manager: whether it keeps a daemon, and whether that outlives the login."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping

from msgspec import Struct

from fabricd.daemon.doctor.checks import Check, doubtful, fine, unknown, wrong
from fabricd.daemon.doctor.subject import Subject
from fabricd.systemd import LABEL, UNIT

_SECONDS = 2.0
_PROPERTIES = "LoadState,ActiveState,UnitFileState,Result,ExecMainStatus,NRestarts"
_CONFIG = "78"


def look(_: Subject) -> Iterator[Check]:
    """What the manager of this system knows of us."""
    if sys.platform == "darwin":
        yield judge_launchd(said("launchctl", "print", f"gui/{os.getuid()}/{LABEL}"))
        return
    unit = said("systemctl", "--user", "show", UNIT, "-p", _PROPERTIES)
    yield judge_unit(unit)
    yield judge_linger(unit, said("loginctl", "show-user", str(os.getuid()), "-p", "Linger"))


class Silent(Struct, frozen=True):
    """A program of the manager said nothing of use."""

    why: str


def said(*words: str) -> str | Silent:
    """What a program prints within 2 s."""
    program = shutil.which(words[0])
    if program is None:
        return Silent(f"there is no {words[0]} here")
    try:
        done = subprocess.run(
            [program, *words[1:]],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Silent(f"{words[0]} did not answer within {_SECONDS:g} s")
    except OSError as error:
        return Silent(f"{words[0]} cannot be run: {error.strerror}")
    if done.returncode:
        last = done.stderr.decode("utf-8", "backslashreplace").strip().splitlines()
        return Silent(f"{words[0]} says: {last[-1][:200] if last else 'nothing'}")
    return done.stdout.decode("utf-8", "backslashreplace")


def properties(printed: str) -> Mapping[str, str]:
    """`Name=value` lines."""
    pairs = (line.partition("=") for line in printed.splitlines())
    return {name: value for name, _, value in pairs}


def judge_unit(unit: str | Silent) -> Check:
    """The state of the systemd unit."""
    if isinstance(unit, Silent):
        return fine("service", f"no service manager to ask: {unit.why}")
    found = properties(unit)
    if found.get("LoadState") != "loaded":
        return fine("service", "none is installed (fabricd service install)")
    state, result = found.get("ActiveState", "?"), found.get("Result", "?")
    if state == "failed" and found.get("ExecMainStatus") == _CONFIG:
        return wrong("service", "it stopped at a configuration error", "fabricd config check")
    if state == "failed":
        text = f"it failed ({result}, exit code {found.get('ExecMainStatus')})"
        again = f"systemctl --user reset-failed {UNIT} && systemctl --user start {UNIT}"
        return wrong("service", text, again)
    restarts = found.get("NRestarts", "0")
    if restarts not in ("", "0") and result != "success":
        text = f"it is {state} after {restarts} restarts ({result})"
        return doubtful("service", text, f"journalctl --user -u {UNIT}")
    return fine("service", f"it is {state}, {found.get('UnitFileState')}")


def judge_linger(unit: str | Silent, user: str | Silent) -> Check:
    """Whether the user's services go on without a login. That they do not is the default."""
    if isinstance(user, Silent):
        return fine("linger", f"it cannot be told: {user.why}")
    lingers = properties(user).get("Linger") == "yes"
    is_installed = not isinstance(unit, Silent) and properties(unit).get("LoadState") == "loaded"
    if lingers:
        return fine("linger", "services go on after the last logout")
    if is_installed:
        return fine("linger", "the service ends with the last login (loginctl enable-linger)")
    return fine("linger", "off, and there is no service that it would matter to")


def judge_launchd(printed: str | Silent) -> Check:
    """The state of the launchd agent."""
    if isinstance(printed, Silent):
        return fine("service", "none is loaded (fabricd service install)")
    for line in printed.splitlines():
        name, _, value = line.strip().partition(" = ")
        if name == "state":
            return fine("service", f"it is {value}")
    return unknown("service", "launchctl tells no state")
