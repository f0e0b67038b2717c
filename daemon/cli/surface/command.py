"""`fabricd surface`: the tool schemas that recorded calls are judged by."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from fabricd.core.history.calls import READ_AGENTS
from fabricd.core.plain import printable
from fabricd.daemon.cli.moments import since as moment_given
from fabricd.daemon.cli.talk import FAILED, Complaint, env, out, say

if TYPE_CHECKING:
    from fabricd.store.snapshots import Filed

_MAX_BYTES = 16 * 1024 * 1024
_AGENT = click.option(
    "--agent", required=True, type=click.Choice(READ_AGENTS), help="Whose calls are judged by it."
)
_VERSION = click.option(
    "--agent-version",
    metavar="V",
    help="The agent's version that has these tools: calls whose log names a version are judged by "
    "this one alone.",
)
_PREFIX = click.option(
    "--prefix",
    default="",
    metavar="P",
    help="Put before every name, as the agent writes them: mcp__github__",
)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")


@click.group("surface")
def command() -> None:
    """Keep the tool schemas that recorded calls are judged by.

    A call is judged by a listing that was seen at its time, or that is of its agent's version.
    What nobody declared is not judged.
    """


@command.command("add")
@click.argument("file", type=click.Path(allow_dash=True))
@_AGENT
@_VERSION
@_PREFIX
@click.option(
    "--complete", is_flag=True, help="A tool with this prefix that is not listed was not declared."
)
@click.option(
    "--since",
    callback=moment_given,
    metavar="WHEN",
    help="When it was first in force.  [default: now]",
)
@_JSON
def add(
    file: str,
    agent: Any,
    agent_version: str | None,
    prefix: str,
    complete: bool,
    since: datetime | None,
    as_json: bool,
) -> int:
    """Add a listing of tools.

    A Fabric surface, a tools/list result, or a list of tools; - for standard input. Added again
    later it holds for the time between, too.
    """
    from fabricd.core.documents import BadDocument
    from fabricd.core.history.declared import declared
    from fabricd.daemon.cli.inputs import bytes_at
    from fabricd.daemon.cli.surface.keeping import keep_listing

    _require_version(agent_version)
    data = bytes_at(file, _MAX_BYTES)
    try:
        tools = declared(data, prefix)
    except BadDocument as error:
        raise Complaint(f"{printable(file)} is no listing of tools: {error}") from None
    covers = prefix if complete else None
    return keep_listing(agent, tools, agent_version, covers, since, as_json)


@command.command("capture", context_settings={"allow_interspersed_args": False})
@_AGENT
@_VERSION
@_PREFIX
@click.option(
    "--timeout",
    default=30.0,
    type=click.FloatRange(0.1, 3600),
    show_default=True,
    metavar="SECONDS",
    help="How long the server may take.",
)
@_JSON
@click.argument("words", nargs=-1, required=True, metavar="-- COMMAND...")
def capture_command(
    agent: Any,
    agent_version: str | None,
    prefix: str,
    timeout: float,
    as_json: bool,
    words: tuple[str, ...],
) -> int:
    """Start an MCP server, keep the tools it lists, and end it.

    Tells what repairs the schemas allow, and which tools get none and why.
    With a prefix, a tool with that prefix which it does not list counts as not declared.
    """
    from fabricd.daemon.cli.capturing import tools_of
    from fabricd.daemon.cli.surface.keeping import keep_listing

    _require_version(agent_version)
    tools = tools_of(words, timeout, prefix)
    return keep_listing(agent, tools, agent_version, prefix or None, None, as_json, True)


@command.command("list")
@click.option(
    "--agent", type=click.Choice(READ_AGENTS), help="Only what this agent's calls are judged by."
)
@_JSON
def list_command(agent: str | None, as_json: bool) -> int:
    """List what calls are judged by.

    These are the schemas that ship with fabricd, and those that were added.
    """
    from fabricd.core.canonical import as_given, text
    from fabricd.daemon.cli.surface.words import list_words, rows
    from fabricd.store.durable import shown

    found, damaged = _everything()
    value = {
        "version": 1,
        "surfaces": rows(found, agent),
        "damaged": [{"path": shown(each.path), "reason": each.reason} for each in damaged],
    }
    out(text(value, as_given) + "\n" if as_json else list_words(value))
    for each in damaged:
        say(
            f"{shown(each.path)} is damaged and judges nothing ({each.reason}): move it away, then "
            "add the listing again"
        )
    return FAILED if damaged else 0


@command.command("show")
@click.argument("which", metavar="DIGEST|AGENT")
@click.argument("tool", required=False)
@_JSON
def show(which: str, tool: str | None, as_json: bool) -> int:
    """Show the tools of a listing, or the schemas of one.

    A listing is named by the start of its digest, or by its agent.
    """
    from fabricd.core.canonical import as_given, pretty, text
    from fabricd.daemon.cli.surface.words import is_kept, schemas_of, tools_words

    found, _ = _everything()
    value = schemas_of(found, which, tool)
    if not value and (tool is not None or not is_kept(found, which)):
        what = f"tool {printable(tool)} in " if tool else ""
        raise Complaint(f"there is no {what}listing {printable(which)}: see fabricd surface list")
    if as_json:
        out(text({"version": 1, "tools": value}, as_given) + "\n")
    elif tool is None:
        out(tools_words(value))
    else:
        for each in value:
            say(f"{printable(each['tool'])}, {each['holds']}")
            out(pretty(each["inputSchema"]) + "\n")
    return 0


@command.command("remove")
@click.argument("digest")
@_JSON
def remove(digest: str, as_json: bool) -> int:
    """Remove an added listing, named by the start of its digest.

    The calls that it judged are judged by the others, or not at all. What ships stays.
    """
    from fabricd.daemon.cli.surface.keeping import remove_listing

    return remove_listing(_everything()[0], digest, as_json)


def _require_version(version: str | None) -> None:
    if version is not None and not version.strip():
        raise Complaint("--agent-version is empty: name a version, or leave it out")


def _everything() -> tuple[list[Filed], list[Any]]:
    from fabricd.store.homes import find
    from fabricd.store.snapshots import everything

    return everything(find(env()))
