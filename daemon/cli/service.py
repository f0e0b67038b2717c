"""`fabricd service`."""

from __future__ import annotations

import getpass
import json
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabricd.daemon.cli.talk import FAILED, Complaint, env, out, say
from fabricd.store.durable import shown

if TYPE_CHECKING:
    from fabricd.daemon.service.init_system import Command, InitSystem, ServiceFile

NOT_RUNNING = 3
_LINGER = Path("/var/lib/systemd/linger")
_AUTHORS = {"edited": "changed by hand", "foreign": "not written by fabricd"}


@click.group("service")
def command() -> None:
    """Let systemd or launchd run the daemon from login on."""


@command.command("install")
@click.option("--dry-run", is_flag=True, help="Show the files and write nothing.")
@click.option("--socket", "with_socket", is_flag=True, help="Let systemd hold the socket too.")
@click.option("--force", is_flag=True, help="Replace files of others; a backup is kept.")
@click.option("--json", "as_json", is_flag=True, help="Print what happened as JSON.")
def install(dry_run: bool, with_socket: bool, force: bool, as_json: bool) -> int:
    """Show the service's files, write them, and start the service.

    A daemon that runs by itself is stopped, so that the service can take over. Where no service
    manager answers, the files are written and the commands to give later are shown. Exits 1 where
    a file of somebody else is in the way.
    """
    from fabricd.daemon.service import installing
    from fabricd.daemon.service.init_system import Wanted

    system = _system()
    if with_socket and system.name != "systemd":
        raise Complaint(f"{system.name} passes no socket: leave --socket out")
    try:
        places = installing.places(env())
        files = system.files(env(), Wanted(installing.program(), places, with_socket))
        installing.require_fit(places, files)
    except (installing.NoProgram, installing.Unfit) as error:
        raise Complaint(str(error), FAILED) from None
    if not as_json:
        out("".join(f"# {shown(file.path)}\n{file.text}\n" for file in files))
    left = installing.leftovers(system.paths(env()), files)
    if dry_run:
        for path in left:
            say(f"would remove {shown(path)}, which is not wanted any more")
        return _told(as_json, "would_install", files, removed=[*map(shown, left)])
    try:
        installing.require_ours((file.path for file in files), force)
        installing.require_ours(left, force, "removes")
        were = [installing.read(file.path) for file in files]
        backups = installing.write(files) + _take_away(system, left)
    except installing.NotOurs as error:
        raise Complaint(str(error), FAILED) from None
    except OSError as error:
        raise Complaint(f"{shown(error.filename or '')}: {error.strerror}", FAILED) from None
    for backup in backups:
        say(f"what was there is kept as {shown(backup)}")
    same = were == [file.text for file in files] and not left
    return _enable(system, files, left, as_json, "already_installed" if same else "installed")


def _take_away(system: InitSystem, left: list[Path]) -> list[Path]:
    """Remove files that are not wanted any more; gives the backups."""
    from fabricd.daemon.service import installing
    from fabricd.daemon.service.init_system import ask

    if left and system.answers():
        for words in system.disable(left):
            ask(words, 30.0)
    backups = installing.remove(left)
    for path in left:
        say(f"{shown(path)} is removed: it is not wanted any more")
    return backups


def _enable(
    system: InitSystem,
    files: tuple[ServiceFile, ...],
    left: list[Path],
    as_json: bool,
    state: str,
) -> int:
    from fabricd.daemon.service.init_system import first_failure

    paths = [file.path for file in files]
    removed = [*map(shown, left)]
    commands = system.enable(paths)
    if not system.answers():
        later = [*commands, *system.start(paths)]
        if not as_json:
            say(f"no {system.name} answers here; where it does: {_line(later)}")
        told = [list(words) for words in later]
        return _told(as_json, state, files, commands=told, removed=removed)
    if (answer := first_failure(commands)) is not None:
        raise Complaint(f"{system.name} refused: {answer.words}", FAILED)
    return _told(as_json, state, files, removed=removed, **_hand_over(system, bool(left)))


def _hand_over(system: InitSystem, anew: bool) -> dict[str, Any]:
    """Stop a daemon that the manager did not start, and have it start one.

    With `anew` also one that it did start: its socket has just been taken from it.
    """
    from fabricd import __version__
    from fabricd.daemon.cli.start import log_path, value_of
    from fabricd.daemon.exits import CannotStart
    from fabricd.daemon.service.lifecycle import restart, start
    from fabricd.daemon.service.stopping import CannotStop
    from fabricd.store.homes import find
    from fabricd.store.locks import holder

    held = holder(find(env()).lock)
    try:
        is_served = held is not None and held.pid == system.condition().pid
        if held is None or (is_served and not anew):
            started = start(env(), __version__, log_path)
        else:
            if not is_served:
                say("the daemon that runs by itself is replaced by the service")
            _, started = restart(env(), __version__, log_path)
    except (CannotStart, CannotStop) as error:
        raise Complaint(f"installed, but not running: {error}", FAILED) from None
    say(f"the service runs (pid {started.pid})")
    return {"started": value_of(started)}


