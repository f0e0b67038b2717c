"""The root command: lazy sub-commands, exit codes, and no traceback for bad input."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import click

from fabricd.daemon.cli.talk import ended, out, say

_COMMANDS = {
    "run": "run",
    "status": "status",
    "report": "report",
    "measure": "measure",
    "derive": "derive",
    "apply": "apply",
    "compile": "compile",
    "digest": "digest",
    "config": "config",
}
_HELP = {
    "run": "Run the daemon in the foreground.",
    "status": "Ask the running daemon how it is.",
    "report": "Show what the window's sessions say.",
    "measure": "Measure a directory of session logs.",
    "derive": "Derive normal-form plans from a declared surface.",
    "apply": "Apply plans to calls given as JSON lines.",
    "compile": "Print the artifact that would be saved.",
    "digest": "Print the canonical SHA-256 of a JSON document.",
    "config": "Show the configuration.",
}


class _Lazy(click.Group):
    """Imports a command's module when the command is used; its help line is known without."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module = _COMMANDS.get(cmd_name)
        if module is None:
            return None
        found = importlib.import_module(f"fabricd.daemon.cli.{module}")
        command: click.Command = found.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, _HELP[name]) for name in _COMMANDS])


def _print_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from fabricd import __version__

        out(f"fabricd {__version__}\n")
        ctx.exit()


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Print the version and exit.",
)
def cli() -> None:
    """fabricd measures how often agents' tool calls are refused and compiles provably safe repairs.

    Exit codes: 0 ok, 1 findings, 2 usage or unreadable input, 3 not running, 4 stale daemon,
    78 configuration.
    """


def _see(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f" (see {context.command_path} --help)" if context is not None else ""


def run(arguments: list[str]) -> int:
    """Run a command line; gives the exit code."""
    return ended(lambda: _click(arguments))


def _click(arguments: list[str]) -> int:
    try:
        code: Any = cli.main(arguments, prog_name="fabricd", standalone_mode=False)
    except click.exceptions.Exit as left:
        return left.exit_code
    except click.Abort:
        return 130
    except click.exceptions.NoArgsIsHelpError as error:
        sys.stderr.write(f"{error.format_message()}\n")
        return error.exit_code
    except click.ClickException as error:
        say(f"{error.format_message()}{_see(error)}")
        return error.exit_code
    return code if isinstance(code, int) else 0
