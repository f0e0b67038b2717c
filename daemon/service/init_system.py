"""What is asked of systemd and launchd, one bounded command at a time."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from fabricd.daemon.service.unit_files import agent, socket_unit, unit
from fabricd.store.addresses import absolute, socket_path
from fabricd.systemd import AGENT, LABEL, SOCKET_UNIT, UNIT

Command = tuple[str, ...]


TOO_SLOW = 124
_NOT_FOUND = 127


class Answer(NamedTuple):
    """How a command ended; with code 124 it took too long, with 127 there is no such program."""

    code: int
    out: str
    err: str

    @property
    def words(self) -> str:
        """The first line of what it complained about."""
        return self.err.partition("\n")[0] or f"code {self.code}"


class Condition(NamedTuple):
    """How a service fares: `last_exit` in words, `exit_code` only where it exited with one.

    `restarts` counts those that nobody asked for, None where the manager does not tell.
    """

    enabled: bool
    active: str
    pid: int | None = None
    last_exit: str | None = None
    exit_code: int | None = None
    restarts: int | None = None


@dataclass(frozen=True)
class ServiceFile:
    """A file that a service manager reads."""

    path: Path
    text: str


@dataclass(frozen=True)
class Wanted:
    """What a service is to run, and for which places."""

    program: str
    environment: Mapping[str, str]
    with_socket: bool = False


class InitSystem(Protocol):
    """The two that are known."""

    name: str

    def paths(self, env: Mapping[str, str]) -> tuple[Path, ...]:
        """Where the service's files are, the main one first."""
        ...

    def files(self, env: Mapping[str, str], wanted: Wanted) -> tuple[ServiceFile, ...]:
        """The service's files as they should be, the main one first."""
        ...

    def answers(self) -> bool:
        """Whether it runs for this user."""
        ...

    def enable(self, found: Sequence[Path]) -> list[Command]:
        """Make it know the service, and start it at each login. Starts nothing now."""
        ...

    def disable(self, found: Sequence[Path]) -> list[Command]:
        """Stop the service and forget it; comes before its files are removed."""
        ...

    def start(self, found: Sequence[Path]) -> list[Command]:
        """Start the service; systemd's command ends once that is ready or has failed."""
        ...

    def stop(self, found: Sequence[Path]) -> list[Command]:
        """Stop the service, and whatever would start it again."""
        ...

    def condition(self) -> Condition:
        """How the service fares."""
        ...

    def last_words(self) -> str:
        """What the service said last, as far as that is known."""
        ...


