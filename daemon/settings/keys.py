"""What can be set, by every name it has: in the file, in the environment, on the command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_PREFIX = "FABRICD_"
# Read elsewhere; they say where things are and are no keys.
PLACES = ("FABRICD_CONFIG", "FABRICD_HOME", "FABRICD_SOCKET", "FABRICD_STATE_DIR")


@dataclass(frozen=True)
class Key:
    """One setting. Its default and its range are the model's (`daemon/config.py`)."""

    section: str
    name: str
    flag: str
    purpose: str
    metavar: str = ""
    choices: tuple[str, ...] = ()

    @property
    def dotted(self) -> str:
        """`section.name`"""
        return f"{self.section}.{self.name}"

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return f"FABRICD_{self.section}_{self.name}".upper()

    @property
    def is_switch(self) -> bool:
        """Whether it is true or false, and its flag a pair `--x/--no-x`."""
        return not self.metavar

    @property
    def words(self) -> str:
        """What it is for, with its choices where it has some."""
        if not self.choices:
            return self.purpose
        *most, last = self.choices
        return f"{self.purpose[:-1]}: {', '.join(most)} or {last}."


KEYS = (
    Key(
        "entropy",
        "compile",
        "--compile/--no-compile",
        "Compile artifacts; otherwise only measure.",
    ),
    Key(
        "watch",
        "rescan_seconds",
        "--rescan-seconds",
        "Seconds between two full looks at the session logs.",
        "SECONDS",
    ),
    Key(
        "watch",
        "force_polling",
        "--force-polling/--no-force-polling",
        "Look every 2 s instead of using file system events.",
    ),
    Key(
        "daemon",
        "grace_ms",
        "--grace-ms",
        "How long triggers are gathered before a compile, in ms.",
        "MS",
    ),
    Key(
        "log",
        "level",
        "--log-level",
        "The least important event that is logged.",
        "LEVEL",
        ("debug", "info", "warning", "error"),
    ),
    Key(
        "log",
        "file",
        "--log-file",
        "Log to this file; - is standard error, the default.",
        "FILE",
    ),
)
BY_NAME: Mapping[str, Key] = {key.dotted: key for key in KEYS}


def nearest(name: str, known: Iterable[str], least: float = 60) -> str | None:
    """The known name that is spelled most like this one, if any is."""
    from rapidfuzz import fuzz, process

    match = process.extractOne(name, list(known), scorer=fuzz.ratio, score_cutoff=least)
    return match[0] if match else None


def mistaken(env: Mapping[str, str]) -> tuple[str, ...]:
    """A sentence for each variable that looks like a key of ours and sets nothing."""
    known = {key.variable for key in KEYS} | set(PLACES)
    return tuple(
        f"the environment variable {name} sets nothing; did you mean {_PREFIX}{meant}?"
        for name in sorted(env)
        if name.startswith(_PREFIX)
        and name not in known
        and (meant := _meant(name.removeprefix(_PREFIX))) is not None
    )


def _meant(rest: str) -> str | None:
    """The key meant, compared without the prefix, which would make any two alike."""
    known = {key.variable.removeprefix(_PREFIX): key for key in KEYS}
    for full, key in known.items():
        if rest == key.name.upper():
            return full
    in_section = any(rest.startswith(f"{key.section.upper()}_") for key in KEYS)
    return nearest(rest, known, least=0 if in_section else 65)
