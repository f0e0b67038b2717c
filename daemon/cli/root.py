"""The root command: lazy sub-commands, exit codes, and no traceback for bad input."""

from __future__ import annotations

import contextlib
import importlib
import sys
from typing import TYPE_CHECKING, Any

import click

from fabricd.daemon.cli.talk import ReaderGone, ended, out, say

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_COMMANDS = {
    "run": "run",
    "start": "start",
    "stop": "stop",
    "restart": "restart",
    "status": "status",
    "report": "report.command",
    "sources": "sources",
    "explain": "explain",
    "logs": "logs",
    "metrics": "metrics.command",
    "doctor": "doctor",
    "measure": "measure",
    "derive": "derive",
    "apply": "apply",
    "compile": "compile",
    "trial": "trial",
    "certify": "certify",
    "lab": "lab",
    "trajectory": "trajectory.command",
    "value": "value.command",
    "export": "export",
    "export-artifact": "export_artifact",
    "import": "import_",
    "digest": "digest",
    "repairs": "repairs",
    "service": "service",
    "surface": "surface.command",
    "lint": "lint.command",
    "context": "context.command",
    "mcp": "mcp",
    "wrap": "wrap.command",
    "hook": "hook",
    "config": "config",
    "completions": "completions",
}
_HELP = {
    "run": "Run the daemon in the foreground.",
    "start": "Start the daemon in the background.",
    "stop": "Stop the running daemon.",
    "restart": "Stop the running daemon and start one of this version.",
    "status": "Ask the running daemon how it is.",
    "report": "Show what your agents' logs say.",
    "sources": "List whose logs are found, and where.",
    "explain": "Show what a repair changed, and by what right.",
    "logs": "Show what the daemon has logged.",
    "metrics": "Print the running daemon's numbers as Prometheus text.",
    "doctor": "Check what the daemon rests on, and name the cures.",
    "measure": "Measure a directory of session logs.",
    "derive": "Derive normal-form plans from a declared surface.",
    "apply": "Apply plans to calls given as JSON lines.",
    "compile": "Print the artifact that would be saved.",
    "trial": "Replay recorded calls through plans and judge the outcome.",
    "certify": "Certify that measuring and repairing keep their laws.",
    "lab": "Study what restricting a surface would have cost.",
    "trajectory": "Account for the evidence that an agent was shown.",
    "value": "Sum up what mechanisms did for agents, with receipts.",
    "export": "Write the declared surface in its normal form.",
    "export-artifact": "Copy the compiled artifact, to share it.",
    "import": "Merge others' artifacts as far as the surface proves them.",
    "digest": "Print the canonical SHA-256 of a JSON document.",
    "repairs": "Show the catalog repairs of the home.",
    "service": "Let systemd or launchd run the daemon.",
    "surface": "Keep the tool schemas that recorded calls are judged by.",
    "wrap": "Repair the calls between an agent and an MCP server.",
    "context": "Give an agent the parts of a tree that a query is about.",
    "mcp": "Give an agent context over MCP.",
    "lint": "Tell what makes the tools of a server hard to call.",
    "hook": "Let an agent tell fabricd when a turn has ended.",
    "config": "Show, check and explain the configuration.",
    "completions": "Print the completion script of a shell.",
}
# What is in no group is listed in the end.
_GROUPS = {
    "Run and look": "run start stop restart status report sources explain logs metrics doctor",
    "Measure and compile": "measure derive apply compile trial digest repairs lint",
    "Share": "export export-artifact import",
    "Account": "trajectory value",
    "Give context": "context mcp",
    "Study and certify": "lab certify",
    "Set up": "service surface wrap hook config completions",
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
        # Every column as wide as the widest, so that the groups read as one table.
        width = max(map(len, _COMMANDS))
        for title, names in grouped().items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), _HELP[name]) for name in names])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        found = [
            CompletionItem(name, help=_HELP[name])
            for name in _COMMANDS
            if name.startswith(incomplete)
        ]
        # Past the group's own answer, which would import every command to ask for its help.
        return found + click.Command.shell_complete(self, ctx, incomplete)


def grouped() -> dict[str, list[str]]:
    """The commands there are, under the titles they are listed with."""
    groups = {
        title: [name for name in names.split() if name in _COMMANDS]
        for title, names in _GROUPS.items()
    }
    listed = [name for names in groups.values() for name in names]
    groups["Others"] = [name for name in _COMMANDS if name not in listed]
    return {title: names for title, names in groups.items() if names}


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

    \b
    Exit codes: 0 ok, 1 findings, 2 usage or unreadable input, 3 not running,
    4 stale daemon, 78 configuration.
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
        with contextlib.suppress(OSError, AttributeError):
            sys.stderr.write(f"{error.format_message()}\n")
            sys.stderr.flush()
        return error.exit_code
    except click.ClickException as error:
        # Some of its sentences are lists of several lines.
        say(" ".join(error.format_message().split()) + _see(error))
        return error.exit_code
    except SystemExit as left:
        # What click makes of a pipe that somebody has closed, and of nothing else that is ours.
        if left.code != 1:
            raise
        raise ReaderGone from None
    return code if isinstance(code, int) else 0
