"""What planning an edit can give, and who plans."""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias

from msgspec import Struct


class Change(Struct, frozen=True):
    """The file is to hold another text; None: it is to go."""

    text: str | None
    what: Literal["installed", "updated", "uninstalled"]


class Same(Struct, frozen=True):
    """Nothing is to be done."""

    what: Literal["already_installed", "already_uninstalled"]


class Refused(Struct, frozen=True):
    """The file cannot be edited; `reason` follows its name."""

    reason: str


Edit: TypeAlias = Change | Same | Refused


class Unfit(ValueError):
    """Raised where a file is read alone: it is not what its agent reads. The message says why."""


class Form(Protocol):
    """How the hook stands in a file. Pure; a text is None where there is no file."""

    def install(self, text: str | None, words: tuple[str, ...]) -> Edit:
        """The file with our hook, which runs these words."""
        ...

    def uninstall(self, text: str | None) -> Edit:
        """The file without our hook."""
        ...

    def commands(self, text: str | None) -> tuple[tuple[str, ...], ...]:
        """The words of each hook of ours in the file.

        Raises:
            Unfit: nobody can tell.
        """
        ...
