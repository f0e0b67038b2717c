"""What a shell completes where a path is expected; paths themselves are the shell's business."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from click import Context, Parameter
    from click.shell_completion import CompletionItem


def files(_: Context, __: Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of files and directories."""
    return _by_shell("file", incomplete)


def directories(_: Context, __: Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of directories."""
    return _by_shell("dir", incomplete)


def _by_shell(kind: str, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type=kind)]