def ask(command: Sequence[str], seconds: float = 10.0) -> Answer:
    """Run a command that must not need long."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            timeout=seconds,
            stdin=subprocess.DEVNULL,
            check=False,
            encoding="utf-8",
            errors="backslashreplace",
        )
    except subprocess.TimeoutExpired:
        return Answer(TOO_SLOW, "", f"{command[0]} did not answer within {seconds:g} s")
    except OSError as error:
        return Answer(_NOT_FOUND, "", f"{command[0]}: {error.strerror}")
    return Answer(done.returncode, done.stdout, done.stderr.strip())


def first_failure(commands: Sequence[Command], seconds: float = 10.0) -> Answer | None:
    """Run commands in order up to the first that fails. There may be nothing to reset."""
    for command in commands:
        answer = ask(command, seconds)
        if answer.code and "reset-failed" not in command:
            return answer
    return None


def this_system() -> InitSystem | None:
    """What starts services for users here."""
    if sys.platform == "darwin":
        return Launchd()
    return Systemd() if sys.platform == "linux" else None


def _systemctl(*words: str) -> Command:
    return ("systemctl", "--user", *words)


class Systemd:
    """A systemd user manager."""

    name = "systemd"

    def paths(self, env: Mapping[str, str]) -> tuple[Path, ...]:
        base = env.get("XDG_CONFIG_HOME", "")
        home = Path(base if os.path.isabs(base) else absolute("~/.config", env))
        return tuple(home / "systemd" / "user" / name for name in (UNIT, SOCKET_UNIT))

    def files(self, env: Mapping[str, str], wanted: Wanted) -> tuple[ServiceFile, ...]:
        service, listener = self.paths(env)
        text = unit(wanted.program, wanted.environment, wanted.with_socket)
        if not wanted.with_socket:
            return (ServiceFile(service, text),)
        listening = socket_unit(socket_path(env), env.get("XDG_RUNTIME_DIR", ""))
        return (ServiceFile(service, text), ServiceFile(listener, listening))

    def answers(self) -> bool:
        return ask(_systemctl("show", "--property=Version"), 5.0).code == 0

    def enable(self, found: Sequence[Path]) -> list[Command]:
        return [_systemctl("daemon-reload"), _systemctl("enable", *_names(found))]

    def disable(self, found: Sequence[Path]) -> list[Command]:
        return [_systemctl("disable", "--now", *reversed(_names(found)))]

    def start(self, found: Sequence[Path]) -> list[Command]:
        # Starts by hand count towards the limit too; whoever asks has seen that it failed.
        return [
            _systemctl("reset-failed", UNIT),
            *(_systemctl("start", name) for name in _names(found) if name == SOCKET_UNIT),
            _systemctl("start", UNIT),
        ]

    def stop(self, found: Sequence[Path]) -> list[Command]:
        return [_systemctl("stop", *reversed(_names(found)))]

    def condition(self) -> Condition:
        names = "UnitFileState,ActiveState,MainPID,ExecMainCode,ExecMainStatus,Result,NRestarts"
        answer = ask(_systemctl("show", UNIT, f"--property={names}"))
        told = dict(re.findall(r"^(\w+)=(.*)$", answer.out, re.MULTILINE))
        return Condition(
            told.get("UnitFileState") == "enabled",
            told.get("ActiveState") or "unknown",
            _number(told.get("MainPID")) or None,
            _last_exit(told),
            _number(told.get("ExecMainStatus")) if told.get("ExecMainCode") == "1" else None,
            _number(told.get("NRestarts")),
        )

    def last_words(self) -> str:
        lines = ask(("journalctl", "--user", "-u", UNIT, "-n", "20", "-o", "cat")).out.splitlines()
        ours = [line for line in lines if line.startswith("fabricd: ")]
        return ours[-1].removeprefix("fabricd: ") if ours else ""


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None


def _names(found: Sequence[Path]) -> list[str]:
    return [path.name for path in found]


def _last_exit(told: Mapping[str, str]) -> str | None:
    code, status = told.get("ExecMainCode"), told.get("ExecMainStatus")
    match code:
        case "1":
            words = f"exit code {status}"
        case "2" | "3":
            words = f"signal {status}"
        case _:
            return None
    result = told.get("Result", "success")
    return words if result in ("success", "exit-code", "signal") else f"{words} ({result})"


class Launchd:
    """The launchd of a logged-in user."""

    name = "launchd"

    @property
    def _domain(self) -> str:
        return f"gui/{os.getuid()}"

    @property
    def _target(self) -> str:
        return f"{self._domain}/{LABEL}"

    def paths(self, env: Mapping[str, str]) -> tuple[Path, ...]:
        return (Path(absolute("~/Library/LaunchAgents", env)) / AGENT,)

    def files(self, env: Mapping[str, str], wanted: Wanted) -> tuple[ServiceFile, ...]:
        errors = absolute("~/Library/Logs/fabricd.log", env)
        text = agent(wanted.program, wanted.environment, errors)
        return (ServiceFile(self.paths(env)[0], text),)

    def answers(self) -> bool:
        return ask(("launchctl", "print", self._domain), 5.0).code == 0

    def enable(self, found: Sequence[Path]) -> list[Command]:
        # Loading an agent that is to run starts it: that is left to `start`.
        return [("launchctl", "enable", self._target)]

    def disable(self, found: Sequence[Path]) -> list[Command]:
        return [("launchctl", "bootout", self._target)]

    def start(self, found: Sequence[Path]) -> list[Command]:
        if ask(("launchctl", "print", self._target)).code == 0:
            return [("launchctl", "kickstart", self._target)]
        return [("launchctl", "bootstrap", self._domain, str(found[0]))]

    def stop(self, found: Sequence[Path]) -> list[Command]:
        return [("launchctl", "bootout", self._target)]

    def condition(self) -> Condition:
        answer = ask(("launchctl", "print", self._target))
        told = dict(re.findall(r"^\s*([a-z ]+) = (.*)$", answer.out, re.MULTILINE))
        code = _number(told.get("last exit code", "").partition(":")[0])
        return Condition(
            answer.code == 0,
            "active" if told.get("state") == "running" else "inactive",
            _number(told.get("pid")),
            None if code is None else f"exit code {code}",
            code,
        )

    def last_words(self) -> str:
        return ""