@command.command("uninstall")
@click.option("--dry-run", is_flag=True, help="Say what would be removed.")
@click.option("--force", is_flag=True, help="Remove files that were changed; a backup is kept.")
@click.option("--json", "as_json", is_flag=True, help="Print what happened as JSON.")
def uninstall(dry_run: bool, force: bool, as_json: bool) -> int:
    """Stop the service, and remove its files where they are ours.

    Exits 0 also where none is installed; 1 where a file was changed or is somebody else's.
    """
    from fabricd.daemon.service import installing
    from fabricd.daemon.service.init_system import ask

    system = _system()
    paths = [path for path in system.paths(env()) if os.path.lexists(path)]
    if not paths:
        if not as_json:
            say("no service is installed")
        return _told(as_json, "already_uninstalled", ())
    try:
        installing.require_ours(paths, force, "removes")
        if not dry_run:
            if system.answers():
                for words in system.disable(paths):
                    ask(words, 30.0)
            for backup in installing.remove(paths):
                say(f"what was there is kept as {shown(backup)}")
            if system.name == "systemd" and system.answers():
                ask(("systemctl", "--user", "daemon-reload"))
    except installing.NotOurs as error:
        raise Complaint(str(error), FAILED) from None
    except OSError as error:
        raise Complaint(f"{shown(error.filename or '')}: {error.strerror}", FAILED) from None
    names = [shown(path) for path in paths]
    if not as_json:
        what = "would remove" if dry_run else "removed"
        out("".join(f"{what} {name}\n" for name in names))
    return _told(as_json, "would_uninstall" if dry_run else "uninstalled", (), removed=names)


@command.command("status", short_help="Show how the service is.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def status(as_json: bool) -> int:
    """Show whether the service is installed, enabled and running, and how it ended last.

    Exits 0 where it runs, else 3.
    """
    from fabricd.daemon.service import installing
    from fabricd.daemon.service.unit_files import author, serves

    system = _system()
    path, *others = system.paths(env())
    text = installing.read(path)
    sockets = [(other, said) for other in others if (said := installing.read(other)) is not None]
    value: dict[str, Any] = {
        "state": "not_installed" if text is None else "installed",
        "manager": system.name,
        "path": shown(path),
        "author": None if text is None else author(text),
        "socket": next(
            ({"path": shown(other), "author": author(said)} for other, said in sockets), None
        ),
        "here": text is not None and serves(text, installing.places(env())),
        "answers": system.answers(),
        "linger": _lingers(system.name),
    }
    if value["answers"] and text is not None:
        condition = system.condition()
        value |= {
            "enabled": condition.enabled,
            "active": condition.active,
            "pid": condition.pid,
            "lastExit": condition.last_exit,
            "restarts": condition.restarts,
        }
    out(json.dumps(value) + "\n" if as_json else _words(value))
    return 0 if value.get("active") == "active" else NOT_RUNNING


def _words(value: dict[str, Any]) -> str:
    if value["state"] == "not_installed":
        missing = f"not installed: there is no {value['path']}; see: fabricd service install\n"
        return missing + _socket_line(value)
    notes = [_AUTHORS[value["author"]]] if value["author"] in _AUTHORS else []
    if not value["here"]:
        notes.append("for other places than this shell's")
    lines = [f"installed {value['path']}" + (f" ({', '.join(notes)})" if notes else "")]
    lines += _socket_line(value).splitlines()
    if value["answers"]:
        lines.append(f"enabled   {'yes' if value['enabled'] else 'no'}")
        pid = f", pid {value['pid']}" if value["pid"] else ""
        lines.append(f"running   {value['active']}{pid}")
        again = f"; restarted {value['restarts']} times" if value["restarts"] else ""
        lines.append(f"last exit {value['lastExit'] or 'none'}{again}")
    else:
        lines.append(f"running   no {value['manager']} answers here")
    if value["linger"] is False:
        cure = f"loginctl enable-linger {getpass.getuser()}"
        lines.append(f"lingers   no: it ends with your last session ({cure})")
    return "\n".join(lines) + "\n"


def _socket_line(value: dict[str, Any]) -> str:
    socket = value["socket"]
    if socket is None:
        return ""
    note = f" ({_AUTHORS[socket['author']]})" if socket["author"] in _AUTHORS else ""
    return f"socket    {socket['path']}{note}\n"


def _lingers(manager: str) -> bool | None:
    """Whether the user's manager outlives the last session; None where there is no such thing."""
    if manager != "systemd":
        return None
    try:
        return (_LINGER / getpass.getuser()).exists()
    except (OSError, KeyError):
        return None


def _system() -> InitSystem:
    from fabricd.daemon.service.init_system import this_system

    system = this_system()
    if system is None:
        raise Complaint("neither systemd nor launchd is known here; see: fabricd start", FAILED)
    return system


def _line(commands: list[Command]) -> str:
    return " && ".join(shlex.join(words) for words in commands)


def _told(as_json: bool, state: str, files: tuple[ServiceFile, ...], **more: Any) -> int:
    if as_json:
        told = [{"path": shown(file.path), "text": file.text} for file in files]
        out(json.dumps({"state": state, "files": told, **more}) + "\n")
    return 0
