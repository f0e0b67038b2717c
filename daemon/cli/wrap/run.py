"""`fabricd wrap … -- COMMAND…` without click, whose import is most of what a server may wait."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from fabricd.daemon.cli.talk import Complaint, env, say
from fabricd.daemon.cli.wrap.names import name_of, plain
from fabricd.store.addresses import state_dir

if TYPE_CHECKING:
    from fabricd.ipc.gateway.asked import Asked

_REMOTE = ("--name", "--url", "--header")
_VARIABLE = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})\Z")
_HEADER = re.compile(r"[A-Za-z0-9-]{1,100}\Z")
_CHOICES = {
    "--mode": ("repair", "observe"),
    "--conventions": ("extended", "classic"),
    "--audits": ("projected", "full"),
}
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}\Z")
_SEE = " (see fabricd wrap --help)"


def is_wrapping(arguments: Sequence[str]) -> bool:
    """Whether a command line wraps a server: everything else of `wrap` is click's."""
    if arguments[:1] != ["wrap"] or arguments[1:2] in (["install"], ["uninstall"]):
        return False
    before = arguments[1 : arguments.index("--")] if "--" in arguments else arguments[1:]
    if "-h" in before or "--help" in before:
        return False
    return "--" in arguments or any(word.partition("=")[0] == "--url" for word in before)


def wrap(arguments: Sequence[str]) -> int:
    """Wrap a server. Around a command this comes back only where it is refused.

    Raises:
        Complaint: the command line is wrong, or the command cannot be started.
    """
    if "--" not in arguments:
        return _wrap_url(_options(arguments[1:], _REMOTE))
    from fabricd.ipc.gateway.child import NoSuchCommand
    from fabricd.ipc.gateway.run import run

    split = arguments.index("--")
    command = list(arguments[split + 1 :])
    if not command:
        raise Complaint(f"a command is missing after --{_SEE}")
    given = _options(arguments[1:split], ("--name",))
    try:
        run(_asked(given, command, name_of(command)), say)
    except NoSuchCommand as error:
        raise Complaint(str(error), error.code) from None
    return 0


def _wrap_url(given: Mapping[str, list[str]]) -> int:
    from fabricd.ipc.gateway.remote import BadUrl, address_of, run

    url = given["--url"][-1]
    try:
        address = address_of(url)
    except BadUrl as error:
        raise Complaint(f"{url} cannot be wrapped: {error}") from None
    host = address.hostname or ""
    headers = dict(map(_header, given.get("--header", ())))
    return run(_asked(given, [host], plain(host)), address, headers, say)


def _header(given: str) -> tuple[str, str]:
    name, _, value = given.partition("=")
    variable = _VARIABLE.match(value)
    if not _HEADER.match(name) or variable is None:
        # What stands in a command line everybody on the machine can read.
        raise Complaint(f"--header is NAME=$VARIABLE, the name of a variable as it stands{_SEE}")
    found = env().get(variable[1] or variable[2])
    if found is None:
        raise Complaint(f"--header {name}: there is no variable {variable[1] or variable[2]}")
    if not found.isascii() or not found.isprintable():
        raise Complaint(f"--header {name}: the variable holds what no header may hold")
    return name, found


def _asked(given: Mapping[str, list[str]], command: Sequence[str], name: str) -> Asked:
    from fabricd.ipc.gateway.asked import Asked

    name = given.get("--name", [name])[-1]
    if not _NAME.match(name):
        raise Complaint(f"--name {name!r}: letters, digits, dots, - and _, at most 64{_SEE}")
    return Asked(
        name,
        command,
        state_dir(env()),
        "observe" if given["--mode"][-1] == "observe" else "repair",
        "classic" if given["--conventions"][-1] == "classic" else "extended",
        "full" if given["--audits"][-1] == "full" else "projected",
    )


def _options(arguments: Sequence[str], more: Sequence[str]) -> dict[str, list[str]]:
    given = {option: [choices[0]] for option, choices in _CHOICES.items()}
    pending = list(arguments)
    while pending:
        option, has_value, value = pending.pop(0).partition("=")
        if option not in more and option not in _CHOICES:
            raise Complaint(
                f"{option} is no option of wrap, which a command follows after --{_SEE}"
            )
        if not has_value:
            if not pending:
                raise Complaint(f"{option} wants a value{_SEE}")
            value = pending.pop(0)
        if option in _CHOICES and value not in _CHOICES[option]:
            raise Complaint(f"{option} is {' or '.join(_CHOICES[option])}, not {value!r}{_SEE}")
        given.setdefault(option, []).append(value)
    return given
