"""The options that set what the configuration file sets, and what is said about both."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from fabricd.daemon.cli.talk import Complaint, env, say
from fabricd.daemon.settings.keys import KEYS, Key, mistaken

if TYPE_CHECKING:
    from pathlib import Path

    from click.shell_completion import CompletionItem

    from fabricd.daemon.config import Config, InForce

BAD_CONFIG = 78
Flags = dict[str, str | bool | None]
_Function = TypeVar("_Function", bound=Callable[..., Any])


def setting_options(function: _Function) -> _Function:
    """Give a command an option for each key; it gets them by the key's name."""
    for key in reversed(KEYS):
        function = _option(key)(function)
    return function


def _option(key: Key) -> Callable[[_Function], _Function]:
    if key.is_switch:
        return click.option(key.flag, _argument(key), default=None, help=key.words)

    def complete(_: object, __: object, incomplete: str) -> list[CompletionItem]:
        return _completions(key, incomplete)

    # Any text is taken: a wrong value is a matter of the configuration, judged with the rest.
    return click.option(
        key.flag, _argument(key), metavar=key.metavar, help=key.words, shell_complete=complete
    )


def _completions(key: Key, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    if key.metavar == "FILE":
        return [CompletionItem(incomplete, type="file")]
    return [CompletionItem(choice) for choice in key.choices if choice.startswith(incomplete)]


def _argument(key: Key) -> str:
    return f"{key.section}_{key.name}"


def flags_of(options: dict[str, Any]) -> Flags:
    """The options that `setting_options` gave, by dotted key."""
    return {key.dotted: options[_argument(key)] for key in KEYS}


def settled(flags: Flags) -> InForce:
    """The configuration in force. Variables that look like a key and are none are spoken of.

    Raises:
        Complaint: the file, the environment or an option cannot be used.
    """
    from fabricd.daemon.config import BadConfig, in_force

    for sentence in mistaken(env()):
        say(sentence)
    try:
        return in_force(env(), flags)
    except BadConfig as error:
        raise Complaint(str(error), BAD_CONFIG) from None


def configured_log(config: Config) -> Path | None:
    """The log file of a configuration; None for standard error.

    Raises:
        Complaint: it cannot be one.
    """
    from fabricd.daemon.config import BadConfig, log_file

    try:
        return log_file(config, env())
    except BadConfig as error:
        raise Complaint(str(error), BAD_CONFIG) from None
