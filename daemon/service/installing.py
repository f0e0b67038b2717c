"""The service files on disk: written and removed only where they are ours, or with a backup."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias
from urllib.parse import unquote, urlparse

from fabricd.daemon.service.init_system import InitSystem, ServiceFile, this_system
from fabricd.daemon.service.unit_files import PLACES, Author, author, serves
from fabricd.store.addresses import absolute
from fabricd.store.atomic import write_atomic
from fabricd.store.durable import Damaged, Missing, read_bounded, shown

_MAX_BYTES = 256 * 1024
_WANTED_BY = ("default.target.wants", "sockets.target.wants")


Action: TypeAlias = Literal["replaces", "removes"]


class NotOurs(RuntimeError):
    """Raised where a service file is in the way: somebody wrote or changed it."""

    def __init__(self, path: Path, found: Author, action: Action) -> None:
        what = "was changed by hand" if found == "edited" else "was not written by fabricd"
        super().__init__(f"{shown(path)} {what}: --force {action} it and keeps a backup")


class NoProgram(RuntimeError):
    """Raised by `program`: there is no script that a service manager could run."""


class Unfit(RuntimeError):
    """Raised by `require_fit`: the service's files could not be read by the manager."""


class Installed(NamedTuple):
    """A service that is there and runs a daemon of this environment."""

    system: InitSystem
    paths: tuple[Path, ...]


def program() -> str:
    """The absolute path of the console script of this very interpreter.

    It becomes the service's main process, which alone may say that it is ready: no wrapper, and no
    script of another environment that happens to be on the path.

    Raises:
        NoProgram: see there.
    """
    for folder in (Path(sysconfig.get_path("scripts")), Path(sys.executable).parent):
        script = folder / "fabricd"
        if script.is_absolute() and os.access(script, os.X_OK) and script.is_file():
            return _fit(str(script))
    raise NoProgram(
        "there is no fabricd script beside this Python: install the package (pip install .) and "
        "run that fabricd"
    )


def _fit(script: str) -> str:
    if not script.isprintable() or set("\"'\\") & set(script):
        raise NoProgram(
            f"{shown(script)} has a quote, a backslash or a control character in its path, which "
            "systemd refuses: install the package elsewhere"
        )
    return script


def places(env: Mapping[str, str]) -> dict[str, str]:
    """The variables that a service needs to find what this environment finds."""
    return {name: _fixed(env[name], env) for name in PLACES if env.get(name)}


def _fixed(place: str, env: Mapping[str, str]) -> str:
    # Pi takes a file URL for its directory too.
    return absolute(unquote(urlparse(place).path) if place.startswith("file://") else place, env)


def require_fit(environment: Mapping[str, str], files: Iterable[ServiceFile]) -> None:
    """Check that files can be read by a service manager, which takes UTF-8 alone.

    Raises:
        Unfit: one names a path that has no such form.
    """
    for name, place in environment.items():
        if not _is_utf8(place):
            raise Unfit(
                f"{name} names {shown(place)}, which is not UTF-8 and which no service can be "
                "given: choose another path"
            )
    for file in files:
        if not _is_utf8(file.text):
            raise Unfit(
                f"{shown(file.path)} would name a path that is not UTF-8, which its reader refuses"
            )


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def read(path: Path) -> str | None:
    """The text of a service file, None where there is none. An unreadable one has no author."""
    match read_bounded(path, _MAX_BYTES):
        case Missing():
            return None
        case Damaged():
            return ""
        case bytes() as data:
            return data.decode("utf-8", "surrogateescape")


def installed(env: Mapping[str, str], system: InitSystem | None = None) -> Installed | None:
    """The service that runs the daemon of this environment, if one is installed."""
    system = system or this_system()
    if system is None:
        return None
    paths = system.paths(env)
    text = read(paths[0])
    if text is None or author(text) == "foreign" or not serves(text, places(env)):
        return None
    return Installed(system, (paths[0], *filter(Path.exists, paths[1:])))


def leftovers(paths: Iterable[Path], files: Iterable[ServiceFile]) -> list[Path]:
    """Of a service's possible files those that we wrote once and that are not wanted any more."""
    wanted = {file.path for file in files}
    texts = {path: read(path) for path in paths if path not in wanted}
    return [path for path, text in texts.items() if text is not None and author(text) != "foreign"]


def require_ours(paths: Iterable[Path], force: bool, action: Action = "replaces") -> None:
    """Check that files may be replaced or removed.

    Raises:
        NotOurs: one is edited or foreign, without `force`.
    """
    for path in paths:
        text = read(path)
        if text is not None and not force and (found := author(text)) != "ours":
            raise NotOurs(path, found, action)


def write(files: Iterable[ServiceFile]) -> list[Path]:
    """Write service files; gives the backups of those that were not ours.

    Raises:
        OSError: a file could not be written; those before it stand.
    """
    backups: list[Path] = []
    for file in files:
        text = read(file.path)
        if text == file.text:
            continue
        if text is not None and author(text) != "ours":
            backups.append(_back_up(file.path))
        write_atomic(file.path, file.text.encode("utf-8", "surrogateescape"))
        # Nothing in it is secret, and managers grumble about units that not everybody may read.
        file.path.chmod(0o644)
    return backups


def remove(paths: Iterable[Path]) -> list[Path]:
    """Remove service files, and the links that enabled them; gives the backups of others' files.

    Raises:
        OSError: a file could not be removed.
    """
    backups: list[Path] = []
    for path in paths:
        text = read(path)
        if text is not None and author(text) != "ours":
            backups.append(_back_up(path))
        path.unlink(missing_ok=True)
        for folder in _WANTED_BY:
            link = path.parent / folder / path.name
            if link.is_symlink() and not link.exists():
                link.unlink()
    return backups


def _back_up(path: Path) -> Path:
    number = 1
    while os.path.lexists(backup := path.with_name(f"{path.name}.backup-{number}")):
        number += 1
    shutil.copy2(path, backup, follow_symlinks=False)
    return backup
