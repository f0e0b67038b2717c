"""`fabricd lint`: what makes the tools of a server hard to call."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabricd.core.plain import printable
from fabricd.daemon.cli.talk import FAILED, USAGE, Complaint, out

if TYPE_CHECKING:
    from fabricd.daemon.cli.lint.words import Linted

_MAX_BYTES = 16 * 1024 * 1024


class _Command(click.Command):
    """Tells what stands behind `--` from what stands before it, which click does not."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            at = args.index("--")
            ctx.obj = tuple(args[at + 1 :])
            args = args[:at]
        return super().parse_args(ctx, args)


@click.command("lint", cls=_Command, options_metavar="[OPTIONS]")
@click.argument(
    "surfaces", metavar="SURFACE... | -- COMMAND...", nargs=-1, type=click.Path(allow_dash=True)
)
@click.option(
    "--timeout",
    default=30.0,
    type=click.FloatRange(0.1, 3600),
    show_default=True,
    metavar="SECONDS",
    help="How long a server that is started may take.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.option("--sarif", "as_sarif", is_flag=True, help="Print the findings as SARIF 2.1.0.")
@click.pass_context
def command(
    ctx: click.Context, surfaces: tuple[str, ...], timeout: float, as_json: bool, as_sarif: bool
) -> int:
    """Tell what makes tools hard to call: each place, why it matters, and the fix.

    SURFACE is a Fabric surface, a tools/list result, or a list of tools; - is standard input.
    COMMAND is an MCP server, which is started, asked for its tools, and ended.

    Exits 1 on errors and warnings, 0 on notes alone, 2 where something cannot be read.
    """
    words: tuple[str, ...] | None = ctx.obj
    if as_json and as_sarif:
        raise Complaint("--json and --sarif are two forms of one output: choose one")
    if bool(surfaces) == (words is not None):
        raise Complaint("expected files, or -- and the command of a server")
    if words is None:
        linted = [_file(name) for name in surfaces]
    else:
        linted = [_server(words, timeout)]
    _tell(linted, as_json, as_sarif)
    return FAILED if any(each.fails for each in linted) else 0


def _file(name: str) -> Linted:
    from fabricd.core.documents import BadDocument
    from fabricd.core.history.declared import declared
    from fabricd.core.lint.linting import lint_steps
    from fabricd.core.steps import finish
    from fabricd.daemon.cli.inputs import bytes_at
    from fabricd.daemon.cli.lint.words import Linted

    data = bytes_at(name, _MAX_BYTES)
    try:
        tools = declared(data)
    except BadDocument as error:
        raise Complaint(f"{printable(name)} is no listing of tools: {error}") from None
    findings = tuple(finish(lint_steps(tools)))
    path = None if name == "-" else Path(name)
    return Linted(name, path, len(tools), findings, data)


def _server(words: tuple[str, ...], timeout: float) -> Linted:
    from fabricd.core.lint.linting import lint_steps
    from fabricd.core.steps import finish
    from fabricd.daemon.cli.capturing import tools_of
    from fabricd.daemon.cli.lint.words import Linted

    if not words:
        raise Complaint("there is no command behind --")
    tools = tools_of(words, timeout, failed=USAGE)
    return Linted(shlex.join(words), None, len(tools), tuple(finish(lint_steps(tools))))


def _tell(linted: list[Linted], as_json: bool, as_sarif: bool) -> None:
    from fabricd.core.canonical import as_given, text
    from fabricd.daemon.cli.lint.sarif import sarif
    from fabricd.daemon.cli.lint.words import json_value, words_of

    if as_sarif:
        out(text(sarif(linted), as_given) + "\n")
    elif as_json:
        out(text(json_value(linted), as_given) + "\n")
    else:
        out(words_of(linted))
