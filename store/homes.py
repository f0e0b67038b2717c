"""The homes: where durable files, session logs and configuration live."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlparse

from fabricd.store.addresses import absolute, state_dir
from fabricd.store.atomic import private_directory
from fabricd.store.durable import shown


class BadHome(ValueError):
    """Raised by `require_private`: a directory that cannot serve. The message says what to do."""


@dataclass(frozen=True)
class Homes:
    """Every place the daemon uses. `agent` is Pi's directory, whether it exists or not."""

    home: Path
    state: Path
    agent: Path
    is_pi_home: bool

    @property
    def entropy(self) -> Path:
        """The folder of the durable files."""
        return self.home / "entropy"

    @property
    def compiled(self) -> Path:
        """The compiled artifact."""
        return self.entropy / "compiled.json"

    @property
    def normal_forms(self) -> Path:
        """The extended plans of the declared surface."""
        return self.entropy / "normal-forms.json"

    @property
    def artifact(self) -> Path:
        """Where a copy of the compiled artifact goes, to be shared."""
        return self.entropy / "artifact.json"

    @property
    def surface(self) -> Path:
        """The declared surface."""
        return self.entropy / "surface.json"

    @property
    def compiled_lock(self) -> Path:
        """Held by whoever writes the compiled artifact."""
        return self.entropy / "compiled.lock"

    @property
    def pool(self) -> Path:
        """The observation pool."""
        return self.entropy / "observation-pool.json"

    @property
    def pool_lock(self) -> Path:
        """Held by whoever writes the pool."""
        return self.entropy / "observation-pool.lock"

    @property
    def pool_ledger(self) -> Path:
        """The private books that the pool is exported from."""
        return self.state / "pool-ledger.msgpack"

    @property
    def repairs(self) -> Path:
        """The catalog repairs, which a running Pi writes too."""
        return self.home / "repairs" / "current.json"

    @property
    def repairs_lock(self) -> Path:
        """Held by whoever writes the catalog repairs."""
        return self.home / "repairs" / "current.lock"

    @property
    def repairs_learned(self) -> Path:
        """Which of the catalog repairs are ours."""
        return self.home / "repairs" / "learned.json"

    @property
    def sessions(self) -> Path:
        """Pi's session logs."""
        return self.agent / "sessions"

    @property
    def checkpoints(self) -> Path:
        """The cursors of the sessions read last."""
        return self.state / "checkpoints.msgpack"

    @property
    def history(self) -> Path:
        """What is kept of the logs of all agents."""
        return self.state / "history.msgpack"

    @property
    def history_lock(self) -> Path:
        """Held by whoever reads the logs of all agents and keeps what they say."""
        return self.state / "history.lock"

    @property
    def value_cursors(self) -> Path:
        """How far the gateway's logs are entered into the receipts."""
        return self.state / "value-cursors.json"

    @property
    def surfaces(self) -> Path:
        """The folder of the declared tools that recorded calls are judged by."""
        return self.home / "surfaces"

    @property
    def lock(self) -> Path:
        """Held for life by the one daemon of this home."""
        return self.home / "fabricd.lock"

    @property
    def start_lock(self) -> Path:
        """Held by whoever starts a daemon of this home, until that is ready."""
        return self.home / "fabricd.start.lock"

    @property
    def log(self) -> Path:
        """The log of a daemon that nobody looks at, unless the configuration names another."""
        return self.state / "fabricd.log"


def agent_dir(env: Mapping[str, str]) -> Path:
    """Pi's agent directory: `PI_CODING_AGENT_DIR` (a path or a file URL), else `~/.pi/agent`."""
    given = env.get("PI_CODING_AGENT_DIR", "")
    if given.startswith("file://"):
        given = unquote(urlparse(given).path)
    return Path(absolute(given or "~/.pi/agent", env))


def find(env: Mapping[str, str]) -> Homes:
    """The homes of this environment. Touches nothing."""
    agent = agent_dir(env)
    state = Path(state_dir(env))
    if given := env.get("FABRICD_HOME"):
        return Homes(Path(absolute(given, env)), state, agent, is_pi_home=False)
    if _is_directory(agent):
        return Homes(agent / "fabric", state, agent, is_pi_home=True)
    # Imported where it is needed: clients that only talk to the socket never get here.
    from platformdirs import user_data_path

    return Homes(user_data_path("fabricd", appauthor=False), state, agent, is_pi_home=False)


def _is_directory(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        # A mount that died: what uses it says so.
        return True


def require_private(path: Path, what: str) -> None:
    """Make a private directory, or check that an existing one is a directory and ours.

    Its files are 0600 whatever its mode; only the socket's directory has to be closed as well.

    Raises:
        BadHome: it is no directory, or not ours.
        OSError: it cannot be made.
    """
    try:
        found = os.stat(path)
    except FileNotFoundError:
        if (link := _dangling(path)) is not None:
            raise BadHome(
                f"{what} {shown(path)}: {shown(link)} is a link that leads nowhere: remove it, or "
                "make what it leads to"
            ) from None
        private_directory(path)
        found = os.stat(path)
    except NotADirectoryError:
        raise BadHome(f"{what} {shown(path)} lies below a file, not a directory") from None
    if not stat.S_ISDIR(found.st_mode):
        raise BadHome(f"{what} {shown(path)} is not a directory: move it away or choose another")
    if found.st_uid != os.getuid():
        raise BadHome(f"{what} {shown(path)} belongs to uid {found.st_uid}, not to you")


def _dangling(path: Path) -> Path | None:
    """The link on the way to a path that leads nowhere, if there is one."""
    for part in (path, *path.parents):
        if part.is_symlink() and not part.exists():
            return part
    return None


def is_same_home(told: object, home: Path) -> bool:
    """Whether a daemon that says that it serves `told` serves `home`, by whatever spelling."""
    if not isinstance(told, str):
        return False
    try:
        # A home that was removed is still called the same.
        return told == shown(home) or os.path.samefile(told, home)
    except (OSError, ValueError):
        return False


def is_own_folder(path: Path) -> bool:
    """Whether a folder is called as those that fabricd makes for its socket: no one else's."""
    return path.name in ("run", "fabricd") and path.parent != path.parent.parent


def require_closed(path: Path, what: str) -> None:
    """As `require_private`, and nobody else may enter: the socket's directory.

    Raises:
        BadHome: see `require_private`; or its mode is not 0700.
    """
    require_private(path, what)
    mode = stat.S_IMODE(os.stat(path).st_mode)
    if mode & 0o077:
        raise BadHome(
            f"{what} {shown(path)} has mode {mode:04o}, expected 0700: "
            + ("chmod 700 it" if is_own_folder(path) else "name a path in a folder of its own")
        )
